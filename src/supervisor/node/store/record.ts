import type { Event, Stamped } from '../../core/event.js';
import { crc32 } from './crc.js';

/** Version of the record's envelope. */
export const recordVersion = 1;

/** One record of the journal, as read: the envelope is checked, the event is not. */
export interface RawRecord {
  readonly n: number;
  readonly epoch: number;
  readonly t: number;
  readonly offset: number;
  /** The number before it, where that is not `n - 1`. */
  readonly prev: number | null;
  readonly event: { readonly type: string; readonly [key: string]: unknown };
}

/** No event may have a field of the envelope's. */
type Clash = Extract<Event extends infer E ? keyof E : never, 'v' | 'epoch' | 't' | 'offset' | 'prev'>;
const noClash: [Clash] extends [never] ? true : Clash = true;
void noClash;

const head = /^\{"n":(\d{1,15}),"c":(\d{1,10}),"e":/;

/** One line with its newline: `{"n":seq,"c":crc32 of the text of e,"e":{v,epoch,t,offset,type,...}}`. */
export function encodeRecord(stamped: Stamped, epoch: number, prev: number): string {
  const { seq, t, offset, event } = stamped;
  const gap = prev === seq - 1 ? {} : { prev };
  const text = JSON.stringify({ v: recordVersion, epoch, t, offset, ...gap, ...event });
  return `{"n":${seq},"c":${crc32(text)},"e":${text}}\n`;
}

/** A line without its newline; null where it is no whole record. Never throws. */
export function decodeRecord(line: Buffer): RawRecord | null {
  const match = head.exec(line.toString('latin1', 0, 40));
  if (match === null || line.at(-1) !== 0x7d) return null;
  const body = line.subarray(match[0].length, -1);
  if (crc32(body) !== Number(match[2])) return null;
  const e = parseObject(body.toString('utf8'));
  if (e === null) return null;
  const { v, epoch, t, offset, prev, ...event } = e;
  const n = Number(match[1]);
  if (v !== recordVersion || !isCount(epoch) || !isInstant(t) || !isInstant(offset)) return null;
  if (prev !== undefined && !isCount(prev)) return null;
  const type = event['type'];
  if (typeof type !== 'string') return null;
  return { n, epoch, t, offset, prev: prev ?? null, event: { ...event, type } };
}

/** The number of a line, without looking at its sum; null where it has none. */
export function numberOf(line: Buffer): number | null {
  const match = head.exec(line.toString('latin1', 0, 40));
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

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isInstant(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
