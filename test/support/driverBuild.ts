import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { bundle } from './bundle.js';
import { temporary } from './storeFixtures.js';

/** Bundles a driver from `test/support/drivers` to a file that plain Node runs. */
export async function buildDriver(name: string): Promise<string> {
  const folder = temporary();
  await bundle({ [name]: path.join(import.meta.dirname, 'drivers', `${name}.ts`) }, folder);
  return path.join(folder, `${name}.mjs`);
}

export interface DriverRun {
  readonly lines: readonly string[];
  readonly code: number | null;
  readonly signal: string | null;
  readonly errors: string;
}

/** Runs a driver to its end, by itself or by force. `fault`: as in `SWARM_FAULT`. */
export async function runDriver(file: string, args: readonly string[], fault = ''): Promise<DriverRun> {
  const child = spawnDriver(file, args, fault);
  let out = '';
  let errors = '';
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    child.once('close', (...end) => resolve(end)),
  );
  return { lines: out.split('\n').slice(0, -1), code, signal, errors };
}

export function spawnDriver(file: string, args: readonly string[], fault = ''): ChildProcess {
  return spawn(process.execPath, [file, ...args], {
    env: { ...process.env, NODE_ENV: 'test', SWARM_FAULT: fault },
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
  });
}
