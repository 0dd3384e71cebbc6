import type { LimitWindow, NearLimit, VerdictStep } from '../../../protocol/verdict.js';
import type { Signal, VerdictContext } from '../signal.js';
import { cutMiddle, fold, plainText } from '../text/plain.js';
import { endsInReport, ERROR_LINE, spokenIn } from '../text/speaker.js';
import type { MomentContext } from '../time/moments.js';
import { documentWords, saidBy } from './document.js';
import { document, partsOf, type Document, type Field } from './fields.js';
import { headersOf } from './headers.js';
import { pairsIn } from './pairs.js';

/** What one signal says, taken apart and not yet judged. */
export interface Evidence {
  /** Words of the failure as shown; empty if there are none. */
  readonly shown: string;
  readonly words: string;
  readonly codes: string;
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly fields: readonly Field[];
  /** An error event, a failed result, a failing status or exit: the words are about a failure. */
  readonly corroborated: boolean;
  /** The machine-readable stream itself says that it failed. */
  readonly structured: boolean;
  readonly limit: {
    readonly window: LimitWindow;
    readonly model: string | null;
    readonly resetAt: number | null;
  } | null;
  readonly near: NearLimit | null;
  readonly nearText: string;
  /** The run says that it ended well. */
  readonly success: boolean;
  /** Words and fields of an attempt that goes on by itself. */
  readonly latent: {
    readonly shown: string;
    readonly codes: string;
    readonly status: number | null;
    readonly fields: readonly Field[];
  } | null;
  /** The words were said by somebody else than the program: an answer, a tool, a prompt. */
  readonly quoted: boolean;
  readonly agent: string;
  readonly moments: MomentContext;
  readonly steps: readonly VerdictStep[];
}

/** Takes one signal apart. Never throws. */
export function evidenceOf(signal: Signal, context: VerdictContext): Evidence {
  const agent = fold(signal.providerOrCli ?? '').slice(0, 200);
  const failing = (signal.httpStatus ?? 0) >= 400;
  const exitFailed = signal.exitCode !== undefined && signal.exitCode !== 0;
  const whole = cutMiddle(signal.text);
  // What is fenced is shown, not said.
  const text = failing || exitFailed || signal.channel === 'http' ? whole : withoutFences(whole);
  const reported = !failing && !exitFailed && signal.channel !== 'http' && endsInReport(whole);
  const parts =
    typeof signal.event === 'object' && signal.event !== null
      ? { documents: [document(signal.event, true)], rest: '' }
      : reported
        ? { documents: [], rest: text }
        : partsOf(text);
  const events = parts.documents.filter((document) => document.alone);
  const read = readEvents(
    events,
    failing || (signal.channel === 'http' && exitFailed),
    signal.exitCode === undefined,
  );
  const inner = parts.documents.filter((document) => !document.alone);
  const someoneElse =
    reported ||
    /\((?:agent answer|tool output|tool result|user prompt|prompt echo|user prompt echo)\)/.test(agent);
  // The status of an attempt that goes on is no status of the run.
  const goesOn = read.retrying.length > 0 && read.failed.length === 0 && !exitFailed;
  const trusted = ((failing && !goesOn) || exitFailed || signal.channel === 'http') && !someoneElse;
  const outside = inner.length > 0 && !trusted ? text : parts.rest;
  const spoken = spokenIn(plainText(focus(outside, 4800)).shown, trusted);
  const failedDocuments = [
    ...read.failed,
    ...(inner.length > 0 && (trusted || spoken.program.trim() !== '') ? inner : []),
  ];
  // `API Error: 400 {…}`: the program shows the answer that it got.
  const shows =
    inner.length > 0 &&
    !trusted &&
    signal.exitCode !== 0 &&
    ERROR_LINE.test(fold(spoken.program.trim().slice(0, 120)));
  const words = failedDocuments.map((document) => documentWords(document.fields));
  const program = someoneElse || (spoken.goesOn && !trusted) ? '' : spoken.program.trim();
  const triedAgain =
    spoken.goesOn && !trusted ? `${spoken.program.trim()}\n${spoken.retries}`.trim() : spoken.retries;
  const said = [...words.map((part) => part.shown), program].filter((part) => part !== '');
  const shownWords = plainText(focus(said.join('\n'), 4000)).shown;
  const fields = [...failedDocuments.flatMap((document) => document.fields), ...pairsIn(program)];
  const latentFields = read.retrying.flatMap((document) => document.fields);
  const latentWords = read.retrying.map((document) => documentWords(document.fields));
  const latentShown = [...latentWords.map((part) => part.shown), triedAgain]
    .filter((part) => part !== '')
    .join('\n');
  const folded = fold(shownWords).replace(/[ \t]{2,}/g, ' ');
  return {
    shown: shownWords,
    words: folded,
    codes: [
      ...words.map((part) => part.codes),
      codesIn(shownWords),
      fold(signal.headers?.['x-amzn-errortype'] ?? ''),
    ]
      .filter((part) => part !== '')
      .join('\n'),
    status:
      (failing ? signal.httpStatus : undefined) ??
      words.map((part) => part.status).find((status) => status !== null) ??
      statusIn(folded) ??
      signal.httpStatus ??
      null,
    headers: { ...headersOf(fields), ...(signal.headers ?? {}) },
    fields,
    corroborated: trusted || shows || read.failed.length > 0,
    structured: read.failed.length > 0,
    limit: read.limit,
    near: read.near,
    nearText: someoneElse ? '' : spoken.near,
    success: read.success,
    latent:
      latentShown === '' && latentFields.length === 0
        ? null
        : {
            shown: latentShown.slice(0, 4000),
            codes: latentWords.map((part) => part.codes).join('\n'),
            status: latentWords.map((part) => part.status).find((status) => status !== null) ?? null,
            fields: latentFields,
          },
    quoted: spoken.left || someoneElse || text !== whole || read.answered,
    agent,
    moments: {
      observedAt: context.observedAt,
      localTimeZone: context.localTimeZone,
      providerTimeZone: providerZone(agent, folded),
    },
    steps: read.steps,
  };
}

