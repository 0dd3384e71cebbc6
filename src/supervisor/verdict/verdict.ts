import type { Verdict, VerdictStep } from '../../protocol/verdict.js';
import { readSignal, type Reading, type StatedTime } from './read/reading.js';
import { redact } from './redact.js';
import type { RuleSet } from './rules/rule.js';
import type { Signal, VerdictContext } from './signal.js';

export { isStopAsSuccess } from './read/evidence.js';

/** No rules of a user. */
export const NO_RULES: RuleSet = { user: [] };

/**
 * What one signal means: class, whether the session can go on, whether a person must act, when the limit ends and who
 * says so, what it closes. Pure; never throws; nothing is guessed: what nobody stated stays null.
 */
export function verdict(signal: Signal, context: VerdictContext, rules: RuleSet = NO_RULES): Verdict {
  const read = readSignal(signal, context, rules);
  const own = context.doing === 'retrying' ? ofARetry(read, context) : read;
  const before = context.saidBefore ?? [];
  const result = finish(own, own.time, own.near, own.steps);
  return before.length > 0 && context.doing === 'ended' ? joinEarlier(result, before, own) : result;
}

/** While an agent tries again by itself, only what closes its account counts: a limit, or a wait that is too long for a retry. */
function ofARetry(read: Reading, context: VerdictContext): Reading {
  const long = read.time !== null && read.time.at - context.observedAt > 5 * 60_000;
  const closes = (read.class === 'usage_limit' || read.class === 'credits_exhausted') && read.rank >= 80;
  return closes || long || read.class === 'none'
    ? read
    : {
        ...none(read.near),
        steps: [
          ...read.steps,
          { step: 'context', rule: 'tries-again', found: read.class, confidence: 'likely' },
        ],
      };
}

/**
 * What all signals of one end mean together: the last event, the result, stderr and the exit. The best source wins for
 * the class, the best stated source for the time; of two rejected windows the one that ends last.
 */
export function combine(
  signals: readonly Signal[],
  context: VerdictContext,
  rules: RuleSet = NO_RULES,
): Verdict {
  const readings = signals.map((signal) => readSignal(signal, context, rules));
  const exitCode = signals
    .map((signal) => signal.exitCode)
    .filter((code) => code !== undefined)
    .pop();
  const near =
    readings
      .map((reading) => reading.near)
      .filter((warning) => warning !== null)
      .pop() ?? null;
  const ended = context.doing === 'ended' || exitCode !== undefined;
  // What went wrong before the run's own "done" was overcome.
  const well = readings.findLastIndex((reading) => reading.success);
  const success = well >= 0;
  const candidates = readings.slice(well + 1).filter((reading) => reading.class !== 'none');
  const spoken = candidates.filter((reading) => reading.rank >= 15 || reading.message !== '');
  const best = strongest(spoken.length > 0 ? spoken : candidates);
  const latent = strongest(
    readings
      .slice(well + 1)
      .map((reading) => reading.latent)
      .filter((reading) => reading !== null),
  );
  const steps = readings.flatMap((reading) => reading.steps);
  if (success && (exitCode ?? 0) === 0 && (best === null || best.rank < 65))
    return finish(none(near), null, near, steps);
  // A retry that was given up names the reason that its last words hide behind a status.
  const chosen = best && latent && ended && hides(best) && latent.rank >= 60 ? latent : best;
  if (!chosen || (chosen.rank <= 10 && chosen.message === '')) {
    if (exitCode !== undefined && exitCode !== 0) {
      const silent: Reading =
        latent && ended && latent.rank >= 60
          ? latent
          : chosen?.class === 'process_crash' || !chosen
            ? crash(near)
            : chosen.message === ''
              ? crash(near)
              : chosen;
      return joinEarlier(
        finish(silent, silent.time, near, [
          ...steps,
          { step: 'exit', rule: 'exit-failed', found: `exit ${exitCode}`, confidence: 'weak' },
        ]),
        context.saidBefore ?? [],
        silent,
      );
    }
    const quiet = chosen ?? none(near);
    return joinEarlier(
      finish(quiet.message === '' && exitCode === 0 ? none(near) : quiet, null, near, steps),
      context.saidBefore ?? [],
      quiet,
    );
  }
  const same = [...candidates, ...(latent ? [latent] : [])].filter((reading) =>
    timedTogether(reading, chosen),
  );
  return joinEarlier(
    finish(chosen, bestStated(same.map((reading) => reading.time)), near, steps),
    context.saidBefore ?? [],
    chosen,
  );
}

const RANK: { readonly [S in StatedTime['source']]: number } = { event: 4, header: 3, body: 2, text: 1 };

