import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ProcessId } from '../../core/state.js';
import { isSame } from './attemptFiles.js';
import { startTimeOf } from './identity.js';
import { listProcesses, nonceCarriers, type ProcessEntry } from './processTable.js';

const run = promisify(execFile);

const mostRounds = 200;
/** Looks in a row that must find nothing; more while other processes come and go, for then one may have been missed. */
const quietLooks = 2;
const quietLooksMoving = 12;
/** The runner writes down how its agent ended, if it is let. */
const runnerGrace = 1_000;

/**
 * Kills an attempt: its group and session, its descendants, and whatever carries its nonce, round by round until a look
 * finds nothing. Returns how many processes were hit.
 *
 * The runner is spared until the rest is gone, so that it writes down the end. If it is gone itself, or its number has
 * another owner, only the nonce says what belongs to it. Out of reach is what has thrown away its environment, its
 * session, its parent and its output before the first look.
 */
export async function killTree(target: ProcessId): Promise<number> {
  if (process.platform === 'win32') return killWindows(target);
  const hit = new Set<string>();
  const known = new Known();
  for (let round = 0, quiet = 0; round < mostRounds; round++) {
    const { ours, moving } = await look(target, known);
    const found = ours.filter((entry) => !isTarget(entry, target));
    // Stopped first, so that none can start another while the rest is killed.
    for (const entry of found) signal(entry, 'SIGSTOP');
    for (const entry of found) if (signal(entry, 'SIGKILL')) hit.add(keyOf(entry));
    quiet = found.length === 0 ? quiet + 1 : 0;
    if (quiet >= (moving ? quietLooksMoving : quietLooks)) break;
    await delay(quiet > 0 ? 10 : 5);
  }
  for (let waited = 0; waited < runnerGrace && (await isSame(target)); waited += 20) await delay(20);
  if (await isSame(target)) {
    if (signal(target, 'SIGKILL')) hit.add(keyOf(target));
  }
  return hit.size;
}

/** What was seen to belong to the attempt in earlier rounds, so that its children do when it is gone. */
class Known {
  readonly processes = new Set<string>();
  /** Sessions and groups led by a process of the attempt. */
  readonly leaders = new Set<number>();
}

async function look(
  target: ProcessId,
  known: Known,
): Promise<{ readonly ours: readonly ProcessEntry[]; readonly moving: boolean }> {
  const entries = await listProcesses();
  const { found: carriers, moving } = await nonceCarriers(entries, new Set([target.nonce]));
  const alive = new Map(entries.map((entry) => [entry.pid, entry]));
  const ours = new Map<number, ProcessEntry>();
  const add = (entry: ProcessEntry): void => {
    if (entry.pid <= 1 || entry.pid === process.pid || ours.has(entry.pid)) return;
    ours.set(entry.pid, entry);
  };
  for (const entry of entries)
    if (
      isTarget(entry, target) ||
      carriers.has(entry.pid) ||
      known.processes.has(keyOf(entry)) ||
      // A number stays taken while a session or group of that name lives: these are still the same.
      (known.leaders.has(entry.session) && !isStranger(alive.get(entry.session), known)) ||
      (known.leaders.has(entry.group) && !isStranger(alive.get(entry.group), known))
    )
      add(entry);
  addRelatives(entries, ours, add);
  for (const entry of ours.values()) {
    known.processes.add(keyOf(entry));
    if (entry.pid === entry.session || entry.pid === entry.group) known.leaders.add(entry.pid);
  }
  return { ours: [...ours.values()], moving };
}

/** Children, and members of the sessions and groups that ours lead, until there are no more. */
function addRelatives(
  entries: readonly ProcessEntry[],
  ours: ReadonlyMap<number, ProcessEntry>,
  add: (entry: ProcessEntry) => void,
): void {
  for (let before = -1; before !== ours.size;) {
    before = ours.size;
    for (const entry of entries)
      if (ours.has(entry.ppid) || ours.has(entry.session) || ours.has(entry.group)) add(entry);
  }
}

function isTarget(entry: ProcessEntry, target: ProcessId): boolean {
  return entry.pid === target.pid && entry.startTime === target.startTime;
}

/** The number of a leader we knew belongs to someone else now. */
function isStranger(leader: ProcessEntry | undefined, known: Known): boolean {
  return leader !== undefined && !known.processes.has(keyOf(leader));
}

function keyOf(entry: { readonly pid: number; readonly startTime: string }): string {
  return `${entry.pid} ${entry.startTime}`;
}

function signal(entry: { readonly pid: number }, name: 'SIGSTOP' | 'SIGKILL'): boolean {
  try {
    return process.kill(entry.pid, name);
  } catch {
    return false;
  }
}

async function killWindows(target: ProcessId): Promise<number> {
  if ((await startTimeOf(target.pid)) !== target.startTime) return 0;
  const done = await run('taskkill', ['/T', '/F', '/PID', String(target.pid)]).then(
    () => true,
    () => false,
  );
  return done ? 1 : 0;
}
