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
  const match = head.exec(line.toString('latin1', 0, longestHead));
  if (match === null) return null;
  const [start, n, sum, epoch, t, offset, prev, type = ''] = match;
  const body = line.subarray(start.length, -1);
  if (crc32(body) !== Number(sum)) return null;
  return {
    n: Number(n),
    epoch: Number(epoch),
    t: Number(t),
    offset: Number(offset),
    prev: prev === undefined ? null : Number(prev),
    type,
    body,
  };
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
