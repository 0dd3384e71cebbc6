import type { Draft } from './draft.js';
import type { Event } from './event.js';
import { childKey, lookUp } from './keys.js';
import { countWaiting } from './notices.js';
import type { Child, Task } from './state.js';

type Of<T extends Event['type']> = Extract<Event, { type: T }>;

export function batchLaunched(d: Draft, event: Of<'batchLaunched'>): void {
  const { id } = event.batch;
  if (lookUp(d.state.batches, id) !== undefined) return;
  const children = event.tasks.map((task) => childKey(id, task.id));
  d.putBatch({ ...event.batch, createdAt: d.now, children, lastCheck: null, writing: null });
  d.set({ batchOrder: [...d.state.batchOrder, id] });
  for (const task of event.tasks) d.putChild(newChild(d, id, task));
}

function newChild(d: Draft, batch: string, task: Task): Child {
  return {
    key: childKey(batch, task.id),
    batch,
    task,
    chosen: 0,
    attempt: 0,
    session: null,
    worktree: null,
    snapshot: null,
    snapshotAskedAt: null,
    report: {
      read: 0,
      written: 0,
      input: 0,
      cachedInput: 0,
      output: 0,
      context: null,
      lastLine: '',
      lastLineAt: null,
      details: null,
      offsets: { attempt: 0, stdout: 0, stderr: 0 },
    },
    resumesWithoutProgress: 0,
    crashes: 0,
    unknowns: 0,
    history: [{ kind: 'queued', from: d.now, to: null, attempt: null, reason: null, how: null }],
    quarantine: null,
    applied: { state: 'none' },
    check: null,
    nextPrompt: null,
    phase: { name: 'queued', since: d.now, startNext: false },
  };
}

/** Only a batch without a process can be taken out of the list; else it stays. */
export function batchRemoved(d: Draft, event: Of<'batchRemoved'>): void {
  const batch = d.batch(event.batch);
  if (batch === undefined) return;
  const busy = batch.children.some((key) => {
    const child = d.child(key);
    return child !== undefined && ('launch' in child.phase || child.applied.state === 'applying');
  });
  if (!busy) d.removeBatch(batch.id);
}

/** Somebody may have signed in: it is proposed to go on, and nothing more. */
export function credentialChanged(d: Draft, event: Of<'credentialChanged'>): void {
  for (const gate of Object.values(d.state.gates)) {
    const { position } = gate;
    if (gate.credential !== event.credential || position.name !== 'closed') continue;
    if (position.reason !== 'auth_expired' && position.reason !== 'auth_denied') continue;
    d.order({
      type: 'notify',
      key: `credential/${gate.key}/${gate.episode}`,
      notice: { kind: 'credential', credential: gate.credential, waiting: countWaiting(d.state, gate.key) },
    });
  }
}
