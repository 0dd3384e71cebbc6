import { execFile } from 'node:child_process';
import { constants, readdirSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { errorCode } from '../fsCalls.js';
import { bootId, readText, statFields } from './identity.js';

const run = promisify(execFile);

export interface ProcessEntry {
  readonly pid: number;
  readonly ppid: number;
  readonly group: number;
  /** 0 where the system does not tell. */
  readonly session: number;
  readonly startTime: string;
}

export interface Carriers {
  /** Nonce by pid. */
  readonly found: ReadonlyMap<number, string>;
  /** Some came or went during the look: one that hands itself on may have been missed. */
  readonly moving: boolean;
}

/** All living processes; zombies are none. */
export async function listProcesses(): Promise<readonly ProcessEntry[]> {
  if (process.platform === 'linux') return listLinux();
  if (process.platform === 'win32') return [];
  const { stdout } = await run('ps', ['-axo', 'pid=,ppid=,pgid=,state=,lstart='], {
    env: { ...process.env, LC_ALL: 'C' },
    maxBuffer: 64 * 1024 * 1024,
  }).catch(() => ({ stdout: '' }));
  return stdout.split('\n').flatMap((line): ProcessEntry[] => {
    const [pid, ppid, group, state, ...born] = line.trim().split(/\s+/);
    if (pid === undefined || state === undefined || state.startsWith('Z')) return [];
    return [
      { pid: Number(pid), ppid: Number(ppid), group: Number(group), session: 0, startTime: born.join(' ') },
    ];
  });
}

/**
 * Which of these processes carry one of the nonces in the environment they were started with, or, where they have
 * thrown that away, print to the log of such an attempt. Only processes of this
 * user can be looked into; others cannot be children of ours.
 */
export async function nonceCarriers(
  entries: readonly ProcessEntry[],
  nonces: ReadonlySet<string>,
): Promise<Carriers> {
  const found = new Map<number, string>();
  let moving = false;
  if (nonces.size === 0) return { found, moving };
  if (process.platform === 'linux') {
    for (let start = 0; start < entries.length; start += 64)
      await Promise.all(
        entries.slice(start, start + 64).map(async ({ pid, ppid }) => {
          const environment = await readEnvironment(pid);
          // Kernel threads have none; another's is empty while it becomes another program.
          if (environment === null || (environment === '' && pid !== 2 && ppid !== 2)) moving = true;
          const nonce =
            nonceIn((environment ?? '').split('\0'), nonces) ??
            ((environment ?? '').trim() === '' ? null : await nonceOfOutput(pid, nonces));
          if (nonce !== null) found.set(pid, nonce);
        }),
      );
    return { found, moving };
  }
  const { stdout } = await run('ps', ['-axEww', '-o', 'pid=,command='], {
    maxBuffer: 256 * 1024 * 1024,
  }).catch(() => ({ stdout: '' }));
  for (const line of stdout.split('\n')) {
    const nonce = nonceIn(line.split(' '), nonces);
    if (nonce !== null) found.set(Number.parseInt(line, 10), nonce);
  }
  return { found, moving };
}

/** Null: it has gone meanwhile. A blank where it may not be read. */
async function readEnvironment(pid: number): Promise<string | null> {
  try {
    return await fs.readFile(`/proc/${pid}/environ`, 'latin1');
  } catch (error) {
    const code = errorCode(error);
    return code === 'EACCES' || code === 'EPERM' ? ' ' : null;
  }
}

/**
 * The nonce of the attempt whose log is this process's output. Only the runner hands a log on for appending; whoever
 * reads one has opened it in another way.
 */
async function nonceOfOutput(pid: number, nonces: ReadonlySet<string>): Promise<string | null> {
  for (const fd of [1, 2]) {
    const file = await fs.readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
    if (!/\/(?:stdout|stderr)\.log$/.test(file)) continue;
    const info = await fs.readFile(`/proc/${pid}/fdinfo/${fd}`, 'latin1').catch(() => '');
    const flags = Number.parseInt(/^flags:\s*([0-7]+)/m.exec(info)?.[1] ?? '0', 8);
    if ((flags & appending) !== appending) continue;
    const claim = await fs.readFile(path.join(path.dirname(file), 'claim'), 'latin1').catch(() => '');
    const nonce = claim.split('\n')[1] ?? '';
    if (nonces.has(nonce)) return nonce;
  }
  return null;
}

const appending = constants.O_APPEND | constants.O_WRONLY;

function nonceIn(words: readonly string[], nonces: ReadonlySet<string>): string | null {
  for (const word of words) {
    if (!word.startsWith('SWARM_NONCE=')) continue;
    const nonce = word.slice('SWARM_NONCE='.length);
    if (nonces.has(nonce)) return nonce;
  }
  return null;
}

function listLinux(): readonly ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  const boot = bootId.slice(0, 8);
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statFields(readText(`/proc/${name}/stat`));
    if (fields === null || fields.state === 'Z' || fields.state === 'X') continue;
    const { ppid, group, session, startTime } = fields;
    entries.push({ pid: Number(name), ppid, group, session, startTime: `${startTime}@${boot}` });
  }
  return entries;
}