interface EventReading {
  readonly failed: readonly Document[];
  readonly retrying: readonly Document[];
  readonly limit: Evidence['limit'];
  readonly near: NearLimit | null;
  readonly success: boolean;
  readonly answered: boolean;
  readonly steps: readonly VerdictStep[];
}

/** A banner of a limit as the whole answer: a stop in the shape of a success. */
const STOP_AS_SUCCESS =
  /^\s*(?:claude ai usage limit reached\|\d{9,13}|(?:you've hit|you've reached|you're out of|claude (?:ai )?usage limit reached|\d-hour limit reached|your [\w' ]{1,24}usage limit)[^\n]{0,120})\s*$/;

/** True for an answer that is nothing but the banner of a limit: the run ended, and did not end well. */
export function isStopAsSuccess(answer: string): boolean {
  return answer.length < 300 && STOP_AS_SUCCESS.test(plainText(answer).folded);
}

function readEvents(events: readonly Document[], failed: boolean, open: boolean): EventReading {
  let failures: Document[] = [];
  let retrying: Document[] = [];
  let limit: Evidence['limit'] = null;
  let near: NearLimit | null = null;
  let success = false;
  let answered = false;
  const steps: VerdictStep[] = [];
  for (const document of events) {
    const said = saidBy(document, failed);
    switch (said.kind) {
      case 'nothing':
        answered = true;
        break;
      case 'retrying':
        retrying.push(document);
        break;
      case 'near':
        near = said.near;
        steps.push({ step: 'structured', rule: 'limit-near', found: 'warning', confidence: 'certain' });
        break;
      case 'limit':
        limit = limit && (limit.resetAt ?? 0) > (said.resetAt ?? 0) ? limit : said;
        steps.push({
          step: 'structured',
          rule: 'limit-event',
          found: `rejected ${said.window}`,
          confidence: 'certain',
        });
        break;
      case 'failure':
        failures.push(document);
        success = false;
        steps.push({
          step: 'structured',
          rule: 'failure-event',
          found: kindOf(document.value),
          confidence: 'certain',
        });
        break;
      case 'success':
        if (isStopAsSuccess(said.text)) {
          failures.push(document);
          steps.push({
            step: 'structured',
            rule: 'success-shaped-stop',
            found: said.text.slice(0, 120),
            confidence: 'certain',
          });
        } else {
          // What went wrong before was overcome: the run has its answer.
          failures = [];
          retrying = [];
          limit = said.text.trim() === '' && limit ? limit : null;
          success = true;
        }
        break;
      default:
        said satisfies never;
    }
  }
  return {
    failed: failures,
    retrying,
    limit: limit && !(success && !open && failures.length === 0) ? limit : null,
    near,
    success: success && failures.length === 0,
    answered,
    steps,
  };
}

