import type { LimitWindow, NearLimit } from '../../../protocol/verdict.js';
import { fold } from '../text/plain.js';
import { parse, type Document, type Field } from './fields.js';
import { modelOf, windowOf } from './headers.js';

/** What one line of a machine-readable stream says about the run. */
export type Said =
  /** The agent at work: answers, tools and their results, notices. Whatever words they hold, nothing failed. */
  | { readonly kind: 'nothing' }
  /** The run ended well, in its own words. */
  | { readonly kind: 'success'; readonly text: string }
  /** Something failed and the agent tries again by itself. */
  | { readonly kind: 'retrying' }
  | { readonly kind: 'near'; readonly near: NearLimit }
  /** A limit event that states itself: nothing has to be guessed from words. */
  | {
      readonly kind: 'limit';
      readonly window: LimitWindow;
      readonly model: string | null;
      readonly resetAt: number | null;
    }
  | { readonly kind: 'failure' };

type Row = Readonly<Record<string, unknown>>;

const NOTHING: Said = { kind: 'nothing' };
const FAILURE: Said = { kind: 'failure' };
const RETRYING: Said = { kind: 'retrying' };

/** Event types of agents at work, of all agents: answers, tools, progress. */
const AT_WORK =
  /^(?:user|assistant|system|message|text|thinking|reasoning|init|stream_event|tool.*|assistant\..*|user\..*|item\..*|step_.*|thread\..*|turn\.started|content_block.*|message_.*|session\.(?!error|status).*|hook.*|model\.call_start|token_count|agent_.*|notification|progress|usage|read|write|writing|shell|decision|next|session|response\.(?!failed|incomplete).*|ping|log|info|warning|task_.*|permission.*|compaction.*|plan.*)$/;

/** Event types that say themselves that the run, or its turn, did not end as it should. */
const FAILED_TYPE =
  /error|fail|abort|cancel|interrupt|refus|reject|denied|timed?_?out|crash|exhausted|exceeded/;

/** Says what an event means. `failed`: the answer it came with has a status of failure. */
export function saidBy(document: Document, failed: boolean): Said {
  const row = asRow(document.value);
  if (!row)
    return Array.isArray(document.value) && (failed || document.fields.some((field) => field.key === 'error'))
      ? FAILURE
      : NOTHING;
  const payload = asRow(row['payload']) ?? asRow(row['msg']);
  if (payload && typeof payload['type'] === 'string' && row['error'] === undefined) {
    return saidBy({ ...document, value: payload }, failed);
  }
  const type = typeof row['type'] === 'string' ? row['type'] : '';
  if (row['jsonrpc'] !== undefined || (typeof row['method'] === 'string' && row['params'] !== undefined))
    return saidByRpc(row);
  if (type === 'rate_limit_event') return saidByLimit(asRow(row['rate_limit_info']) ?? row);
  if (type === 'limit') return saidByLimit(row);
  if (type === 'result') return saidByResult(row);
  if (/retry/.test(type) || row['subtype'] === 'api_retry' || type === 'model.call_failure') return RETRYING;
  if (type === 'session.status') return /"type":"retry"/.test(JSON.stringify(row)) ? RETRYING : NOTHING;
  if (
    row['is_api_error_message'] === true ||
    row['isApiErrorMessage'] === true ||
    (type === 'assistant' && typeof row['error'] === 'string')
  )
    return FAILURE;
  if (row['stop_reason'] === 'refusal' || isBlocked(row)) return FAILURE;
  if (endedInError(asRow(row['message'])) || endedInError(row)) return FAILURE;
  if (type === 'turn.completed' || type === 'done') return { kind: 'success', text: textOf(row['result']) };
  if (type !== 'error' && type !== '' && AT_WORK.test(type))
    return failed && hasError(row) ? FAILURE : NOTHING;
  if (typeof row['role'] === 'string') return NOTHING;
  if (type === 'error' || FAILED_TYPE.test(type)) return saidByError(row);
  return failed || hasError(row) ? FAILURE : NOTHING;
}

