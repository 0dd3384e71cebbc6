import type {
  FailureClass,
  LimitScope,
  LimitWindow,
  NearLimit,
  VerdictStep,
} from '../../../protocol/verdict.js';
import type { Signal, VerdictContext } from '../signal.js';
import { exitMeaning, exitStatus } from '../rules/exitRules.js';
import { CLASS_POLICY, scopeOf, TIMED } from '../rules/policy.js';
import type { RuleInput, RuleMatch, RuleSet } from '../rules/rule.js';
import { fold } from '../text/plain.js';
import { ERROR_LINE } from '../text/speaker.js';
import { statedMoment } from '../time/moments.js';
import { evidenceOf, type Evidence } from './evidence.js';
import { readHeaders } from './headers.js';
import { nearLimit, windowIn } from './nearLimit.js';
import { findMatch } from './ruleSearch.js';
import { bestTime, type StatedTime } from './statedTime.js';

export type { StatedTime } from './statedTime.js';

/** One signal, judged on its own. */
export interface Reading {
  readonly class: FailureClass;
  /** How good the source of the class is; the best of one end wins. */
  readonly rank: number;
  readonly recoverable: boolean;
  readonly needsUser: boolean;
  readonly scope: LimitScope | null;
  readonly window: LimitWindow | null;
  readonly model: string | null;
  readonly byWait: boolean;
  readonly time: StatedTime | null;
  readonly message: string;
  readonly near: NearLimit | null;
  readonly success: boolean;
  /** What a retry that goes on has said; it counts only if the end has no better word. */
  readonly latent: Reading | null;
  readonly steps: readonly VerdictStep[];
}

const FIVE_MINUTES = 5 * 60_000;
const ONE_HOUR = 60 * 60_000;

/** Judges one signal. Pure, never throws. */
export function readSignal(signal: Signal, context: VerdictContext, rules: RuleSet): Reading {
  const evidence = evidenceOf(signal, context);
  const latent = latentReading(evidence, signal, rules);
  const judged = judge(evidence, signal, context, rules);
  const near = nearLimit(evidence);
  // A retry that sleeps for hours is no retry any more: the limit behind it is the fact.
  const sleeping =
    latent?.time &&
    latent.time.at - context.observedAt > FIVE_MINUTES &&
    judged.class === 'none' &&
    !evidence.success;
  const chosen = sleeping ? latent : withTimeOfRetry(judged, evidence);
  return { ...chosen, near, success: evidence.success, latent: sleeping ? null : latent };
}

/** A limit whose time only the notice of the retry states. */
function withTimeOfRetry(judged: Reading, evidence: Evidence): Reading {
  if (!evidence.latent || judged.time || (judged.class !== 'usage_limit' && judged.class !== 'rate_limit'))
    return judged;
  const moment = statedMoment(fold(evidence.latent.shown), evidence.moments);
  return moment
    ? {
        ...judged,
        time: { at: moment.at, source: 'text', zoneAssumed: moment.zoneAssumed, found: moment.found },
      }
    : judged;
}