function withoutFences(text: string): string {
  return text.includes('```')
    ? text.replace(/^[ \t]{0,8}```[^\n]{0,40}\n[\s\S]*?(?:\n[ \t]{0,8}```[ \t]*$|(?![\s\S]))/gm, '')
    : text;
}

/** The part of a long text that can hold the reason: its head, its tail and what stands around telling words. */
function focus(text: string, most: number): string {
  if (text.length <= most) return text;
  const pieces: string[] = [text.slice(0, 1000)];
  const from = Math.max(1000, text.length - 2200);
  let at = 1000;
  for (const word of TELLING) {
    for (
      let found = text.indexOf(word, 1000), count = 0;
      found >= 0 && found < from && count < 2;
      found = text.indexOf(word, found + 300), count++
    ) {
      if (found < at) continue;
      pieces.push(text.slice(Math.max(at, found - 100), found + 200));
      at = found + 200;
    }
    if (pieces.length > 7) break;
  }
  return `${pieces.join('\n')}\n${text.slice(Math.max(at, from))}`;
}

const TELLING = [
  'limit',
  'quota',
  'Error',
  'ERROR',
  'error',
  'exceeded',
  'resets',
  'expired',
  'verloaded',
  'credit',
  '限',
  '错误',
  'лимит',
  '오류',
  'エラー',
];

const STATUS_IN_TEXT =
  /(?:http(?:\/[\d.]{1,3})?|status(?: code)?(?: was)?|error(?: code)?|code|api error|provider\.\w+|rejected|\(|\[)[:=\s(\]'"]{0,4}(4\d\d|5\d\d)(?![\d.]|,\d|:\d)|^\W{0,3}(4\d\d|5[0-3]\d)(?=[\s"])|\b(4\d\d|5\d\d) (?:too many requests|unauthorized|forbidden|bad request|payment required|not found|internal server error|bad gateway|service unavailable|gateway timeout|resource_exhausted)/;

function statusIn(folded: string): number | null {
  const match = STATUS_IN_TEXT.exec(folded);
  const number = Number(match?.[1] ?? match?.[2] ?? match?.[3] ?? 0);
  return number >= 400 && number < 600 ? number : null;
}

/** Error names that programs print in plain text. */
function codesIn(shown: string): string {
  const found: string[] = [];
  for (const match of shown.matchAll(
    /\b(?:[A-Z][A-Za-z]{2,40}(?:Error|Exception)|(?:Usage|Rate|Quota|Credit|Plan)(?:[A-Z][a-z]{2,12}){1,3}|Overloaded|[A-Z]{3,20}(?:_[A-Z0-9]{2,20}){1,5}|E[A-Z]{4,16}|[a-z]{3,20}(?:_[a-z]{2,20}){1,5}|provider\.[a-z_]{3,30})\b/g,
  )) {
    if (!found.includes(match[0])) found.push(match[0]);
    if (found.length >= 40) break;
  }
  return fold(found.join('\n'));
}

function kindOf(value: unknown): string {
  const row = typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  return (
    [row['type'], row['subtype']]
      .filter((part) => typeof part === 'string')
      .join('/')
      .slice(0, 80) || 'error'
  );
}

/** z.ai and bigmodel.cn print Beijing time without saying so. */
function providerZone(agent: string, words: string): string | undefined {
  return /z\.?ai\b|zhipu|bigmodel|glm|智谱/.test(agent) ||
    /z\.ai|bigmodel\.cn|glm coding|您的限额将在|智谱/.test(words)
    ? 'Asia/Shanghai'
    : undefined;
}