/** The messages of a failure, folded or as shown, and its codes; and its HTTP status. */
export interface DocumentWords {
  readonly shown: string;
  readonly codes: string;
  readonly status: number | null;
}

const MESSAGE =
  /^(?:message|msg|error|errors|detail|details|description|error_?description|error_?message|raw|result|title|reason|status_?msg|cause|last_?error|statustext|status_?message|err_?msg|error_?msg|response_?body|body|localizedmessage|hint|text|content|output|err|stderr|info|explanation)$/i;
const CODE =
  /^(?:type|code|status|reason|name|error|error_?type|error_?code|err_?code|error_?name|api_?error|api_?error_?type|failure_?kind|terminal_?reason|subtype|stop_?reason|finish_?reason|block_?reason|quota_?id|quota_?limit|quota_?metric|codex_?error_?info|error_?kind|__type|limit_?name|limit_?type|status_?code|ret_?code|category|kind|error_?category|rate_?limit_?type|class)$/i;
const STATUS =
  /^(?:status|status_?code|http_?status(?:_?code)?|api_?error_?status|error_?status|code|error_?code|response_?status)$/i;

/** Gathers from the fields of a failure what the rules read. */
export function documentWords(fields: readonly Field[]): DocumentWords {
  const messages: string[] = [];
  const codes: string[] = [];
  let status: number | null = null;
  for (const { key, value, header } of fields) {
    if (header || value === null || typeof value === 'boolean') continue;
    const text = String(value);
    const number = Number(text);
    if (STATUS.test(key) && status === null && Number.isInteger(number) && number >= 400 && number <= 599)
      status = number;
    const wordy =
      typeof value === 'string' &&
      /\s|[\u3000-\u9fff\uac00-\ud7af\u0400-\u04ff\u0600-\u06ff]/.test(text.trim());
    if (CODE.test(key) && !wordy && text.length <= 160) codes.push(fold(text));
    if (
      MESSAGE.test(key) &&
      typeof value === 'string' &&
      (wordy || /^(?:message|msg|result|detail|title|raw|error_?message|status_?msg)$/i.test(key)) &&
      !(/^\s*[[{]/.test(value) && isJson(value))
    ) {
      if (!messages.includes(text)) messages.push(text);
    }
  }
  return { shown: messages.join('\n'), codes: codes.join('\n'), status };
}

function isJson(text: string): boolean {
  return parse(text.trim()) !== undefined;
}

function saidByResult(row: Row): Said {
  if (typeof row['exitCode'] === 'number')
    return row['exitCode'] === 0 ? { kind: 'success', text: '' } : NOTHING;
  if (row['is_error'] === true || row['status'] === 'error' || row['status'] === 'failed') return FAILURE;
  if (typeof row['subtype'] === 'string' && row['subtype'].startsWith('error')) return FAILURE;
  return { kind: 'success', text: textOf(row['result'] ?? row['response']) };
}

function saidByLimit(info: Row): Said {
  const status = textOf(info['status']);
  const claim = textOf(info['rateLimitType'] ?? info['window']);
  const resetAt = epoch(info['resetsAt']);
  const utilization = typeof info['utilization'] === 'number' ? info['utilization'] : null;
  if (status === 'rejected') {
    const latest = rejectedWindows(info['unifiedWindows']).reduce<number | null>(
      (best, at) => Math.max(best ?? 0, at),
      resetAt,
    );
    return { kind: 'limit', window: windowOf(claim), model: modelOf(claim), resetAt: latest };
  }
  if (/warning/.test(status))
    return { kind: 'near', near: { utilization, window: claim === '' ? null : windowOf(claim), resetAt } };
  return NOTHING;
}

function rejectedWindows(windows: unknown): readonly number[] {
  const row = asRow(windows);
  if (!row) return [];
  return Object.entries(row).flatMap(([name, window]) => {
    const entry = asRow(window);
    const at = entry?.['status'] === 'rejected' && !/overage/.test(name) ? epoch(entry['resetsAt']) : null;
    return at === null ? [] : [at];
  });
}

function saidByRpc(row: Row): Said {
  const params = asRow(row['params']);
  if (params && typeof row['method'] === 'string') {
    const turn = asRow(params['turn']);
    if (turn && turn['status'] === 'failed') return FAILURE;
    if (turn && turn['status'] === 'completed') return { kind: 'success', text: '' };
    return /error|fail/i.test(row['method']) ? saidByError(params) : NOTHING;
  }
  if (row['error'] !== undefined && row['error'] !== null) return FAILURE;
  const stop = asRow(row['result'])?.['stopReason'];
  if (stop === 'refusal' || stop === 'cancelled' || stop === 'max_turn_requests') return FAILURE;
  return stop === undefined ? NOTHING : { kind: 'success', text: '' };
}

function saidByError(row: Row): Said {
  if (row['severity'] === 'warning' || row['level'] === 'warning' || row['willRetry'] === true)
    return NOTHING;
  const message = textOf(row['message'] ?? asRow(row['error'])?.['message']);
  return /^\s*(?:reconnecting|retrying)/i.test(message) ? RETRYING : FAILURE;
}

function hasError(row: Row, depth = 0): boolean {
  if (row['error'] !== undefined && row['error'] !== null && row['error'] !== false && row['error'] !== '')
    return true;
  if (Array.isArray(row['errors']) && row['errors'].length > 0) return true;
  const status = Number(row['status'] ?? row['statusCode'] ?? row['status_code'] ?? row['code']);
  if (status >= 400 && status <= 599) return true;
  if (typeof row['name'] === 'string' && /(?:Error|Exception)$/.test(row['name'])) return true;
  const base = asRow(row['base_resp']);
  if (base && Number(base['status_code'] ?? 0) !== 0) return true;
  if (
    row['success'] === false ||
    row['reason'] === 'error' ||
    row['status'] === 'error' ||
    row['level'] === 'error'
  )
    return true;
  if (row['error_code'] !== undefined || row['error_msg'] !== undefined || row['__type'] !== undefined)
    return true;
  const words = row['message'] ?? row['msg'] ?? row['Message'];
  const code = row['code'] ?? row['Code'] ?? row['errcode'] ?? row['ret_code'];
  // A code beside words is a failure, unless it is one of the numbers for "all is well".
  if (typeof words === 'string' && isFailureCode(code)) return true;
  // An envelope: `{ "Response": { "Error": { … } } }`
  return (
    depth < 2 &&
    ['Response', 'response', 'header', 'Error', 'result', 'data', 'output'].some((key) => {
      const inner = asRow(row[key]);
      return inner !== null && hasError(inner, depth + 1);
    })
  );
}

function isFailureCode(code: unknown): boolean {
  if (typeof code === 'number') return code !== 0 && code !== 1 && !(code >= 200 && code < 300);
  return typeof code === 'string' && code !== '' && !/^(?:0+|ok|success|200)$/i.test(code);
}

/** An answer that says itself that it broke off. */
function endedInError(row: Row | null): boolean {
  const reason =
    row?.['stopReason'] ?? row?.['stop_reason'] ?? row?.['finish_reason'] ?? row?.['finishReason'];
  return reason === 'error' || (reason === 'aborted' && typeof row?.['errorMessage'] === 'string');
}

/** An answer that a filter took away, in the ways of the chat APIs. */
function isBlocked(row: Row): boolean {
  const first = (list: unknown): Row | null => (Array.isArray(list) ? asRow(list[0]) : null);
  const reason =
    asRow(row['promptFeedback'])?.['blockReason'] ??
    first(row['choices'])?.['finish_reason'] ??
    first(row['candidates'])?.['finishReason'];
  return typeof reason === 'string' && BLOCKED.test(reason);
}

const BLOCKED =
  /^(?:content_?filter|safety|prohibited_content|blocklist|recitation|spii|image_safety|other)$/i;

function epoch(value: unknown): number | null {
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number) || number <= 0) return null;
  return number > 1e11 ? number : number * 1000;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function asRow(value: unknown): Row | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : null;
}
