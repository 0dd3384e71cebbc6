import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startTimeOf } from '../../../src/supervisor/node/processes/identity.js';
import { Followers } from '../../../src/supervisor/node/processes/follow.js';

describe('an attempt that has talked without a pause', () => {
  let folder = '';
  let said = 0;
  const heard: string[] = [];
  let endedAfter: number | null = null;

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'swarm-follow-'));
    said = 0;
    heard.length = 0;
    endedAfter = null;
    const startTime = (await startTimeOf(process.pid)) ?? '';
    const { exited } = new Followers().follow({
      folder,
      process: { pid: process.pid, startTime, nonce: 'n' },
      stdout: 0,
      stderr: 0,
      onLines: (lines) => heard.push(...lines.map((line) => line.text)),
    });
    void exited.then(({ kind }) => {
      expect(kind).toBe('ended');
      endedAfter = performance.now();
    });
    await talk(3000);
  });

  afterEach(() => {
    vi.useRealTimers();
    fs.rmSync(folder, { recursive: true });
  });

  /** A line each 50 ms. */
  async function talk(span: number): Promise<void> {
    for (let passed = 0; passed < span && endedAfter === null; passed += 50) {
      fs.appendFileSync(path.join(folder, 'stdout.log'), `line ${said++}\n`);
      await vi.advanceTimersByTimeAsync(50);
    }
  }

  function end(): number {
    fs.writeFileSync(path.join(folder, 'exit.json'), '{"code":0}');
    return performance.now();
  }

  function allSaid(): readonly string[] {
    return Array.from({ length: said }, (_, n) => `line ${n}`);
  }

  it('is found to have ended as soon as it is silent, with all that it said', async () => {
    fs.appendFileSync(path.join(folder, 'stdout.log'), `line ${said++}\n`);
    const at = end();
    await vi.advanceTimersByTimeAsync(1000);
    expect((endedAfter ?? Infinity) - at).toBeLessThanOrEqual(250);
    expect(heard).toEqual(allSaid());
  });

  it('is found to have ended although what it left behind talks on', async () => {
    const at = end();
    await talk(3000);
    expect((endedAfter ?? Infinity) - at).toBeLessThanOrEqual(1250);
    expect(heard).toEqual(allSaid());
  });
});
