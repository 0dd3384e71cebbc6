import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { until } from '../support/attempts.js';
import { cli } from '../cli/stage.js';
import { createWorld, type World } from '../process/support/world.js';

const library = ['x86_64-linux-gnu', 'aarch64-linux-gnu', '.']
  .map((folder) => path.join('/usr/lib', folder, 'faketime', 'libfaketime.so.1'))
  .find((file) => existsSync(file));

let world: World;
afterEach(() => world.clean());

/** Meets a limit that resets in an hour; writes down when it was started, by its own clock. */
const agent = `
const fs = require('node:fs');
const [memory] = process.argv.slice(2);
fs.appendFileSync(memory + '/starts.log', process.env.SWARM_ATTEMPT + '\\n');
if (process.env.SWARM_ATTEMPT === '1') {
  const resetsAt = Math.floor(Date.now() / 1000) + 3600;
  fs.writeFileSync(memory + '/limited', '');
  console.log(JSON.stringify({ type: 'limit', status: 'rejected', resetsAt, window: 'five_hour' }));
  process.exit(1);
}
console.log(JSON.stringify({ type: 'done', result: 'made it' }));
`;

it('a real clock that jumps over a reset resumes the child once, within seconds, and not before', async () => {
  world = createWorld();
  if (library === undefined)
    throw new Error('libfaketime is absent, so no clock was turned: apt-get install faketime');
  const clock = world.write('clock', '+0\n');
  const script = world.write('agent.cjs', agent);
  const manifest = world.write(
    'wait.json',
    JSON.stringify({
      version: 1,
      executor: 'mine',
      executors: { mine: { adapter: 'command', command: [process.execPath, script, world.memory] } },
      check: null,
      tasks: [{ id: 'a', prompt: 'wait' }],
    }),
  );
  const child = spawn(process.execPath, [cli, '-C', world.repository, 'run', manifest, '--json'], {
    env: {
      ...{ PATH: process.env['PATH'], HOME: world.root, XDG_CONFIG_HOME: world.root },
      ...{ LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_NO_CACHE: '1' },
      // As where a clock is set: what measures spans goes on as before.
      ...{ FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const starts = (): string[] =>
    readFileSync(path.join(world.memory, 'starts.log'), 'utf8').trim().split('\n');
  await until(() => out.includes('"status":"paused"'));
  // Back by a day, and forward to just before the reset: nothing moves.
  for (const jump of ['-1d', '+3500']) {
    writeFileSync(clock, `${jump}\n`);
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    expect(starts()).toEqual(['1']);
  }
  const jumped = performance.now();
  writeFileSync(clock, '+3700\n');
  expect(await ended).toBe(0);
  expect(performance.now() - jumped).toBeLessThan(10_000);
  expect(starts()).toEqual(['1', '2']);
});
