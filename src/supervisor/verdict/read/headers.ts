import type { LimitWindow } from '../../../protocol/verdict.js';
import type { MomentContext } from '../time/moments.js';
import type { Field } from './fields.js';
import { timeOf } from './times.js';

/** What the headers of an answer say about a limit. */
export interface HeaderReading {
  /** A subscription window is rejected: a usage limit whatever the body says. */
  readonly rejected: boolean;
  readonly window: LimitWindow | null;
  readonly model: string | null;
  /** Epoch milliseconds, not rounded. */
  readonly resetAt: number | null;
  /** The header that decided. */
  readonly found: string;
  /** Bucket of a minute or the like that is used up. */
  readonly bucket: boolean;
  /** Error type of the gateway, lower case; empty if none. */
  readonly code: string;
}

const NO_HEADERS: HeaderReading = {
  rejected: false,
  window: null,
  model: null,
  resetAt: null,
  found: '',
  bucket: false,
  code: '',
};

/** Reads the headers of an answer: the rejected windows first, then used-up buckets, then retry-after. */
export function readHeaders(given: Readonly<Record<string, string>>, context: MomentContext): HeaderReading {
  if (Object.keys(given).length === 0) return NO_HEADERS;
  const headers = new Map(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value.trim()]));
  const time = (name: string, length: boolean): number | null => {
    const value = headers.get(name);
    return value === undefined || value === ''
      ? null
      : timeOf(name.replace(/-/g, '_'), value, length, context);
  };
  const code =
    (headers.get('x-amzn-errortype') ?? headers.get('x-error-code') ?? '').split(':')[0]?.toLowerCase() ?? '';
  const retryAfter =
    time('retry-after-ms', true) ?? time('x-ms-retry-after-ms', true) ?? time('retry-after', true);
  const windows = [...unifiedWindows(headers, time), ...codexWindows(headers, time)];
  const rejected = windows.length > 0 || headers.get('anthropic-ratelimit-unified-status') === 'rejected';
  if (rejected) {
    const stated = windows.filter((window) => window.at !== null);
    const latest = stated.reduce<Window | null>(
      (best, window) => (best === null || (window.at ?? 0) > (best.at ?? 0) ? window : best),
      null,
    );
    const unified = time('anthropic-ratelimit-unified-reset', false);
    const claim = headers.get('anthropic-ratelimit-unified-representative-claim') ?? '';
    return {
      rejected,
      window: latest?.window ?? windows[0]?.window ?? windowOf(claim),
      model: latest?.model ?? windows[0]?.model ?? modelOf(claim),
      resetAt: latest?.at ?? unified ?? retryAfter,
      found: latest?.name ?? windows[0]?.name ?? 'anthropic-ratelimit-unified-status',
      bucket: false,
      code,
    };
  }
  const buckets = usedUpBuckets(headers, time);
  const latest = buckets.reduce<{ name: string; at: number } | null>(
    (best, bucket) => (best === null || bucket.at > best.at ? bucket : best),
    null,
  );
  const general = retryAfter ?? latest?.at ?? generalReset(headers, time, context.observedAt);
  const resetAt = retryAfter !== null && latest !== null ? Math.max(retryAfter, latest.at) : general;
  return {
    rejected: false,
    window: null,
    model: null,
    resetAt,
    found: latest?.name ?? (retryAfter !== null ? 'retry-after' : 'ratelimit-reset'),
    bucket: latest !== null,
    code,
  };
}

/** The headers that a structured text carries inside. */
export function headersOf(fields: readonly Field[]): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const { key, value, header } of fields) {
    if (header && value !== null) headers[key] = String(value);
  }
  return headers;
}

type Time = (name: string, length: boolean) => number | null;
interface Window {
  readonly name: string;
  readonly at: number | null;
  readonly window: LimitWindow;
  readonly model: string | null;
}

