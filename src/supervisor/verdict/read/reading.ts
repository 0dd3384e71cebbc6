import type {
  FailureClass,
  LimitScope,
  LimitWindow,
  NearLimit,
  VerdictStep,
} from '../../../protocol/verdict.js';
import type { Signal, VerdictContext } from '../signal.js';
import { agentRules } from '../rules/agentRules.js';
import { codeRules, lastCodeRules, statusRules, strongCodeRules } from '../rules/codeRules.js';
import { exitMeaning, exitStatus } from '../rules/exitRules.js';
import { authRules, creditRules, firstRules, restRules } from '../rules/failureRules.js';
import { rateRules, usageRules } from '../rules/limitRules.js';
import { CLASS_POLICY, scopeOf, TIMED } from '../rules/policy.js';
import { firstMatch, type Rule, type RuleInput, type RuleMatch, type RuleSet } from '../rules/rule.js';
import { fold } from '../text/plain.js';
import { statedMoment, type StatedMoment } from '../time/moments.js';
import { evidenceOf, type Evidence } from './evidence.js';
import { readHeaders, windowOf } from './headers.js';
import { fieldTimes } from './times.js';

/** A stated end of a wait. */
export interface StatedTime {
  /** Epoch milliseconds, not rounded. */
  readonly at: number;
  readonly source: 'event' | 'header' | 'body' | 'text';
  readonly zoneAssumed: boolean;
  readonly found: string;
}

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
      class: 'usage_limit',
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
    status: evidence.corroborated ? status : null,
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

/** Tries the tables from the most telling to the least. */
function findMatch(
  input: RuleInput,
  evidence: Evidence,
  signal: Signal,
  rules: RuleSet,
  exitIsCertain: boolean,
): (RuleMatch & { rank: number }) | null {
  const specific: readonly (readonly [readonly Rule[], number])[] = [
    [rules.user, 90],
    [agentRules, 85],
    [strongCodeRules, 88],
    [firstRules, 80],
    [creditRules, 80],
    [usageRules, 80],
    [authRules, 70],
    [rateRules, 65],
  ];
  const general: readonly (readonly [readonly Rule[], number])[] = exitIsCertain
    ? [[codeRules, 60]]
    : [
        [codeRules.slice(0, 3), 60],
        [restRules.slice(0, 4), 55],
        [codeRules, 55],
        [restRules, 50],
        [lastCodeRules, 45],
        [statusRules, 30],
      ];
  let words = input.words;
  for (let tries = 0; tries < 6; tries++) {
    const current = { ...input, words };
    if (evidence.corroborated) return search(specific, current) ?? search(general, current);
    const plain = { ...current, codes: '' };
    const found = search(specific, plain) ?? search(general, plain);
    if (!found)
      return ERROR_LINE.test(words) && signal.exitCode !== 0
        ? search([...specific, ...general], { ...current, words: '' })
        : null;
    if (announces(words, found, signal.exitCode === 0)) return found;
    words = words.slice(0, lineStart(words, found.index)) + words.slice(lineEnd(words, found.index));
  }
  return null;
}

function search(
  tables: readonly (readonly [readonly Rule[], number])[],
  input: RuleInput,
): (RuleMatch & { rank: number }) | null {
  for (const [table, rank] of tables) {
    const match = firstMatch(table, input);
    if (match) return { ...match, rank };
  }
  return null;
}

