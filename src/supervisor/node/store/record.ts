import type { Event, Stamped } from '../../core/event.js';
import { crc32 } from './crc.js';

/** Version of the record's envelope. */
export const recordVersion = 1;

/** One record of the journal: the sum fits and the envelope is whole. The event in it is not looked at yet. */
export interface RawRecord {
  readonly n: number;
  readonly epoch: number;
  readonly t: number;
  readonly offset: number;
  /** The number before it, where that is not `n - 1`. */
  readonly prev: number | null;
  readonly type: string;
  /** The text of `e`. */
  readonly body: Buffer;
}

/** No event may have a field of the envelope's. */
type Clash = Extract<Event extends infer E ? keyof E : never, 'v' | 'epoch' | 't' | 'offset' | 'prev'>;
const noClash: [Clash] extends [never] ? true : Clash = true;
void noClash;

/** Text before a record's event: it is always written in this order, so that it can be read without the rest. */
const head =
  /^\{"n":(\d{1,15}),"c":(\d{1,10}),"e":(?=\{"v":1,"epoch":(\d{1,12}),"t":(-?\d{1,16}(?:\.\d{1,9})?),"offset":(-?\d{1,6}(?:\.\d{1,9})?),(?:"prev":(\d{1,15}),)?"type":"([^"\\]{1,100})")/;
const longestHead = 300;

/** One line with its newline: `{"n":seq,"c":crc32 of the text of e,"e":{v,epoch,t,offset,type,...}}`. */
export function encodeRecord(stamped: Stamped, epoch: number, prev: number): string {
  const { seq, t, offset, event } = stamped;
  const gap = prev === seq - 1 ? {} : { prev };
  const { type, ...rest } = event;
  const text = JSON.stringify({ v: recordVersion, epoch, t, offset, ...gap, type, ...rest });
  return `{"n":${seq},"c":${crc32(text)},"e":${text}}\n`;
}

/** A line without its newline; null where it is no whole record. Never throws. */
export function decodeRecord(line: Buffer): RawRecord | null {
  if (line[line.length - 1] !== 0x7d) return null;
  const found = usualHead(line) ?? anyHead(line);
  if (found === null) return null;
  const { start, sum, n, epoch, t, offset, prev, type } = found;
  const body = line.subarray(start, -1);
  return crc32(body) === sum ? { n, epoch, t, offset, prev, type, body } : null;
}

interface Head extends Omit<RawRecord, 'body'> {
  /** Where the event's text begins. */
  readonly start: number;
  readonly sum: number;
}

function anyHead(line: Buffer): Head | null {
  const match = head.exec(line.toString('latin1', 0, longestHead));
  if (match === null) return null;
  const [all, n, sum, epoch, t, offset, prev, type = ''] = match;
  return {
    start: all.length,
    sum: Number(sum),
    n: Number(n),
    epoch: Number(epoch),
    t: Number(t),
    offset: Number(offset),
    prev: prev === undefined ? null : Number(prev),
    type,
  };
}

/** A part of what `anyHead` takes, read several times as fast: whole numbers, nothing before it missing. */
function usualHead(line: Buffer): Head | null {
  const cursor = new Cursor(line);
  const n = cursor.word('{"n":') ? cursor.digits(15) : null;
  const sum = n !== null && cursor.word(',"c":') ? cursor.digits(10) : null;
  if (n === null || sum === null || !cursor.word(',"e":')) return null;
  const start = cursor.at;
  const epoch = cursor.word('{"v":1,"epoch":') ? cursor.digits(12) : null;
  const t = epoch !== null && cursor.word(',"t":') ? cursor.digits(15) : null;
  const offset = t !== null && cursor.word(',"offset":') ? cursor.digits(6) : null;
  if (epoch === null || t === null || offset === null || !cursor.word(',"type":"')) return null;
  const type = cursor.letters(100);
  return type === null ? null : { start, sum, n, epoch, t, offset, prev: null, type };
}

class Cursor {
  at = 0;

  constructor(private readonly line: Buffer) {}

  word(text: string): boolean {
    for (let i = 0; i < text.length; i++) if (this.line[this.at + i] !== text.charCodeAt(i)) return false;
    this.at += text.length;
    return true;
  }

  digits(most: number): number | null {
    const from = this.at;
    let value = 0;
    for (;;) {
      const digit = (this.line[this.at] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
      this.at += 1;
    }
    const length = this.at - from;
    return length === 0 || length > most ? null : value;
  }

  /** Letters up to a quote. */
  letters(most: number): string | null {
    const from = this.at;
    for (;;) {
      const letter = (this.line[this.at] ?? 0) | 0x20;
      if (letter < 0x61 || letter > 0x7a) break;
      this.at += 1;
    }
    const length = this.at - from;
    const isWhole = length > 0 && length <= most && this.line[this.at] === 0x22;
    return isWhole ? this.line.toString('latin1', from, this.at) : null;
  }
}

/** The event as it was written, unchecked; null where it is no object. */
export function eventIn(record: RawRecord): Readonly<Record<string, unknown>> | null {
  const e = parseObject(record.body.toString('utf8'));
  if (e === null) return null;
  const { v: _v, epoch: _epoch, t: _t, offset: _offset, prev: _prev, ...event } = e;
  return event;
}

/** The number of a line, without looking at its sum; null where it has none. */
export function numberOf(line: Buffer): number | null {
  const match = /^\{"n":(\d{1,15}),/.exec(line.toString('latin1', 0, 40));
  return match === null ? null : Number(match[1]);
}

/** JSON text of an object; null for all else, however deep or odd. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
