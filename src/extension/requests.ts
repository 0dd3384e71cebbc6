import type { FromPanel } from '../protocol/messages.js';
import type { Request } from '../protocol/request.js';
import type { BatchAction, BatchView, ChildAction, ChildView, GateAction, View } from '../protocol/view.js';

/** A child, as messages and requests name it. */
export interface Target {
  readonly batch: string;
  readonly child: string;
}

export interface GateTarget {
  readonly credential: string;
  readonly model?: string | undefined;
}

/** Actions that only show something, or that need more from a person than a click, are no request. */
export type ShowAction =
  | 'resumeAt'
  | 'why'
  | 'signIn'
  | 'openSetting'
  | 'review'
  | 'showErrors'
  | 'log'
  | 'worktree'
  | 'checkpoint'
  | 'copyReport';

/** What an action of children asks of the supervisor; the same for a click, a palette command and a notification. */
export function childRequests(
  action: Exclude<ChildAction, ShowAction>,
  targets: readonly Target[],
): readonly Request[] {
  const all = [...targets];
  switch (action) {
    case 'resumeNow':
    case 'resume':
      return [{ type: 'resume', targets: all, how: 'auto' }];
    case 'startFresh':
      return [{ type: 'resume', targets: all, how: 'brief' }];
    case 'dontResume':
      return [{ type: 'dontResume', targets: all }];
    case 'startNext':
      return [{ type: 'startNext', targets: all }];
    case 'pause':
      return [{ type: 'pause', targets: all }];
    case 'stop':
      return [{ type: 'stop', targets: all }];
    case 'retry':
      return [{ type: 'retry', targets: all, prompt: null }];
    case 'apply':
      return [{ type: 'apply', targets: all }];
    case 'giveBack':
      return all.map((target) => ({ type: 'giveBack', target }));
    case 'moveLeft':
      return [{ type: 'settleLeft', targets: all, how: 'move' }];
    case 'keepLeft':
      return [{ type: 'settleLeft', targets: all, how: 'keep' }];
    case 'restore':
      return all.map((target) => ({ type: 'restore', target }));
    case 'check':
      return [...new Set(all.map((target) => target.batch))].map((batch) => ({ type: 'check', batch }));
    default:
      return action satisfies never;
  }
}

/** Null: the action shows something. An action that nobody in the batch can take asks for nothing. */
export function batchRequest(action: Exclude<BatchAction, 'reviewAll'>, batch: BatchView): Request | null {
  const who = (...wanted: readonly ChildAction[]): Target[] => targetsWith(batch, wanted);
  const some = (targets: Target[], request: (targets: Target[]) => Request): Request | null =>
    targets.length === 0 ? null : request(targets);
  switch (action) {
    case 'pauseAll':
      return some(who('pause'), (targets) => ({ type: 'pause', targets }));
    case 'resumeAll':
      return some(who('resumeNow', 'resume'), (targets) => ({ type: 'resume', targets, how: 'auto' }));
    case 'stopAll':
      return some(who('stop'), (targets) => ({ type: 'stop', targets }));
    case 'applyAll':
      return some(who('apply'), (targets) => ({ type: 'apply', targets }));
    case 'check':
      return { type: 'check', batch: batch.id };
    case 'remove':
      return { type: 'removeBatch', batch: batch.id };
    default:
      return action satisfies never;
  }
}

export function gateRequest(
  action: Extract<GateAction, 'resumeNow' | 'resumeAtReset' | 'dontResume' | 'tryAgain'>,
  gate: GateTarget,
): Request {
  const answer = {
    resumeNow: 'resumeNow',
    tryAgain: 'resumeNow',
    resumeAtReset: 'resumeAtReset',
    dontResume: 'decline',
  } as const;
  return { type: 'gate', ...named(gate), answer: answer[action] };
}

export function gateAtRequest(gate: GateTarget, at: number): Request {
  return { type: 'gate', ...named(gate), answer: { at } };
}

/** Typed tasks, one a line; a task of several lines is folded into one, since a line is a task. */
export function launchRequest(
  message: Extract<FromPanel, { type: 'launch' }>,
): Extract<Request, { type: 'launch' }> {
  return {
    type: 'launch',
    manifest: { kind: 'tasks', text: message.tasks.map(oneLine).join('\n'), name: '' },
    executor: message.executor,
    isolation: message.isolation,
    consent: false,
  };
}

export function oneLine(task: string): string {
  return task.replace(/\s*[\r\n]+\s*/g, ' ').trim();
}

export function findChild(view: View, target: Target): ChildView | null {
  const batch = view.batches.find((other) => other.id === target.batch);
  return batch?.children.find((child) => child.id === target.child) ?? null;
}

/** Children of a view that allow one of these actions, with the first one they allow. */
export function candidates(
  view: View,
  actions: readonly ChildAction[],
): readonly {
  readonly target: Target;
  readonly child: ChildView;
  readonly batch: BatchView;
  readonly action: ChildAction;
}[] {
  return view.batches.flatMap((batch) =>
    batch.children.flatMap((child) => {
      const action = actions.find((wanted) => child.actions.includes(wanted));
      return action === undefined
        ? []
        : [{ target: { batch: batch.id, child: child.id }, child, batch, action }];
    }),
  );
}

function targetsWith(batch: BatchView, wanted: readonly ChildAction[]): Target[] {
  return batch.children
    .filter((child) => wanted.some((action) => child.actions.includes(action)))
    .map((child) => ({ batch: batch.id, child: child.id }));
}

function named(gate: GateTarget): { readonly credential: string; readonly model?: string } {
  return gate.model === undefined
    ? { credential: gate.credential }
    : { credential: gate.credential, model: gate.model };
}
