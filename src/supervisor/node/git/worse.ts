import type { CheckOutcome } from '../../ports/git.js';

/** Whether `after` is redder than `before`: what was broken already is nobody's new fault. */
export function isWorse(before: CheckOutcome, after: CheckOutcome): boolean {
  if (after.exitCode === 0) return false;
  if (before.exitCode === 0) return true;
  if (after.errors.length === 0) return after.exitCode !== before.exitCode || after.output !== before.output;
  return errorsAdded(before, after) > 0;
}

/** How many errors `after` has that `before` has not; at least one for a red check that names none. */
export function errorsAdded(before: CheckOutcome | null, after: CheckOutcome): number {
  const known = new Map<string, number>();
  for (const error of before?.errors ?? []) known.set(keyOf(error), (known.get(keyOf(error)) ?? 0) + 1);
  let added = 0;
  for (const error of after.errors) {
    const left = known.get(keyOf(error)) ?? 0;
    if (left > 0) known.set(keyOf(error), left - 1);
    else added += 1;
  }
  return added === 0 && after.errors.length === 0 && after.exitCode !== 0 ? 1 : added;
}

/** Lines move when a file is edited above them, so they tell nothing. */
function keyOf(error: CheckOutcome['errors'][number]): string {
  return `${error.path}\n${error.message}`;
}