function unifiedWindows(headers: ReadonlyMap<string, string>, time: Time): readonly Window[] {
  const found: Window[] = [];
  for (const [name, value] of headers) {
    const claim = /^anthropic-ratelimit-unified-(.+)-status$/.exec(name)?.[1];
    if (claim === undefined || value !== 'rejected' || claim.startsWith('overage')) continue;
    found.push({
      name,
      at: time(`anthropic-ratelimit-unified-${claim}-reset`, false),
      window: windowOf(claim),
      model: modelOf(claim),
    });
  }
  return found;
}

function codexWindows(headers: ReadonlyMap<string, string>, time: Time): readonly Window[] {
  return (['primary', 'secondary'] as const).flatMap((slot): Window[] => {
    const used = Number(headers.get(`x-codex-${slot}-used-percent`) ?? 0);
    const at = time(`x-codex-${slot}-reset-at`, false) ?? time(`x-codex-${slot}-reset-after-seconds`, true);
    if (!(used >= 100)) return [];
    return [
      {
        name: `x-codex-${slot}-reset-at`,
        at,
        window: windowOfMinutes(Number(headers.get(`x-codex-${slot}-window-minutes`) ?? 0)),
        model: null,
      },
    ];
  });
}

function usedUpBuckets(
  headers: ReadonlyMap<string, string>,
  time: Time,
): readonly { name: string; at: number }[] {
  const found: { name: string; at: number }[] = [];
  for (const [name, value] of headers) {
    const match = /^(.*)remaining(.*)$/.exec(name);
    if (!match || Number(value) > 0 || value === '') continue;
    const reset = `${match[1] ?? ''}reset${match[2] ?? ''}`;
    const at = time(reset, false);
    if (at !== null) found.push({ name: reset, at });
  }
  return found;
}

const GENERAL = [
  'x-ratelimit-reset',
  'ratelimit-reset',
  'x-rate-limit-reset',
  'x-ratelimit-reset-after',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
  'x-retry-after',
  'anthropic-ratelimit-unified-reset',
];

function generalReset(headers: ReadonlyMap<string, string>, time: Time, observedAt: number): number | null {
  // RFC draft: `ratelimit: "default";r=0;t=50`
  const field = /(?:^|[;,\s])(?:t|reset)=(\d{1,9})/.exec(headers.get('ratelimit') ?? '')?.[1];
  if (field !== undefined) return observedAt + Number(field) * 1000;
  for (const name of GENERAL) {
    const remaining = headers.get(name.replace('reset', 'remaining'));
    const at = remaining !== undefined && Number(remaining) > 0 ? null : time(name, name.endsWith('after'));
    if (at !== null) return at;
  }
  return null;
}

/** The window of a claim: `five_hour`, `7d`, `seven_day_opus`. */
export function windowOf(claim: string): LimitWindow {
  if (/5h|five_?hour|session/i.test(claim)) return 'five_hour';
  if (/7d|seven_?day|week/i.test(claim)) return 'weekly';
  if (/month|30d|thirty/i.test(claim)) return 'monthly';
  if (/day|24h|1d/i.test(claim)) return 'daily';
  if (/minute|second|rpm|tpm/i.test(claim)) return 'minute';
  return 'unknown';
}

/** The window of a number of minutes, by its length and not by its slot. */
export function windowOfMinutes(minutes: number): LimitWindow {
  if (!(minutes > 0)) return 'unknown';
  if (minutes <= 5) return 'minute';
  if (minutes <= 12 * 60) return 'five_hour';
  if (minutes <= 2 * 1440) return 'daily';
  return minutes <= 14 * 1440 ? 'weekly' : 'monthly';
}

/** The model of a claim such as `seven_day_opus`. */
export function modelOf(claim: string): string | null {
  return /(?:7d|seven_day|five_hour|5h)_(?!overage|oauth)([a-z][\w.-]*)/i.exec(claim)?.[1] ?? null;
}
