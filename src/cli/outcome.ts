import type { ChildView, View } from '../protocol/view.js';

/** Where the followed batches stand. `people`: only a person can make it go on. */
export type Outcome =
  | { readonly kind: 'going' }
  | { readonly kind: 'waiting'; readonly people: boolean }
  | { readonly kind: 'ended'; readonly code: 0 | 1 };

export const exitCodes = {
  done: 0,
  failed: 1,
  input: 2,
  environment: 3,
  paused: 75,
  interrupted: 130,
} as const;

/** Judges the batches named by `ids`; without ids, all that are in the view. */
export function outcomeOf(view: View, ids?: ReadonlySet<string>): Outcome {
  const children = view.batches
    .filter((batch) => !ids || ids.has(batch.id))
    .flatMap((batch) => batch.children);
  const open = children.filter((child) => !['done', 'failed', 'canceled'].includes(child.status));
  if (open.length === 0)
    return { kind: 'ended', code: children.every((child) => child.status === 'done') ? 0 : 1 };
  if (open.some((child) => child.status === 'running' || child.status === 'queued')) return { kind: 'going' };
  return { kind: 'waiting', people: open.every((child) => needsPerson(child, view)) };
}

function needsPerson(child: ChildView, view: View): boolean {
  if (child.status === 'held') {
    const gates = view.gates.filter((gate) => gate.credential === child.credential && gate.state !== 'open');
    return (
      gates.length > 0 &&
      gates.some((gate) => gate.needsUser || (gate.until === null && gate.nextTry === null))
    );
  }
  return (
    child.reason?.needsUser === true ||
    child.display === 'needsYou' ||
    child.display === 'pausedForYou' ||
    child.reason?.class === 'user'
  );
}