const TAG =
  /^(?:[^\p{L}\p{N}]|\b(?:error|fatal|warn(?:ing)?|fail(?:ed|ure)|sorry|oops|api error|llm provider error|exception|unhandled|uncaught|http|status|code|info|debug|stderr|agent|the|your|our|an?|\d{1,4}|\d{1,2}:\d{2}(?::\d{2})?|\d{4}-\d{2}-\d{2}t?|t|z|request|model|from|provider|typeerror|\w{1,30}error|\w{1,30}exception|network|connection|internal|unexpected|claude|codex|kimi|gemini|qwen|copilot|opencode|cursor|now|currently|due|to|run|turn|stream|has|have|been|is|was|you|you're|you've|it|looks|like|we're|access|account|organization|workspace|subscription|plan|free|server|service|api|token|oauth|membership|login|user|tool|call|subagent|sub-agent|execution|task|session|message|unable|failed|could|not|maximum|limit|usage|quota|rate|premium|requests?|monthly|weekly|daily|context|conversation|input|prompt|installation|response|operation)\b)/u;
const REPORT =
  /\b(?:docs?|documentation|mention\w*|says?|said|means?|logs?|added|implement\w*|handl\w+|when|if|detect\w*|tests?|example|about|summar\w*|noted|found that|saw|seems|would|should|might|could be|fixed?|banner|pattern|regex|string|phrase|case|scenario|whether|avoid|prevent|until|once|explain\w*|describe\w*|returns?|check(?:s|ed|ing)? (?:for|whether|if))\b/;

/** A program's own error line, whatever follows. */
const ERROR_LINE = /^\W{0,6}(?:\w{0,30}error|\w{0,30}exception|fatal|panic|api error|errno)\b/;

/** A notice comes at the start of its line, behind tags at most; a report about one has its own words before it. */
function announces(words: string, match: RuleMatch, exitedWell: boolean): boolean {
  const start = lineStart(words, match.index);
  let prefix = words.slice(start, match.index).trim();
  if (
    match.rule.needsCorroboration &&
    !/^\W*(?:\w{0,30}error|fatal|failed|✕|✗|■)/.test(words.slice(start)) &&
    !/^\W*[✕✗■❌⚠]/.test(words.slice(start, start + 4))
  )
    return false;
  if (exitedWell && !announcesStop(words, match)) return false;
  // After a colon that follows a short title the notice starts anew: `Agent terminated early due to an API error: …`
  const colon =
    prefix.lastIndexOf(': ') >= 0 ? prefix.lastIndexOf(': ') : prefix.endsWith(':') ? prefix.length - 1 : -1;
  if (colon >= 0 && !REPORT.test(prefix.slice(0, colon).replace(/^.*error/, '')))
    prefix = prefix.slice(colon + 1).trim();
  // Sentences before it are of the same notice, if they are short.
  const sentence = prefix.split(/[.!?·|]\s/).pop() ?? prefix;
  if (ERROR_LINE.test(words.slice(start)) && !exitedWell) return true;
  if (REPORT.test(prefix)) return false;
  let rest = sentence;
  for (let tags = 0; tags < 24 && rest !== ''; tags++) {
    const tag = TAG.exec(rest);
    if (!tag) break;
    rest = rest.slice(tag[0].length).trimStart();
  }
  // A short text that is all there is may take longer to come to the point.
  const lone = !exitedWell && words.trim().length <= 400 && words.trim().split('\n').length <= 4;
  return rest.split(/\s+/).filter((word) => word !== '').length <= (lone ? 10 : 4);
}

/** After exit 0 only a notice that is all there is counts, and only one that closes an account. */
function announcesStop(words: string, match: RuleMatch): boolean {
  const kind: ReadonlySet<FailureClass> = new Set([
    'usage_limit',
    'credits_exhausted',
    'auth_expired',
    'auth_denied',
  ]);
  if (!kind.has(match.rule.class)) return false;
  const before = words.slice(0, lineStart(words, match.index)).trim();
  return (
    words.trim().length <= 500 && before.length <= 80 && match.index - lineStart(words, match.index) <= 24
  );
}

function lineStart(text: string, index: number): number {
  return text.lastIndexOf('\n', Math.max(0, index - 1)) + 1;
}

function lineEnd(text: string, index: number): number {
  const end = text.indexOf('\n', index);
  return end < 0 ? text.length : end;
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

/** The best stated time: header, then field, then text; a length of time in the text that says later than the field wins over it. */
function bestTime(
  evidence: Evidence,
  headerReset: number | null,
  match: RuleMatch | null,
  channel: Signal['channel'],
): StatedTime | null {
  if (headerReset !== null) return { at: headerReset, source: 'header', zoneAssumed: false, found: 'header' };
  const fields = fieldTimes(evidence.fields, evidence.moments);
  const text = textTime(evidence, match);
  if (fields.length > 0) {
    const at = Math.max(...fields);
    if (text?.kind === 'duration' && !text.approximate && text.at > at)
      return { at: text.at, source: 'text', zoneAssumed: false, found: text.found };
    return {
      at,
      source: evidence.structured && channel === 'event' ? 'event' : 'body',
      zoneAssumed: false,
      found: 'reset field',
    };
  }
  return text ? { at: text.at, source: 'text', zoneAssumed: text.zoneAssumed, found: text.found } : null;
}

function textTime(evidence: Evidence, match: RuleMatch | null): StatedMoment | null {
  const from = match?.by === 'words' ? match.index : 0;
  const pipe = /\|\s?(1[4-9]\d{8}|20\d{8})(\d{3})?(?!\d)/.exec(evidence.words);
  if (pipe) {
    const at = pipe[2] === undefined ? Number(pipe[1]) * 1000 : Number(`${pipe[1] ?? ''}${pipe[2]}`);
    return { at, zoneAssumed: false, kind: 'epoch', approximate: false, found: pipe[0], index: pipe.index };
  }
  return statedMoment(evidence.words, evidence.moments, from);
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

function nearLimit(evidence: Evidence): NearLimit | null {
  if (evidence.near) return evidence.near;
  if (evidence.nearText === '') return null;
  const words = fold(evidence.nearText);
  const percent = /(\d{1,3}(?:\.\d+)?) ?%(?: (?:of|used|utili))?|used (\d{1,3}(?:\.\d+)?) ?%/.exec(words);
  const moment = statedMoment(words, evidence.moments);
  const value = percent ? Number(percent[1] ?? percent[2]) / 100 : null;
  const left = /% (?:left|remaining)/.test(words);
  const named = /session|5-?\s?h|five|weekly|week|monthly|month|daily|today|minute/.exec(words);
  return {
    utilization: value === null ? null : left ? Math.round((1 - value) * 1000) / 1000 : value,
    window: named ? windowOf(named[0] === 'today' ? 'day' : named[0]) : null,
    resetAt: moment ? Math.ceil(moment.at / 1000) * 1000 : null,
  };
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

function windowIn(words: string): LimitWindow {
  const named =
    /5-?\s?h(?:ou)?r|five-?\s?hour|session limit|5 ?小时|weekly|per week|7-?day|每周|周限|週|monthly|per month|billing cycle|每月|daily|per day|24-?\s?hour|每日|每天|当日|per[- _]?minute|\brpm\b|\btpm\b|每分钟/.exec(
      words,
    )?.[0];
  if (named === undefined) return 'unknown';
  if (/5|five|session/.test(named)) return 'five_hour';
  if (/week|7|周|週/.test(named)) return 'weekly';
  if (/month|月/.test(named)) return 'monthly';
  if (/day|24|daily|每日|每天|当日/.test(named)) return 'daily';
  return /billing/.test(named) ? 'unknown' : 'minute';
}
