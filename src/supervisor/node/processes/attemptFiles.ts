import { readFileSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { ProcessId } from '../../core/state.js';
import type { Found } from '../../ports.js';
import { linuxStartTime, plainStartTime, startTimeOf } from './identity.js';

type Ended = Extract<Found, { readonly kind: 'ended' }>;

const exitSchema = z.object({
  code: z.number().int().nullable(),
  signal: z.string().max(20).nullable().default(null),
});

/** A runner needs a moment between making its claim and filling it. */
const claimWithin = 1_000;
const longestFile = 64 * 1024;

/** What the files of an attempt and the process table say of it. */
export async function findAttempt(folder: string): Promise<Found> {
  const ended = readExit(folder);
  if (ended !== null) return ended;
  let claim = readClaim(folder);
  for (let waited = 0; claim === 'unfinished' && waited < claimWithin; waited += 50) {
    await delay(50);
    claim = readClaim(folder);
  }
  if (claim === 'none') return { kind: 'never' };
  if (claim !== 'unfinished' && (await isSame(claim))) return { kind: 'alive', process: claim };
  // It may have ended between the two looks, or been killed between the status and its last rename.
  return readExit(folder) ?? readExit(folder, 'exit.tmp') ?? { kind: 'lost' };
}

/** The written end; null while there is none, or where what stands there is not one. */
export function readExit(folder: string, name = 'exit.json'): Ended | null {
  const text = readSmall(path.join(folder, name));
  if (text === null) return null;
  try {
    const parsed = exitSchema.safeParse(JSON.parse(text));
    if (!parsed.success) return null;
    const { code, signal } = parsed.data;
    return { kind: 'ended', code, signal: signal ?? signalOf(code) };
  } catch {
    return null;
  }
}

/** Who has claimed the attempt. */
export function readClaim(folder: string): ProcessId | 'none' | 'unfinished' {
  const text = readSmall(path.join(folder, 'claim'));
  if (text === null) return 'none';
  const [pid, nonce, boot, born, end] = text.split('\n');
  if (end !== 'end' || pid === undefined || nonce === undefined) return 'unfinished';
  const startTime =
    boot === '' || boot === undefined ? plainStartTime(born ?? '') : linuxStartTime(born ?? null, boot);
  if (startTime === null || !/^\d{1,10}$/.test(pid)) return 'unfinished';
  return { pid: Number(pid), startTime, nonce };
}

/** Whether the process is there and is the one that was meant, not another that got its number. */
export async function isSame(process: ProcessId): Promise<boolean> {
  return (await startTimeOf(process.pid)) === process.startTime;
}

/** A shell tells the end by a signal as 128 and its number; some programs end with such a code by themselves. */
function signalOf(code: number | null): string | null {
  if (code === null || code <= 128) return null;
  const usual = [
    'SIGHUP',
    'SIGINT',
    'SIGQUIT',
    'SIGILL',
    'SIGABRT',
    'SIGBUS',
    'SIGFPE',
    'SIGKILL',
    'SIGSEGV',
    'SIGPIPE',
    'SIGTERM',
  ];
  const found = Object.entries(os.constants.signals).find(([, number]) => number === code - 128);
  return found !== undefined && usual.includes(found[0]) ? found[0] : null;
}

function readSmall(file: string): string | null {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats === undefined || !stats.isFile() || stats.size > longestFile) return null;
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
