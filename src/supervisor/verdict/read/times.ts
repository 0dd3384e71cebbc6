import { momentOf, type MomentContext } from '../time/moments.js';
import { fold } from '../text/plain.js';
import type { Field } from './fields.js';

const INSTANT =
  /^(?:(?:x_?)?(?:ratelimit|rate_?limit|limit|quota|usage|window|primary|secondary|next|session|weekly|five_?hour)*_?(?:resets?|renews?|refresh(?:es)?|available|unlocks?|retry|reopens?|resume|restores?)_?(?:at|time|times?tamp|date|on)?(?:_?(?:ms|utc|iso|unix|epoch|seconds?))?|next_?(?:reset|retry|available|refresh|attempt|window)(?:_?(?:at|time|date))?|(?:blocked|limited|locked|cooldown|banned|disabled|unavailable)_?until|until|next|(?:window|period|limit|quota)?_?ends?_?(?:at|time)|cooldown_?(?:ends?|expires?)(?:_?at)?|period_?end|reset_?date_?utc|retry_?after_?(?:timestamp|date|at))$/;
const LENGTH =
  /^(?:retry_?(?:after|delay|in)(?:_?(?:s|sec|secs|seconds?|ms|millis|milliseconds|minutes?|hours?))?|(?:quota_?|limit_?)?resets?_?(?:in|after|delay)(?:_?(?:s|sec|secs|seconds?|ms|millis|minutes?|hours?))?|(?:seconds?|ms|minutes?|time)_?(?:until|to|till)_?(?:reset|retry)|wait(?:_?(?:time|for|seconds?|ms|sec|in))*|quota_?reset_?delay|cooldown(?:_?(?:s|seconds?|ms|remaining))?|retry_?after_?ms|retry_?info|suggested_?(?:retry_?)?delay|back_?off_?(?:s|seconds?|ms)|available_?in(?:_?seconds?)?|remaining_?(?:seconds|time))$/;

/** Reset times that fields state, in epoch milliseconds, not rounded. Windows that are still open are left out. */
export function fieldTimes(fields: readonly Field[], context: MomentContext): readonly number[] {
  const times: number[] = [];
  for (const field of fields) {
    if (field.open || field.header || field.value === null || typeof field.value === 'boolean') continue;
    const key = snake(field.key);
    const instant = INSTANT.test(key);
    const length = LENGTH.test(key);
    if (!instant && !length) continue;
    const at = timeOf(key, field.value, length, context);
    if (at !== null) times.push(at);
  }
  return times;
}

/** The instant that one value states: an epoch, a number of seconds, a date or a length of time. */
export function timeOf(
  key: string,
  value: string | number,
  length: boolean,
  context: MomentContext,
): number | null {
  const number =
    typeof value === 'number' ? value : /^\s*-?\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : null;
  if (number !== null) {
    if (number < 0 || !Number.isFinite(number)) return null;
    if (number >= 1e11 && number < 1e14) return number;
    if (number >= 1e9) return number < 1e11 ? number * 1000 : null;
    if (number > 4e8) return null;
    // `reset: 0` names no instant; a wait of 0 is one.
    if (!length && (number === 0 || key === 'next')) return null;
    const unit = /(?:ms|millis|milliseconds)$/.test(key)
      ? 1
      : length && /minutes?$/.test(key)
        ? 60_000
        : length && /hours?$/.test(key)
          ? 3_600_000
          : 1000;
    return context.observedAt + number * unit;
  }
  if (typeof value !== 'string' || value.length > 80 || value.trim() === '') return null;
  return momentOf(fold(value), context)?.at ?? null;
}

function snake(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[-. ]/g, '_')
    .toLowerCase();
}
