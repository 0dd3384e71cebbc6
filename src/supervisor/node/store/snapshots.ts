import { constants } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Problem, View } from '../../../protocol/view.js';
import type { State } from '../../core/state.js';
import * as calls from '../fsCalls.js';
import { crc32 } from './crc.js';
import { parseObject } from './record.js';
import { parseState } from './stateDoor.js';

/** The newest snapshot; the one before it; and the one that stands for segments that are gone. */
export const snapshotFiles = {
  newest: 'state.json',
  previous: path.join('journal', 'previous.json'),
  base: path.join('journal', 'base.json'),
} as const;

/** A snapshot of the machine. */
export interface Snapshot {
  readonly n: number;
  /** Epoch of the owner that wrote it. */
  readonly epoch: number;
  readonly state: State;
}

const head = /^\{"v":1,"n":(\d{1,15}),"epoch":(\d{1,12}),"c":(\d{1,10}),"state":/;
const longest = 512 * 1024 * 1024;

/** One line, the sum over the text of the state. */
export function encodeSnapshot(state: State, epoch: number): string {
  const text = JSON.stringify(state);
  return `{"v":1,"n":${state.seq},"epoch":${epoch},"c":${crc32(text)},"state":${text}}\n`;
}

/** A snapshot whose sum is right and whose state has not been looked at yet. */
export interface SealedSnapshot extends Omit<Snapshot, 'state'> {
  readonly file: string;
  readonly body: string;
}

/** Null where there is none or it cannot be used; then it says so in `problems`. */
export async function readSnapshot(file: string, problems: Problem[]): Promise<Snapshot | null> {
  const sealed = await readSealed(file, problems);
  return sealed === null ? null : unseal(sealed, problems);
}

/** As `readSnapshot`, at a fraction of the cost. */
export async function readSealed(file: string, problems: Problem[]): Promise<SealedSnapshot | null> {
  const text = await readRegular(file, longest, problems);
  if (text === null) return null;
  const match = head.exec(text.slice(0, 120));
  const body = match === null ? '' : text.slice(match[0].length).replace(/\}\n?$/, '');
  if (match !== null && crc32(body) === Number(match[3]))
    return { file, n: Number(match[1]), epoch: Number(match[2]), body };
  problems.push(damaged(file));
  return null;
}

export function unseal({ file, n, epoch, body }: SealedSnapshot, problems: Problem[]): Snapshot | null {
  const state = parseState(parseObject(body));
  if (state !== null && state.seq === n) return { n, epoch, state };
  problems.push(damaged(file));
  return null;
}

function damaged(file: string): Problem {
  return { path: file, message: 'This snapshot is damaged and was not used.' };
}

const versionSchema = z.object({
  schema: z.number().int(),
  minReader: z.number().int(),
  createdBy: z.string().max(200).default('an unknown version'),
});

/** What this program reads. */
export const schemaVersion = 1;

/** `newer`: only readable as far as it is understood. `damaged`: taken as this version's. */
export async function readVersion(
  file: string,
  problems: Problem[],
): Promise<
  { readonly kind: 'none' | 'ours' | 'damaged' } | { readonly kind: 'newer'; readonly writtenBy: string }
> {
  const text = await readRegular(file, 64 * 1024, problems);
  if (text === null) return { kind: 'none' };
  const parsed = versionSchema.safeParse(parseObject(text));
  if (!parsed.success) {
    problems.push({ path: file, message: 'This is damaged; it was taken as written by this version.' });
    return { kind: 'damaged' };
  }
  return parsed.data.minReader > schemaVersion
    ? { kind: 'newer', writtenBy: parsed.data.createdBy }
    : { kind: 'ours' };
}

const viewSchema = z.looseObject({
  schema: z.literal(1),
  seq: z.number(),
  at: z.string(),
  problems: z.array(z.object({ path: z.string(), message: z.string() })),
  gates: z.array(z.looseObject({ credential: z.string(), state: z.string() })),
  batches: z.array(
    z.looseObject({
      id: z.string(),
      name: z.string(),
      status: z.string(),
      children: z.array(z.looseObject({ id: z.string(), title: z.string(), status: z.string() })),
    }),
  ),
});

/** The last view that was saved: for people only, nothing is decided by it. */
export async function readView(file: string): Promise<View | null> {
  const text = await readRegular(file, longest, []);
  const parsed = viewSchema.safeParse(text === null ? null : parseObject(text));
  return parsed.success ? (parsed.data as unknown as View) : null;
}

/** Text of a regular file of at most so many bytes; null where there is none. */
export async function readRegular(file: string, limit: number, problems: Problem[]): Promise<string | null> {
  try {
    const stats = await calls.entry(file);
    if (stats === null) return null;
    if (!stats.isFile() || stats.size > limit) {
      problems.push({
        path: file,
        message: stats.isFile()
          ? 'This is too large and was not read.'
          : 'This is not a file of its own and was not read.',
      });
      return null;
    }
    const handle = await fs.open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch (error) {
    problems.push({ path: file, message: `This could not be read: ${calls.messageOf(error)}` });
    return null;
  }
}
