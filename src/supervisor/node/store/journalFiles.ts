import { constants } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Problem } from '../../../protocol/view.js';
import { entry, messageOf } from '../fsCalls.js';
import { segmentName } from './journal.js';
import { decodeRecord, numberOf, type RawRecord } from './record.js';

/** More than a segment ever holds, with room for one long record; what is beyond is damage. */
const longestSegment = 96 * 1024 * 1024;

export interface Segment {
  readonly number: number;
  readonly file: string;
  /** Lines that are whole records, in the order of the file. */
  readonly lines: readonly { readonly record: RawRecord; readonly bytes: Buffer }[];
  readonly size: number;
  /** Bytes up to the end of the last whole record, if all before it is sound and in order. */
  readonly sound: number;
  /** The last record lacks its newline and is whole all the same. */
  readonly open: boolean;
  /** Something other than a torn tail is wrong; null: nothing. */
  readonly damage: string | null;
}

export interface JournalRead {
  /** Records after `after`, without a hole. */
  readonly records: readonly RawRecord[];
  readonly segments: readonly Segment[];
  readonly skipped: readonly number[];
  /** Number of the last record that can be used, at least `after`. */
  readonly last: number;
  /** Records that are there but cannot be used, for one before them is missing. */
  readonly lost: number;
  /** There is a hole or damage at or before `after`: the snapshot alone knows what was there. */
  readonly needsBase: boolean;
  readonly problems: readonly Problem[];
}

/**
 * Reads the journal, changes nothing. Of doubled records one counts, swapped ones are put in order, late records of a
 * superseded owner do not count; from the first hole on nothing is used.
 */
export async function readJournal(folder: string, after: number): Promise<JournalRead> {
  const problems: Problem[] = [];
  const numbers = await segmentNumbers(folder);
  const first = await firstNeeded(folder, numbers, after);
  const segments: Segment[] = [];
  for (const number of numbers.slice(first)) {
    const file = path.join(folder, segmentName(number));
    const segment = await readSegment(number, file, problems);
    if (segment !== null) segments.push(segment);
  }
  return { ...chain(segments, after, problems), segments, skipped: numbers.slice(0, first), problems };
}

/** Numbers of the segments there are, ascending. Other files are nobody's business here. */
export async function segmentNumbers(folder: string): Promise<readonly number[]> {
  const names = await fs.readdir(folder).catch(() => []);
  return names
    .filter((name) => /^\d{6,9}\.jsonl$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b);
}

/** Index of the first segment that may hold a record after `after`: the last one that begins at or before it. */
async function firstNeeded(folder: string, numbers: readonly number[], after: number): Promise<number> {
  for (let index = numbers.length - 1; index > 0; index--) {
    const number = numbers[index] ?? 0;
    const begin = await firstNumber(path.join(folder, segmentName(number)));
    if (begin !== null && begin <= after + 1) return index;
  }
  return 0;
}

async function firstNumber(file: string): Promise<number | null> {
  const bytes = await readUpTo(file, 64).catch(() => null);
  return bytes === null ? null : numberOf(bytes);
}

async function readSegment(number: number, file: string, problems: Problem[]): Promise<Segment | null> {
  const stats = await entry(file).catch(() => null);
  if (stats === null) return null;
  if (!stats.isFile()) {
    problems.push({ path: file, message: 'This is not a file of its own and was not read.' });
    return { number, file, lines: [], size: 0, sound: 0, open: false, damage: 'not a file' };
  }
  try {
    const bytes = await readUpTo(file, longestSegment);
    return splitSegment(number, file, bytes, stats.size);
  } catch (error) {
    problems.push({ path: file, message: `This could not be read: ${messageOf(error)}` });
    return { number, file, lines: [], size: stats.size, sound: 0, open: false, damage: 'unreadable' };
  }
}

/** @internal Exported for the damage tests. */
export function splitSegment(number: number, file: string, bytes: Buffer, size = bytes.length): Segment {
  const lines: { readonly record: RawRecord; readonly bytes: Buffer }[] = [];
  let damage: string | null = size > bytes.length ? 'longer than a segment can be' : null;
  let sound = 0;
  let previous = 0;
  let open = false;
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(10, start);
    const end = newline === -1 ? bytes.length : newline;
    const line = bytes.subarray(start, end);
    const record = decodeRecord(line);
    if (record !== null) {
      lines.push({ record, bytes: line });
      if (record.n <= previous) damage ??= 'doubled or swapped lines';
      previous = record.n;
      if (damage === null) sound = end;
      open = newline === -1;
    } else if (newline !== -1) {
      damage ??= 'a line that is no whole record';
    }
    if (newline !== -1 && damage === null) sound = end + 1;
    start = end + 1;
  }
  return { number, file, lines, size, sound, open, damage };
}

function chain(
  segments: readonly Segment[],
  after: number,
  problems: Problem[],
): Pick<JournalRead, 'records' | 'last' | 'lost' | 'needsBase'> {
  const all = segments.flatMap((segment) => segment.lines.map((line) => line.record));
  const begin = new Map<number, number>();
  for (const { epoch, n } of all) begin.set(epoch, Math.min(n, begin.get(epoch) ?? Infinity));
  const epochs = [...begin.keys()].sort((a, b) => b - a);
  /** For each epoch the first number that a later owner has written. */
  const limit = new Map<number, number>();
  let lowest = Infinity;
  for (const epoch of epochs) {
    limit.set(epoch, lowest);
    lowest = Math.min(lowest, begin.get(epoch) ?? Infinity);
  }
  const valid = all.filter(({ epoch, n }) => n < (limit.get(epoch) ?? Infinity)).sort((a, b) => a.n - b.n);
  const records: RawRecord[] = [];
  let last = after;
  let lost = 0;
  let needsBase = false;
  let before: number | null = null;
  for (const record of valid) {
    if (record.n === before) continue;
    if (before !== null && record.n <= after && !follows(record, before)) needsBase = true;
    before = record.n;
    if (record.n <= after) continue;
    if (lost === 0 && follows(record, last)) {
      records.push(record);
      last = record.n;
    } else lost += 1;
  }
  const firstValid = valid[0]?.n;
  if (after > 0 && records.length === 0 && (before ?? 0) < after) needsBase = true;
  if (firstValid !== undefined && segments[0]?.damage !== null && firstValid <= after)
    needsBase ||= after > 0;
  for (const { file, damage } of segments)
    if (damage !== null && damage !== 'not a file' && damage !== 'unreadable')
      problems.push({ path: file, message: `This had damage (${damage}). A copy is kept in corrupt/.` });
  if (lost > 0)
    problems.push({
      path: path.dirname(segments[0]?.file ?? ''),
      message: `${lost} events after number ${last} could not be used, for one before them is missing. A copy is kept in corrupt/.`,
    });
  return { records, last, lost, needsBase };
}

function follows(record: RawRecord, last: number): boolean {
  return record.n === last + 1 || (record.prev !== null && record.prev <= last);
}

async function readUpTo(file: string, limit: number): Promise<Buffer> {
  const handle = await fs.open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.alloc(Math.min(size, limit));
    let done = 0;
    while (done < bytes.length) {
      const { bytesRead } = await handle.read(bytes, done, bytes.length - done, done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return bytes.subarray(0, done);
  } finally {
    await handle.close();
  }
}
