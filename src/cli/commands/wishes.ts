import type { Request } from '../../protocol/request.js';
import type { ChildView, View } from '../../protocol/view.js';
import type { Supervisor } from '../../supervisor/api.js';
import { CommandEnd, open, type OpenOptions } from '../environment.js';
import { follow } from '../follow.js';
import { exitCodes } from '../exitCodes.js';
import type { Screen } from '../output/reporter.js';
import { say } from '../output/say.js';
import { concerns, nothingToDo } from '../nothingToDo.js';
import { findTargets, noChildren, type Target } from '../targets.js';
import { apply } from './apply.js';
import { tellErrors } from './run.js';

export interface WishOptions extends OpenOptions {
  readonly all: boolean;
  readonly wait: boolean;
}

export type Wish = 'resume' | 'pause' | 'stop' | 'retry' | 'apply';

/**
 * `swarm resume|pause|stop|retry|apply`: the wish reaches the owner of the folder. Without an owner, this process
 * is it for the moment; after `resume` and `retry` it goes on supervising what it woke.
 */
export async function wish(
  kind: Wish,
  name: string | undefined,
  options: WishOptions,
  screen: Screen,
): Promise<number> {
  const goesOn = kind === 'resume' || kind === 'retry';
  const supervisor = await open({ ...options, passive: !goesOn });
  const found = findTargets(supervisor.view(), name, options.all);
  if (!found.ok) return refuse(supervisor, found.message);
  if (found.targets.length === 0) {
    await supervisor.close({ stopAgents: false });
    say(screen, options.json, noChildren);
    return exitCodes.done;
  }
  if (kind === 'apply') return apply(supervisor, found.targets, options, screen);
  const children = childrenOf(supervisor.view(), found.targets);
  const idle = children.filter((child) => !concerns(kind, child));
  const changed = children.length - idle.length;
  const nothing = changed === 0 ? nothingToDo(kind, idle) : undefined;
  const answer = await supervisor.request(requestFor(kind, found.targets));
  if (!answer.ok) {
    await supervisor.close({ stopAgents: false });
    tellErrors(answer.errors, kind, options.json, screen);
    return answer.code;
  }
  if (goesOn && supervisor.role === 'owner') {
    return follow({
      supervisor,
      ids: new Set(found.targets.map((target) => target.batch)),
      json: options.json,
      wait: options.wait,
      screen,
      ...(nothing === undefined ? {} : { greeting: nothing }),
    });
  }
  await supervisor.settled();
  if (kind === 'pause' || kind === 'stop') await ended(supervisor, found.targets);
  await supervisor.close({ stopAgents: false });
  const many = `${changed === 1 ? '1 child' : `${changed} children`}: ${kind}`;
  const rest = idle.length === 0 ? '' : `. ${nothingToDo(kind, idle)}`;
  say(screen, options.json, answer.text ?? nothing ?? `${many}${rest}`);
  return exitCodes.done;
}

function childrenOf(view: View, targets: readonly Target[]): readonly ChildView[] {
  const keys = new Set(targets.map((target) => `${target.batch}/${target.child}`));
  return view.batches.flatMap((batch) =>
    batch.children.filter((child) => keys.has(`${batch.id}/${child.id}`)),
  );
}

async function refuse(supervisor: Supervisor, message: string): Promise<number> {
  await supervisor.close({ stopAgents: false });
  throw new CommandEnd(exitCodes.input, message);
}

function requestFor(kind: Exclude<Wish, 'apply'>, found: readonly Target[]): Request {
  const targets = [...found];
  switch (kind) {
    case 'resume':
      return { type: 'resume', targets, how: 'auto' };
    case 'retry':
      return { type: 'retry', targets, prompt: null };
    case 'pause':
    case 'stop':
      return { type: kind, targets };
    default:
      return kind satisfies never;
  }
}

/** Waits until none of these children has a process any more. */
async function ended(supervisor: Supervisor, targets: readonly Target[]): Promise<void> {
  const keys = new Set(targets.map((target) => `${target.batch}/${target.child}`));
  await new Promise<void>((done) => {
    const listening = supervisor.onView((view) => {
      const busy = view.batches.some((batch) =>
        batch.children.some(
          (child) =>
            keys.has(`${batch.id}/${child.id}`) &&
            ['preparing', 'running', 'parking', 'stopping'].includes(child.phase),
        ),
      );
      if (busy) return;
      queueMicrotask(() => listening.dispose());
      done();
    });
  });
}
