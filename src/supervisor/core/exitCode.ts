import type { BatchView, ChildView, Problem, View } from '../../protocol/view.js';

export interface Following {
  /** Ids of the batches that are followed; null: all. */
  readonly batches: readonly string[] | null;
  /** Do not wait for what goes on by itself later. */
  readonly noWait: boolean;
  /** A person sits in front of it and can be waited for. */
  readonly tty: boolean;
}

/** Said in the view for as long as the disk is full: nothing starts, and only a person can help. */
export const diskProblem: Problem = {
  path: '.swarm',
  message: 'The disk is full. Nothing is started until there is space again; what was saved is safe.',
};

/**
 * What `run` and `supervise` end with; null: they go on. 0 all done; 1 some failed (or were stopped) and nothing is
 * left to do; 75 something is paused and nothing runs or can start.
 */
export function exitCode(view: View, following: Following): 0 | 1 | 75 | null {
  const { batches: ids } = following;
  const batches = view.batches.filter((batch) => ids === null || ids.includes(batch.id));
  // Not shown yet, or not any more: of what is not seen nothing can be said.
  if (ids !== null && batches.length < new Set(ids).size) return null;
  const children = batches.flatMap((batch) => batch.children);
  const left = children.filter((child) => child.endedAt === null);
  if (left.length === 0) return children.every((child) => child.status === 'done') ? 0 : 1;
  if (left.some((child) => child.status === 'running' || (child.status === 'queued' && !isDiskFull(view))))
    return null;
  if (batches.some((batch) => isApplying(batch))) return null;
  if (following.noWait) return left.some((child) => isStarting(child, view)) ? null : 75;
  if (following.tty) return null;
  return left.every((child) => waitsForPerson(child, view)) ? 75 : null;
}

function isDiskFull(view: View): boolean {
  return view.problems.some((problem) => problem.message === diskProblem.message);
}

function isApplying(batch: BatchView): boolean {
  return batch.children.some((child) => child.apply?.state === 'applying');
}

/** Its time has come; it starts with the next event. */
function isStarting(child: ChildView, view: View): boolean {
  if (child.status !== 'paused' || waitsForPerson(child, view)) return false;
  return child.resetSource === 'probe' && child.resetAt !== null && child.resetAt <= view.at;
}

/** Nothing but a person lets it go on. */
export function waitsForPerson(child: ChildView, view: View): boolean {
  if (isDiskFull(view)) return true;
  if (child.status === 'held')
    return child.reason?.needsUser === true || child.reason?.detail === 'dontResume';
  if (child.status !== 'paused') return false;
  if (child.display === 'needsYou' || child.display === 'pausedForYou') return true;
  if (child.reason?.detail === 'dontResume') return true;
  const own = child.reason?.class === 'user' || child.reason?.class === 'disk';
  return own && child.resetAt === null;
}
