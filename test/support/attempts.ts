import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { FollowedLine, Processes, StartOutcome, StartRequest } from '../../src/supervisor/ports.js';
import type { ProcessId } from '../../src/supervisor/core/state.js';
import { temporary } from './storeFixtures.js';

let count = 0;

/** A request that runs a shell text, as an agent's program would be run. */
export function shellAttempt(text: string, changes: Partial<StartRequest> = {}): StartRequest {
  const folder = changes.folder ?? path.join(temporary(), 'attempt');
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  return {
    folder,
    file: '/bin/sh',
    args: ['-c', text],
    env: { PATH: process.env['PATH'] ?? '' },
    cwd: folder,
    stdin: null,
    nonce: `test-${process.pid}-${++count}-${Math.random().toString(36).slice(2)}`,
    ...changes,
  };
}

export async function startShell(
  processes: Processes,
  text: string,
  changes: Partial<StartRequest> = {},
): Promise<{ readonly request: StartRequest; readonly process: ProcessId }> {
  const request = shellAttempt(text, changes);
  return { request, process: started(await processes.start(request)) };
}

export function started(outcome: StartOutcome): ProcessId {
  if (outcome.kind !== 'started') throw new Error(JSON.stringify(outcome));
  return outcome.process;
}

/** Follows an attempt to its end and returns all that was passed on. */
export async function followToEnd(
  processes: Processes,
  request: { readonly folder: string; readonly process: ProcessId | null },
  from = { stdout: 0, stderr: 0 },
): Promise<{ readonly lines: readonly FollowedLine[]; readonly end: unknown }> {
  const lines: FollowedLine[] = [];
  const { exited } = processes.follow({
    folder: request.folder,
    process: request.process,
    ...from,
    onLines: (more) => lines.push(...more),
  });
  return { end: await exited, lines };
}

/** Waits for a condition; the test's own timeout is its limit. */
export async function until<T>(look: () => T | Promise<T>, every = 20): Promise<NonNullable<T>> {
  for (;;) {
    const seen = await look();
    if (seen !== false && seen !== null && seen !== undefined) return seen;
    await delay(every);
  }
}

/** Whether a process with this pid is there and is no zombie. */
export function isRunning(pid: number): boolean {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/\) [ZX] /.test(stat);
  } catch {
    return false;
  }
}

/** The pid that a process has written to a file, once it has. */
export function pidIn(file: string): Promise<number> {
  return until(() => {
    const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
    return text.endsWith('\n') ? Number(text) : null;
  });
}
