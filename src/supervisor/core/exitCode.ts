import type { BatchView, ChildView, GateView, View } from '../../protocol/view.js';

export interface Following {
  /** Ids of the batches that are followed; null: all. */
  readonly batches: readonly string[] | null;
  /** Do not wait for what goes on by itself later. */
  readonly noWait: boolean;
  /** A person sits in front of it and can be waited for. */
  readonly tty: boolean;
}

/**
 * What `run` and `supervise` end with; null: they go on. 0 all done; 1 some failed (or were stopped) and nothing is
 * left to do; 75 something is paused and nothing runs or can start.
 */
export function exitCode(view: View, following: Following): 0 | 1 | 75 | null {
  const { batches: ids } = following;
  const batches = view.batches.filter((batch) => ids === null || ids.includes(batch.id));
  const children = batches.flatMap((batch) => batch.children);
  const left = children.filter((child) => child.endedAt === null);
  if (left.length === 0) return children.every((child) => child.status === 'done') ? 0 : 1;
  if (left.some((child) => child.status === 'running' || child.status === 'queued')) return null;
  if (batches.some((batch) => isApplying(batch))) return null;
  if (following.noWait) return left.some((child) => isStarting(child, view)) ? null : 75;
  if (following.tty) return null;
  return left.every((child) => waitsForPerson(child, view)) ? 75 : null;
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
  if (child.status === 'held') {
    const gates = view.gates.filter((gate) => gate.credential === child.credential && isItsGate(gate, child));
    return gates.some((gate) => gate.state === 'closed' && (gate.needsUser || gate.display === 'noResume'));
  }
  if (child.status !== 'paused') return false;
  if (child.display === 'needsYou' || child.display === 'pausedForYou') return true;
  if (child.reason?.detail === 'dontResume') return true;
  const own = child.reason?.class === 'user' || child.reason?.class === 'disk';
  return own && child.resetAt === null;
}

function isItsGate(gate: GateView, child: ChildView): boolean {
  return gate.model === undefined || child.model === null || gate.model === child.model;
}
