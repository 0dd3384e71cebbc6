import { execFile } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import os from 'node:os';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Tells one boot of a machine from the next; empty where the system does not say. */
export const bootId = readText('/proc/sys/kernel/random/boot_id')?.trim() ?? '';

/** Where a pid means the same process: this boot, and this namespace of pids. */
export const machine = `${os.hostname()} ${bootId} ${pidNamespace()}`;

/**
 * When a living process was started, as text to compare; null where there is no such process (a zombie is none).
 * A pid alone names whoever has it now, a pid with this names one process.
 */
export async function startTimeOf(pid: number): Promise<string | null> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  if (process.platform === 'linux') return linuxStartTime(readText(`/proc/${pid}/stat`));
  const [file, args] =
    process.platform === 'win32'
      ? (['powershell', ['-NoProfile', '-Command', `(Get-Process -Id ${pid}).StartTime.Ticks`]] as const)
      : (['ps', ['-o', 'state=,lstart=', '-p', String(pid)]] as const);
  const { stdout } = await run(file, args, { env: { ...process.env, LC_ALL: 'C' } }).catch(() => ({
    stdout: '',
  }));
  return process.platform === 'win32' ? stdout.trim() || null : plainStartTime(stdout);
}

/** From the text of `/proc/<pid>/stat`: ticks since boot, and which boot. */
export function linuxStartTime(stat: string | null, boot = bootId): string | null {
  const fields = statFields(stat);
  if (fields === null || fields.state === 'Z' || fields.state === 'X') return null;
  return `${fields.startTime}@${boot.slice(0, 8)}`;
}

export interface StatFields {
  readonly state: string;
  readonly ppid: number;
  readonly group: number;
  readonly session: number;
  readonly startTime: string;
}

/** The program's name in it may hold blanks and brackets; what counts comes after the last bracket. */
export function statFields(stat: string | null): StatFields | null {
  const after = stat === null ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, ppid, group, session] = after;
  const startTime = after[19];
  if (state === undefined || startTime === undefined) return null;
  return { state, ppid: Number(ppid), group: Number(group), session: Number(session), startTime };
}

/** From `ps -o state=,lstart=`. */
export function plainStartTime(line: string): string | null {
  const [state, ...rest] = line.trim().split(/\s+/);
  if (state === undefined || state === '' || state.startsWith('Z') || rest.length === 0) return null;
  return rest.join(' ');
}

export function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}
