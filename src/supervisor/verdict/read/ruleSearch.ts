import type { FailureClass } from '../../../protocol/verdict.js';
import type { Signal } from '../signal.js';
import { agentRules } from '../rules/agentRules.js';
import { codeRules, lastCodeRules, statusRules, strongCodeRules } from '../rules/codeRules.js';
import { authRules, creditRules, firstRules, restRules } from '../rules/failureRules.js';
import { rateRules, shortLimitRules, usageRules } from '../rules/limitRules.js';
import {
  worldAuthRules,
  worldFirstRules,
  worldRateRules,
  worldRestRules,
  worldUsageRules,
} from '../rules/worldRules.js';
import { ERROR_LINE } from '../text/speaker.js';
import { firstMatch, type Rule, type RuleInput, type RuleMatch, type RuleSet } from '../rules/rule.js';
import type { Evidence } from './evidence.js';

/** Tries the tables from the most telling to the least. */
export function findMatch(
  input: RuleInput,
  evidence: Evidence,
  signal: Signal,
  rules: RuleSet,
  exitIsCertain: boolean,
): (RuleMatch & { rank: number }) | null {
  // Most events of a healthy stream say nothing about failures.
  if (input.words === '' && input.codes === '' && input.status === null && rules.user.length === 0)
    return null;
  const specific: readonly (readonly [readonly Rule[], number])[] = [
    [rules.user, 90],
    [agentRules, 85],
    [strongCodeRules, 88],
    [firstRules, 80],
    [creditRules, 80],
    [worldFirstRules, 80],
    [usageRules, 80],
    [worldUsageRules, 78],
    [shortLimitRules, 72],
    [authRules, 70],
    [worldAuthRules, 68],
    [rateRules, 65],
    [worldRateRules, 64],
  ];
  const general: readonly (readonly [readonly Rule[], number])[] = exitIsCertain
    ? [[codeRules, 60]]
    : [
        [codeRules.slice(0, 3), 60],
        [restRules.slice(0, 5), 55],
        [worldRestRules, 55],
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
    const strongEnough = (match: RuleMatch): boolean =>
      !match.rule.needsCorroboration || isErrorLine(words.slice(lineStart(words, match.index)));
    const found = search(specific, plain, strongEnough) ?? search(general, plain, strongEnough);
    if (!found)
      return ERROR_LINE.test(words) && signal.exitCode !== 0
        ? search([...specific, ...general], { ...current, words: '' })
        : null;
    if (announces(words, found, signal.exitCode === 0)) return found;
    // Another rule may name the same failure where its sentence begins.
    const line = { ...plain, words: words.slice(0, found.index) };
    const sooner = search(specific, line, strongEnough);
    if (sooner && announces(line.words, sooner, signal.exitCode === 0)) return sooner;
    words = words.slice(0, lineStart(words, found.index)) + words.slice(lineEnd(words, found.index));
  }
  return null;
}

function search(
  tables: readonly (readonly [readonly Rule[], number])[],
  input: RuleInput,
  accepts?: (match: RuleMatch) => boolean,
): (RuleMatch & { rank: number }) | null {
  for (const [table, rank] of tables) {
    const match = firstMatch(table, input, accepts);
    if (match) return { ...match, rank };
  }
  return null;
}

const TAG =
  /^(?:[^\p{L}\p{N}]|\b(?:error|fatal|warn(?:ing)?|fail(?:ed|ure)|sorry|oops|api error|llm provider error|exception|unhandled|uncaught|http|status|code|info|debug|stderr|agent|the|your|our|an?|\d{1,4}|\d{1,2}:\d{2}(?::\d{2})?|\d{4}-\d{2}-\d{2}t?|t|z|request|model|from|provider|typeerror|\w{1,30}error|\w{1,30}exception|network|connection|internal|unexpected|claude|codex|kimi|gemini|qwen|copilot|opencode|cursor|now|currently|due|to|run|turn|stream|has|have|been|is|was|you|you're|you've|it|looks|like|we're|access|account|organization|workspace|subscription|plan|free|server|service|api|token|oauth|membership|login|user|tool|call|subagent|sub-agent|execution|task|session|message|unable|failed|could|not|maximum|limit|usage|quota|rate|premium|requests?|monthly|weekly|daily|context|conversation|input|prompt|installation|response|operation)\b)/u;
const REPORT =
  /\b(?:docs?|documentation|mention\w*|says?|said|means?|logs?|added|implement\w*|handl\w+|when|if|detect\w*|tests?|example|about|summar\w*|noted|found that|saw|seems|would(?! exceed)|should|might|could be|fixed?|banner|pattern|regex|string|phrase|case|scenario|whether|avoid|prevent|until|once|explain\w*|describe\w*|returns?|check(?:s|ed|ing)? (?:for|whether|if))\b/;

const CAUSE =
  /^.{0,80}\b(?:reject\w+|fail\w*|error|unable|could not|couldn't|cannot|can't|denied|refused|stopped|abort\w*|paused|ended|interrupted|terminated)\b.{0,60}\b(?:because|due to|since|as|reason:?)\s/;

/** A notice comes at the start of its line, behind tags at most; a report about one has its own words before it. */
function announces(words: string, match: RuleMatch, exitedWell: boolean): boolean {
  const start = lineStart(words, match.index);
  let prefix = words.slice(start, match.index).trim();
  if (isQuoted(words.slice(start, lineEnd(words, match.index)), match.index - start)) return false;
  if (exitedWell && !announcesStop(words, match)) return false;
  // After a colon that follows a short title the notice starts anew: `Agent terminated early due to an API error: …`
  const colon =
    prefix.lastIndexOf(': ') >= 0 ? prefix.lastIndexOf(': ') : prefix.endsWith(':') ? prefix.length - 1 : -1;
  if (colon >= 0 && !REPORT.test(prefix.slice(0, colon).replace(/^.*error/, '')))
    prefix = prefix.slice(colon + 1).trim();
  // So it does after the word that names the cause: `The provider rejected the request because …`
  const cause = CAUSE.exec(prefix);
  if (cause && !REPORT.test(cause[0])) prefix = prefix.slice(cause[0].length).trim();
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

/** The words stand between quotation marks inside of somebody's sentence; the value of a field (`msg="…"`) does not. */
function isQuoted(line: string, at: number): boolean {
  for (const [open, close] of QUOTES) {
    const from = line.lastIndexOf(open, at);
    if (from < 0 || line.indexOf(close, from + 1) < at) continue;
    const before = line.slice(0, from);
    const pairs = open === close && before.split(open).length % 2 === 0;
    if (!pairs && /[\p{L}\p{N}]/u.test(before) && !/[:=(\[{,\d]\s?$/.test(before)) return true;
  }
  return false;
}

const QUOTES = [
  ['「', '」'],
  ['『', '』'],
  ['"', '"'],
  ['`', '`'],
] as const;

/** A line in which a program says that something failed. */
function isErrorLine(line: string): boolean {
  return /^\W*(?:\w{0,30}error|fatal|failed|✕|✗|■)/.test(line) || /^\W*[✕✗■❌⚠]/.test(line.slice(0, 4));
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
