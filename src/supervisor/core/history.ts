import type { Child, Instant, Stretch } from './state.js';

/** Stretches kept of one child; beyond it the oldest but the first are dropped. */
const kept = 200;

/** The history with its last stretch ended and the next one begun; null: nothing follows. */
export function nextStretch(
  history: readonly Stretch[],
  now: Instant,
  next: Omit<Stretch, 'from' | 'to'> | null,
): readonly Stretch[] {
  const last = history.at(-1);
  const before =
    last === undefined || last.to !== null
      ? history
      : [...history.slice(0, -1), { ...last, to: Math.max(last.from, now) }];
  if (next === null) return before;
  const all = [...before, { ...next, from: now, to: null }];
  return all.length > kept ? [...all.slice(0, 1), ...all.slice(all.length - kept + 1)] : all;
}

/** When the last attempt began to run; null: none ever did. */
export function startedAt(child: Child): Instant | null {
  return child.history.findLast((stretch) => stretch.kind === 'running')?.from ?? null;
}

/** Milliseconds that a child has run since it was last given a whole running time. */
export function ranSinceGrant(child: Child): number {
  let sum = 0;
  for (let at = child.history.length - 1; at >= 0; at--) {
    const stretch = child.history[at];
    if (stretch === undefined) break;
    if (stretch.kind === 'paused' && stretch.reason === 'timeout') break;
    if (stretch.kind === 'running') {
      if (stretch.to !== null) sum += stretch.to - stretch.from;
      if (stretch.how === 'resumedYou') break;
    }
  }
  return sum;
}

/** Pauses for one reason since a person last let it go on. */
export function pausesSincePerson(child: Child, reason: Stretch['reason']): number {
  let count = 0;
  for (let at = child.history.length - 1; at >= 0; at--) {
    const stretch = child.history[at];
    if (stretch === undefined || stretch.how === 'resumedYou') break;
    if (stretch.kind === 'paused' && stretch.reason === reason) count++;
  }
  return count;
}