/** The best stated source; among equals the latest, for all rejected windows have to open. */
function bestStated(times: readonly (StatedTime | null)[]): StatedTime | null {
  return times.reduce<StatedTime | null>((best, time) => {
    if (!time) return best;
    if (!best || RANK[time.source] > RANK[best.source]) return time;
    return RANK[time.source] === RANK[best.source] && time.at > best.at ? time : best;
  }, null);
}

function strongest(readings: readonly Reading[]): Reading | null {
  return readings.reduce<Reading | null>(
    (best, reading) => (best === null || reading.rank >= best.rank ? reading : best),
    null,
  );
}

/** A limit's time may be stated by any signal of the same end that is a limit too. */
function timedTogether(reading: Reading, chosen: Reading): boolean {
  if (reading.class === chosen.class) return true;
  const limit = (one: Reading): boolean => one.class === 'usage_limit' || one.class === 'rate_limit';
  return limit(reading) && limit(chosen);
}

/** A last word that says no more than a status. */
function hides(reading: Reading): boolean {
  return (
    reading.rank <= 73 &&
    /\(http \d{3}\)|http \d{3}|retried \d+ times|exceeded retry limit|authentication failed/i.test(
      reading.message,
    )
  );
}

/** At the end of a process, what its stream stated before still counts where the end itself says less. */
function joinEarlier(result: Verdict, before: readonly Verdict[], own: Reading): Verdict {
  if (own.success) return result;
  const stated = before.filter(
    (earlier) =>
      earlier.class !== 'none' &&
      earlier.steps.some((step) => step.step === 'structured' || step.confidence === 'certain'),
  );
  const limit = [...stated]
    .reverse()
    .find((earlier) => earlier.class === 'usage_limit' || earlier.class === 'credits_exhausted');
  const last = limit ?? stated[stated.length - 1];
  if (!last) return result;
  const vague =
    result.class === 'none' ||
    result.class === 'unknown' ||
    result.class === 'process_crash' ||
    (own.rank <= 30 && result.class !== last.class);
  if (vague)
    return {
      ...last,
      nearLimit: result.nearLimit ?? last.nearLimit,
      steps: [...last.steps, ...result.steps, said(last)],
    };
  const isLimit = result.class === 'usage_limit' || result.class === 'rate_limit';
  if (!isLimit || last.class !== 'usage_limit') return result;
  const better =
    last.resetAt !== null &&
    (result.resetSource === null || RANK[last.resetSource ?? 'text'] > RANK[result.resetSource]);
  return better
    ? {
        ...result,
        class: 'usage_limit',
        resetAt: last.resetAt,
        resetSource: last.resetSource,
        zoneAssumed: last.zoneAssumed,
        window: last.window,
        scope: last.scope,
        model: last.model,
        steps: [...result.steps, said(last)],
      }
    : result;
}

function said(earlier: Verdict): VerdictStep {
  return { step: 'context', rule: 'said-before', found: earlier.class, confidence: 'certain' };
}

/** What lies beyond is a mistake of whoever states it, such as milliseconds given as seconds. */
const latestReset = Date.UTC(2100, 0);

function finish(
  reading: Reading,
  stated: StatedTime | null,
  near: Verdict['nearLimit'],
  steps: readonly VerdictStep[],
): Verdict {
  const nothing = reading.class === 'none';
  const time = stated !== null && stated.at > 0 && stated.at < latestReset ? stated : null;
  return {
    class: reading.class,
    recoverable: reading.recoverable,
    needsUser: reading.needsUser,
    resetAt: time && !nothing ? Math.ceil(time.at / 1000) * 1000 : null,
    resetSource: time && !nothing ? time.source : null,
    zoneAssumed: time !== null && !nothing && time.zoneAssumed,
    scope: nothing ? null : reading.scope,
    window: reading.window,
    model: reading.model === null ? null : redact(reading.model),
    message: redact(reading.message).slice(0, 2000),
    nearLimit: nothing ? near : null,
    steps: steps.map((step) => ({ ...step, found: redact(step.found).slice(0, 200) })),
  };
}

function none(near: Verdict['nearLimit']): Reading {
  return {
    class: 'none',
    rank: 0,
    recoverable: false,
    needsUser: false,
    scope: null,
    window: null,
    model: null,
    byWait: false,
    time: null,
    message: '',
    near,
    success: false,
    latent: null,
    steps: [],
  };
}

function crash(near: Verdict['nearLimit']): Reading {
  return { ...none(near), class: 'process_crash', rank: 10, recoverable: true, scope: 'session' };
}
