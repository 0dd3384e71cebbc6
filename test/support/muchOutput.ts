import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import type { Processes } from '../../src/supervisor/ports.js';
import { startShell, until } from './attempts.js';

const mebibyte = 1024 * 1024;

/** One child prints so many bytes; what is kept of them in memory and on the disk is bounded. */
export async function expectBounded(processes: Processes, size: number): Promise<{ rss: number }> {
  const { request, process } = await startShell(
    processes,
    `yes 'a line of some length, as an agent prints it when it is in a loop' | head -c ${size}; echo; echo end`,
  );
  let lines = 0;
  let last = '';
  let most = 0;
  const { exited } = processes.follow({
    folder: request.folder,
    process,
    stdout: 0,
    stderr: 0,
    onLines: (more) => {
      lines += more.length;
      last = more.at(-1)?.text ?? last;
      most = Math.max(most, globalThis.process.memoryUsage().rss);
    },
  });
  const before = globalThis.process.memoryUsage().rss;
  expect(await exited).toEqual({ kind: 'ended', code: 0, signal: null });
  expect(last).toBe('end');
  expect(lines).toBeGreaterThan(size / 70);
  expect(most - before).toBeLessThan(200 * mebibyte);
  const log = path.join(request.folder, 'stdout.log');
  await until(() => fs.statSync(log).blocks * 512 < 128 * mebibyte);
  expect(fs.statSync(log).size).toBeGreaterThan(size);
  fs.rmSync(log);
  return { rss: most - before };
}