function judge(evidence: Evidence, signal: Signal, context: VerdictContext, rules: RuleSet): Reading {
  const nothing = nothingSaid(evidence);
  const headers = readHeaders(evidence.headers, evidence.moments);
  if (evidence.limit) {
    const time =
      evidence.limit.resetAt ?? bestTime(evidence, headers.resetAt, null, signal.channel)?.at ?? null;
    const source =
      evidence.limit.resetAt !== null
        ? 'event'
        : (bestTime(evidence, headers.resetAt, null, signal.channel)?.source ?? 'event');
    return reading(evidence, {
      // A limit of a minute or less is the server's wish to slow down, not the account's.
      class: evidence.limit.window === 'minute' ? 'rate_limit' : 'usage_limit',
      rank: 100,
      window: evidence.limit.window,
      model: evidence.limit.model,
      scope: evidence.limit.model === null ? 'account' : 'model',
      time: time === null ? null : { at: time, source, zoneAssumed: false, found: 'limit event' },
      steps: evidence.steps,
    });
  }
  const status =
    evidence.status ?? (signal.exitCode === undefined ? null : exitStatus(signal.exitCode, evidence.agent));
  const failing = status !== null && status >= 400 && evidence.corroborated;
  if (headers.rejected && failing) {
    return reading(evidence, {
      class: 'usage_limit',
      rank: 95,
      window: headers.window,
      model: headers.model,
      scope: headers.model === null ? 'account' : 'model',
      time:
        headers.resetAt === null
          ? null
          : { at: headers.resetAt, source: 'header', zoneAssumed: false, found: headers.found },
      steps: [
        ...evidence.steps,
        { step: 'header', rule: 'window-rejected', found: headers.found, confidence: 'certain' },
      ],
    });
  }
  if (evidence.success && signal.exitCode === undefined) return nothing;
  const input: RuleInput = {
    agent: evidence.agent,
    words: evidence.words,
    codes: [evidence.codes, headers.code].filter((code) => code !== '').join('\n'),
    status: evidence.corroborated || ERROR_LINE.test(evidence.words) ? status : null,
  };
  const exit = signal.exitCode === undefined ? null : exitMeaning(signal.exitCode, evidence.agent);
  if (evidence.success && (signal.exitCode ?? 0) === 0) return nothing;
  const match = evidence.success ? null : findMatch(input, evidence, signal, rules, exit?.certain ?? false);
  if (match) return fromMatch(match, evidence, headers.resetAt, signal, headers.bucket, status !== null);
  if (exit)
    return reading(evidence, {
      class: exit.class,
      rank: 40,
      steps: [
        ...evidence.steps,
        { step: 'exit', rule: exit.rule, found: `exit ${signal.exitCode ?? '?'}`, confidence: 'likely' },
      ],
    });
  if (failing)
    return reading(evidence, {
      class: 'unknown',
      rank: 15,
      scope: 'request',
      steps: [
        ...evidence.steps,
        { step: 'status', rule: 'status-unknown', found: `HTTP ${status}`, confidence: 'weak' },
      ],
    });
  return withoutRule(evidence, signal, context, nothing);
}

function withoutRule(evidence: Evidence, signal: Signal, context: VerdictContext, nothing: Reading): Reading {
  if (signal.exitCode !== undefined && signal.exitCode !== 0) {
    const step: VerdictStep = {
      step: 'exit',
      rule: 'exit-failed',
      found: `exit ${signal.exitCode}`,
      confidence: 'weak',
    };
    // A `command` program that fails without a word has crashed: that is its protocol.
    const crash = evidence.words === '' && evidence.agent === 'command';
    return reading(evidence, {
      class: crash ? 'process_crash' : 'unknown',
      rank: evidence.words === '' ? 10 : 15,
      steps: [...evidence.steps, step],
    });
  }
  if (evidence.structured) return reading(evidence, { class: 'unknown', rank: 20, steps: evidence.steps });
  if (signal.exitCode === 0 || context.doing === 'alive' || context.doing === 'retrying') return nothing;
  if (
    evidence.words === '' &&
    signal.text.trim() === '' &&
    signal.event === undefined &&
    signal.httpStatus === undefined
  ) {
    return reading(evidence, {
      class: 'unknown',
      rank: 5,
      steps: [{ step: 'context', rule: 'silent-end', found: 'no output, no exit code', confidence: 'weak' }],
    });
  }
  if (ERROR_LINE.test(evidence.words)) {
    return reading(evidence, {
      class: 'unknown',
      rank: 10,
      steps: [
        ...evidence.steps,
        {
          step: 'text',
          rule: 'error-without-reason',
          found: evidence.shown.slice(0, 120),
          confidence: 'weak',
        },
      ],
    });
  }
  return nothing;
}

