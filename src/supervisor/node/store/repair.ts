import { constants } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import * as calls from '../fsCalls.js';
import type { JournalEnd } from './journal.js';
import type { JournalRead, Segment } from './journalFiles.js';

/**
 * Makes the journal on the disk what was read of it, so that the next reading finds nothing wrong: a torn tail is cut
 * off, a damaged segment is copied to `corrupt/` and written anew with the records that count. Nothing else is touched.
 */
export async function repairJournal(swarm: string, read: JournalRead): Promise<JournalEnd> {
  const folder = path.join(swarm, 'journal');
  let length = 0;
  for (const segment of read.segments) length = await repairSegment(swarm, segment, read.last);
  await calls.syncFolder(folder);
  const number = read.segments.at(-1)?.number ?? (read.skipped.at(-1) ?? 0) + 1;
  return { segment: number, length, last: read.last };
}

/** Sets a file aside: it leaves its place and is kept under `corrupt/` with the time in its name. */
export async function setAside(swarm: string, file: string): Promise<string> {
  const target = await freeName(swarm, file);
  await calls.rename(file, target);
  return target;
}

async function repairSegment(swarm: string, segment: Segment, last: number): Promise<number> {
  const lines = segment.lines.filter(({ record }) => record.n <= last);
  const beyond = lines.length < segment.lines.length;
  if (segment.damage === null && !beyond) return cutTail(segment);
  if (segment.damage === 'not a file' || segment.damage === 'unreadable') {
    await setAside(swarm, segment.file);
    return 0;
  }
  await calls.writeWhole(await freeName(swarm, segment.file), await fs.readFile(segment.file));
  const seen = new Set<number>();
  const kept = lines
    .filter(({ record }) => !seen.has(record.n) && seen.add(record.n))
    .sort((a, b) => a.record.n - b.record.n);
  const bytes = Buffer.concat(kept.flatMap((line) => [line.bytes, Buffer.from('\n')]));
  await calls.writeWhole(segment.file, bytes);
  return bytes.length;
}

async function cutTail(segment: Segment): Promise<number> {
  if (segment.sound === segment.size && !segment.open) return segment.size;
  const handle = await calls.open(segment.file, constants.O_RDWR);
  try {
    await calls.truncate(handle, segment.sound);
    if (segment.open) await calls.writeAt(handle, Buffer.from('\n'), segment.sound);
    await calls.sync(handle);
  } finally {
    await handle.close();
  }
  return segment.sound + (segment.open ? 1 : 0);
}

async function freeName(swarm: string, file: string): Promise<string> {
  const folder = path.join(swarm, 'corrupt');
  await calls.mkdir(folder);
  const stamp = new Date().toISOString().replaceAll(':', '-');
  for (let count = 0; ; count++) {
    const target = path.join(folder, `${path.basename(file)}.${stamp}${count === 0 ? '' : `.${count}`}`);
    if ((await calls.entry(target)) === null) return target;
  }
}
