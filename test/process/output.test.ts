import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProcesses } from '../../src/supervisor/node/processes/index.js';
import { followToEnd, startShell } from '../support/attempts.js';
import { expectBounded } from '../support/muchOutput.js';
import { temporary } from '../support/storeFixtures.js';

const processes = createProcesses();

describe('much output', () => {
  it('of one child passes in bounded memory, and its middle is given back to the disk', async () => {
    await expectBounded(processes, 256 * 1024 * 1024);
  });

  it('in a line of 100 MB is one cut line, and the next one is whole', async () => {
    const { request, process } = await startShell(
      processes,
      "head -c 100000000 /dev/zero | tr '\\0' x; echo; echo next",
    );
    const { lines } = await followToEnd(processes, { folder: request.folder, process });
    expect(lines.map(({ text, end, cut }) => [text.length, end, cut])).toEqual([
      [262_144, 100_000_001, true],
      [4, 100_000_006, false],
    ]);
    fs.rmSync(path.join(request.folder, 'stdout.log'));
  });

  it('of a hundred children at once arrives whole, in order, within a quarter of a second', async () => {
    const folder = temporary();
    const children = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        startShell(processes, 'for i in 1 2 3 4 5; do date +%s%N; sleep 0.3; done', {
          folder: path.join(folder, String(index)),
        }),
      ),
    );
    const delays: number[] = [];
    const ends = children.map(({ request, process }) => {
      let seen = 0;
      const follower = processes.follow({
        folder: request.folder,
        process,
        stdout: 0,
        stderr: 0,
        onLines: (lines) => {
          seen += lines.length;
          // The first ones were there before the follower.
          if (seen > 5 / 2) delays.push(Date.now() - Number(lines.at(-1)?.text) / 1e6);
        },
      });
      return follower.exited.then((end) => ({ end, seen }));
    });
    for (const one of await Promise.all(ends))
      expect(one).toEqual({ end: { kind: 'ended', code: 0, signal: null }, seen: 5 });
    delays.sort((a, b) => a - b);
    console.log(
      `delay of a line: median ${delays[delays.length >> 1]} ms, p95 ${delays[Math.floor(delays.length * 0.95)]} ms`,
    );
    expect(delays[delays.length >> 1]).toBeLessThan(250);
  });
});