function fromMatch(
  match: RuleMatch & { rank: number },
  evidence: Evidence,
  headerReset: number | null,
  signal: Signal,
  bucket: boolean,
  hasStatus: boolean,
): Reading {
  const { rule } = match;
  const stated = TIMED.has(rule.class) ? bestTime(evidence, headerReset, match, signal.channel) : null;
  // A quota of a day does not end within the hour: such a delay is the gateway's, and known to be wrong.
  const time = rule.timeless && stated && stated.at - evidence.moments.observedAt < ONE_HOUR ? null : stated;
  let failure = rule.class;
  const steps: VerdictStep[] = [
    ...evidence.steps,
    {
      step: match.by === 'words' ? 'text' : match.by === 'code' ? 'body' : 'status',
      rule: rule.name,
      found: match.found.slice(0, 160),
      confidence: match.rank >= 80 ? 'certain' : match.rank >= 50 ? 'likely' : 'weak',
    },
  ];
  if (rule.byWait && time && time.at - evidence.moments.observedAt > FIVE_MINUTES + 10_000) {
    failure = 'usage_limit';
    steps.push({ step: 'time', rule: 'long-wait', found: time.found.slice(0, 80), confidence: 'likely' });
  }
  const words = `${evidence.words}\n${evidence.codes}`;
  return reading(evidence, {
    class: failure,
    rank: match.rank + (evidence.structured ? 3 : 0),
    scope:
      rule.scope ??
      (bucket && failure === 'rate_limit' ? 'model' : scopeOf(failure, words, evidence.agent, hasStatus)),
    window: rule.window ?? null,
    byWait: rule.byWait ?? false,
    time,
    steps: time
      ? [
          ...steps,
          {
            step: 'time',
            rule: `time-${time.source}`,
            found: time.found.slice(0, 120),
            confidence: time.zoneAssumed ? 'likely' : 'certain',
          },
        ]
      : steps,
    ...(rule.recoverable === undefined ? {} : { recoverable: rule.recoverable }),
    ...(rule.needsUser === undefined ? {} : { needsUser: rule.needsUser }),
  });
}

function latentReading(evidence: Evidence, signal: Signal, rules: RuleSet): Reading | null {
  if (!evidence.latent) return null;
  const words = fold(evidence.latent.shown);
  const inner: Evidence = {
    ...evidence,
    shown: evidence.latent.shown,
    words,
    codes: evidence.latent.codes,
    fields: evidence.latent.fields,
    status: evidence.latent.status,
    corroborated: true,
    latent: null,
  };
  const all = evidence.words === '' ? inner : { ...inner, words: `${evidence.words}\n${words}` };
  const input: RuleInput = {
    agent: evidence.agent,
    words: all.words,
    codes: inner.codes,
    status: inner.status,
  };
  const match = findMatch(input, inner, signal, rules, false);
  if (!match) return null;
  // The notice before the retry notice gives the exact time: `resets in 1 day 3 hours … [retrying in ~1 day]`.
  return fromMatch(match, all, null, signal, false, inner.status !== null);
}

function nothingSaid(evidence: Evidence): Reading {
  return reading(evidence, {
    class: 'none',
    rank: 0,
    steps: evidence.quoted
      ? [
          ...evidence.steps,
          {
            step: 'context',
            rule: 'said-by-another',
            found: 'an answer, a tool, a prompt or a side feature',
            confidence: 'likely',
          },
        ]
      : evidence.steps,
  });
}

type Given = Pick<Reading, 'class' | 'rank' | 'steps'> & Partial<Reading>;

function reading(evidence: Evidence, given: Given): Reading {
  const policy = CLASS_POLICY[given.class];
  const limit =
    given.class === 'usage_limit' || given.class === 'rate_limit' || given.class === 'credits_exhausted';
  return {
    recoverable: policy.recoverable,
    needsUser: policy.needsUser,
    scope: policy.scope,
    model: null,
    byWait: false,
    time: null,
    near: null,
    success: false,
    latent: null,
    ...given,
    message: given.class === 'none' ? '' : evidence.shown.trim().slice(0, 2000),
    window: limit ? (given.window ?? windowIn(evidence.words)) : null,
  };
}
