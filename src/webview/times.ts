import { t } from './texts.js';

/** Whose clock and habits the texts follow. */
export interface Reader {
  readonly locale: string;
  /** 12 or 24 hour clock; null: by locale. */
  readonly hour12: boolean | null;
  /** IANA name; absent: the machine's zone. */
  readonly zone?: string;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** From this on a wait is a day and a time, and nothing counts down. */
export const countsDownBelow = 48 * hour;

/** `18:30` today, `Mon 09:00` within six days, `7 Dec, 09:00` later or earlier. */
export function instant(at: number, now: number, reader: Reader): string {
  if (sameDay(at, now, reader)) return clock(at, reader);
  if (at > now && at - now < 6 * day) return `${format(at, reader, asWeekday)} ${clock(at, reader)}`;
  return `${format(at, reader, asDate)}, ${clock(at, reader)}`;
}

/** As `instant`, with weekday and date where it is not today: for a hover. */
export function fullInstant(at: number, now: number, reader: Reader): string {
  if (sameDay(at, now, reader)) return clock(at, reader);
  return `${format(at, reader, asWeekdayAndDate)}, ${clock(at, reader)}`;
}

/** Hours and minutes in the reader's zone and clock habit. */
export function clock(at: number, reader: Reader): string {
  return format(at, reader, asTime);
}

/** `1 h 12 min 05 s`, for a strip. `now` at zero, never negative. */
export function longCountdown(until: number, now: number): string {
  const left = secondsLeft(until, now);
  if (left <= 0) return t('time.now');
  const h = Math.floor(left / 3600);
  const m = Math.floor(left / 60) % 60;
  if (h > 0) return t('time.long.h', h, pad(m), pad(left % 60));
  return m > 0 ? t('time.long.m', m, pad(left % 60)) : t('time.long.s', left);
}

/** `1:12:05` or `4:09`, for a row. `now` at zero. */
export function shortCountdown(until: number, now: number): string {
  const left = secondsLeft(until, now);
  if (left <= 0) return t('time.now');
  const h = Math.floor(left / 3600);
  const m = Math.floor(left / 60) % 60;
  return h > 0 ? `${h}:${pad(m)}:${pad(left % 60)}` : `${m}:${pad(left % 60)}`;
}

/** Whole minutes of work: `<1 min`, `33 min`, `1 h 46`. */
export function wholeMinutes(ms: number): string {
  const m = Math.floor(ms / minute);
  if (m < 1) return t('time.mins.under');
  return m < 60 ? t('time.mins.m', m) : t('time.mins.h', Math.floor(m / 60), pad(m % 60));
}

/** How long ago, coarse: `4 s`, `12 min`, `3 h 05`. */
export function age(ms: number): string {
  return ms < minute ? t('time.long.s', Math.max(0, Math.floor(ms / second))) : wholeMinutes(ms);
}

/** `184k`, `1.2M`; small numbers as they are. */
export function tokens(n: number): string {
  if (n < 1000) return String(n);
  if (n < 999_500) return `${Math.round(n / 1000)}k`;
  return `${(n / 1_000_000).toFixed(1)}M`;
}

/** Bytes on the disk: `340 kB`, `12 MB`, `1.4 GB`. */
export function diskSize(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Epoch milliseconds of an ISO text, or null. */
export function epoch(iso: string | null | undefined): number | null {
  if (iso === null || iso === undefined) return null;
  const at = Date.parse(iso);
  return Number.isNaN(at) ? null : at;
}

/** Rounded up, so that a text reaches "now" no earlier than the instant does. */
function secondsLeft(until: number, now: number): number {
  return Math.ceil((until - now) / second);
}

function sameDay(a: number, b: number, reader: Reader): boolean {
  return Math.abs(a - b) < day && format(a, reader, asDay) === format(b, reader, asDay);
}

const asTime = { hour: '2-digit', minute: '2-digit' } as const;
const asDay = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
const asDate = { day: 'numeric', month: 'short' } as const;
const asWeekday = { weekday: 'short' } as const;
const asWeekdayAndDate = { weekday: 'short', day: 'numeric', month: 'short' } as const;

/** A formatter is slow to make and a row asks for several, each second. */
const formatters = new WeakMap<Reader, Map<Intl.DateTimeFormatOptions, Intl.DateTimeFormat>>();

function format(at: number, reader: Reader, options: Intl.DateTimeFormatOptions): string {
  let own = formatters.get(reader);
  if (!own) formatters.set(reader, (own = new Map<Intl.DateTimeFormatOptions, Intl.DateTimeFormat>()));
  let formatter = own.get(options);
  if (!formatter) {
    const { hour12, zone } = reader;
    const cycle =
      hour12 === null || options !== asTime ? {} : ({ hourCycle: hour12 ? 'h12' : 'h23' } as const);
    formatter = new Intl.DateTimeFormat(knownLocale(reader.locale), {
      ...options,
      ...cycle,
      ...(zone === undefined ? {} : { timeZone: zone }),
    });
    own.set(options, formatter);
  }
  return formatter.format(at);
}

function knownLocale(locale: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(locale)[0];
  } catch {
    return undefined;
  }
}

function pad(n: number): string {
  return String(n).padStart(2, '0');
}
