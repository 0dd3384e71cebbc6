import type { Answer, Request } from '../../src/protocol/request.js';
import type { View } from '../../src/protocol/view.js';
import type { Supervisor } from '../../src/supervisor/api.js';
import type { Notice } from '../../src/supervisor/core/effect.js';
import { viewOf } from './views.js';

export type Role = Supervisor['role'] | 'gone';

/** A supervisor that shows what it is told to show, and remembers what it was asked. */
export interface FakeSupervisor extends Supervisor {
  readonly requests: readonly Request[];
  readonly closed: boolean;
  show(view: View): void;
  notice(notice: Notice): void;
  become(role: Role): void;
  /** What the next requests are answered with. */
  answer(answer: Answer): void;
}

export function createFakeSupervisor(first: View = viewOf()): FakeSupervisor {
  let view = first;
  let role: Supervisor['role'] = 'owner';
  let answer: Answer = { ok: true };
  let closed = false;
  const requests: Request[] = [];
  const views = new Set<(view: View) => void>();
  const notices = new Set<(notice: Notice) => void>();
  const roles = new Set<(role: Role) => void>();
  const listen = <T>(set: Set<T>, listener: T): { dispose(): void } => {
    set.add(listener);
    return { dispose: () => void set.delete(listener) };
  };
  return {
    get role() {
      return role;
    },
    get closed() {
      return closed;
    },
    requests,
    view: () => view,
    onView(listener) {
      listener(view);
      return listen(views, listener);
    },
    onNotice: (listener) => listen(notices, listener),
    onRole: (listener) => listen(roles, listener),
    request(request) {
      requests.push(request);
      return Promise.resolve(answer);
    },
    settled: () => Promise.resolve(),
    close(options) {
      if (options.stopAgents) throw new Error('the window stops no agent');
      closed = true;
      return Promise.resolve();
    },
    show(next) {
      view = next;
      for (const listener of views) listener(next);
    },
    notice(notice) {
      for (const listener of notices) listener(notice);
    },
    become(next) {
      if (next !== 'gone') role = next;
      for (const listener of roles) listener(next);
    },
    answer(next) {
      answer = next;
    },
  };
}
