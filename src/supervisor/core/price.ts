import type { Child, Instant } from './state.js';

/** About what it costs to go on, in tokens; null before it has told any. */
export interface ResumePrice {
  readonly sameNow: number;
  readonly sameLater: number;
  readonly fresh: number;
}

/** Tokens of a brief without its lists, and of one file named in it. */
const briefTokens = 1_500;
const tokensPerFile = 30;
/** Where no request's size was told: a sum over many requests is not a context, so it is capped. */
const largestGuess = 150_000;
/** A provider's prompt cache is taken for cold after this long. */
export const coldAfter = 3_600_000;
/** Below this a fresh start saves too little to give up what the session knows. */
const freshFrom = 50_000;

/**
 * Same session, warm: the cached context at a tenth of its price and what it said last. Same session, cold: the whole
 * context once. Fresh: the task's prompt and the brief.
 */
export function resumePrice(child: Child): ResumePrice | null {
  const { report, task } = child;
  if (report.input === 0 && report.output === 0) return null;
  const context = report.context ?? Math.min(report.input, largestGuess);
  const said = Math.min(report.output, context);
  return {
    sameNow: Math.round(said + context * 0.1),
    sameLater: Math.round(context + said),
    fresh: freshPrice(child, task.promptTokens),
  };
}

function freshPrice(child: Child, promptTokens: number): number {
  return promptTokens + briefTokens + tokensPerFile * (child.report.read + child.report.written);
}

/** One number to compare children by: what the way it would take costs now. */
export function priceToGoOn(child: Child, now: Instant): number {
  const price = resumePrice(child);
  if (child.attempt === 0) return child.task.promptTokens;
  if (price === null) return child.task.promptTokens + briefTokens;
  const same = isCold(child, now) ? price.sameLater : price.sameNow;
  return wayToGoOn(child, now) === 'session' ? same : price.fresh;
}

/** The same session where there is one; fresh with a brief where that is asked for, or by far cheaper for a large, cold context. */
export function wayToGoOn(child: Child, now: Instant): 'first' | 'session' | 'brief' {
  if (child.attempt === 0) return 'first';
  if (child.session === null) return 'brief';
  if (child.phase.name === 'paused' && child.phase.pause.how === 'brief') return 'brief';
  const price = resumePrice(child);
  const cheaper = price !== null && price.sameLater >= freshFrom && price.fresh < price.sameLater / 2;
  return cheaper && isCold(child, now) ? 'brief' : 'session';
}

function isCold(child: Child, now: Instant): boolean {
  return now - child.phase.since > coldAfter;
}
