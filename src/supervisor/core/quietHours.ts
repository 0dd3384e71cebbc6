import type { Instant, Policy } from './state.js';

const minute = 60_000;
const day = 1_440;

/**
 * When the quiet hours that hold at this instant end; null: it is not quiet. `offset` is the local zone's at `now`, in
 * minutes: a change of it in between is seen when the timer fires and looks again.
 */
export function quietUntil(policy: Policy, now: Instant, offset: number): Instant | null {
  const hours = policy.quietHours;
  if (hours === null || hours.from === hours.to) return null;
  const startOfMinute = Math.floor(now / minute);
  const local = (((startOfMinute + offset) % day) + day) % day;
  const length = (hours.to - hours.from + day) % day;
  const into = (local - hours.from + day) % day;
  return into < length ? (startOfMinute + length - into) * minute : null;
}
