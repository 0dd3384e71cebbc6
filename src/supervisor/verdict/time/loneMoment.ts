import { momentOf, type MomentContext, type StatedMoment } from './moments.js';

/** Words that hardly any English notice does without. */
const ENGLISH =
  /\b(?:the|your|you|you've|you're|is|are|was|has|have|had|of|to|for|please|with|at|on|in|and|not|will|reached|exceeded|resets?|retry|again|try)\b/;
const A_DAY = 86_400_000;
const MOST_AHEAD = 40 * A_DAY;

/**
 * The moment that a notice in a language without a table of its own states: the one time behind the words of the limit.
 * A length of time counts only in a later sentence, for in the same it is the window of the limit (`batas 5 jam`).
 */
export function loneMoment(text: string, context: MomentContext, from: number): StatedMoment | null {
  // The match may end inside of a word.
  const start = from + (/^\p{L}+/u.exec(text.slice(from, from + 40))?.[0].length ?? 0);
  const rest = text
    .slice(start, start + 200)
    .split('\n', 2)
    .join(' ');
  if (rest.trim() === '' || ENGLISH.test(rest)) return null;
  const whole = momentOf(rest, context);
  if (whole && whole.kind !== 'duration') return later(whole, context, start);
  const next = /[.!?。।;:·|]\s?/.exec(rest);
  if (!next) return null;
  const told = next.index + next[0].length;
  const moment = momentOf(rest.slice(told), context);
  return moment ? later(moment, context, start + told) : null;
}

function later(moment: StatedMoment, context: MomentContext, offset: number): StatedMoment | null {
  const wait = moment.at - context.observedAt;
  return wait > 0 && wait < MOST_AHEAD ? { ...moment, index: offset + moment.index } : null;
}
