import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { createProcesses } from '../../src/supervisor/node/processes/index.js';
import { createWorld, viewWhere, type World } from './support/world.js';

let bundle = '';
let world: World;

beforeAll(async () => {
  const built = await build({
    entryPoints: ['test/process/support/ownerMain.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    write: false,
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  bundle = built.outputFiles[0]?.text ?? '';
});
afterEach(() => world.clean());

/** Slow enough to be met in the middle; remembers each start, and its session over attempts. */
const slowAgent = `
import fs from 'node:fs';
import path from 'node:path';
const say = (line) => fs.writeSync(1, JSON.stringify(line) + '\\n');
const { SWARM_CHILD, SWARM_ATTEMPT, SWARM_SESSION, TEST_MEMORY } = process.env;
fs.appendFileSync(path.join(TEST_MEMORY, 'starts.log'), SWARM_CHILD + SWARM_ATTEMPT + '\\n');
say({ type: 'session', id: SWARM_SESSION ?? 'session-' + SWARM_CHILD });
for (let step = 1; step <= 6; step++) {
  await new Promise((resolve) => setTimeout(resolve, 250));
  fs.writeFileSync(SWARM_CHILD + '.txt', 'step ' + step + '\\n');
  say({ type: 'write', path: SWARM_CHILD + '.txt' });
}
fs.appendFileSync(path.join(TEST_MEMORY, 'ends.log'), SWARM_CHILD + '\\n');
say({ type: 'done', result: 'made it' });
`;

function startOwner(target: World, script: string, manifest?: string): ChildProcess {
  const args = [script, target.repository, target.root, target.memory];
  return spawn(process.execPath, manifest === undefined ? args : [...args, manifest], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Resolves when the owner has printed a line that fulfils the condition. */
function lineWhere(owner: ChildProcess, condition: (line: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    if (owner.stdout === null || owner.stderr === null) throw new Error('no output');
    const errors: string[] = [];
    createInterface({ input: owner.stderr }).on('line', (line) => errors.push(line));
    createInterface({ input: owner.stdout }).on('line', (line) => {
      if (condition(line)) resolve(line);
    });
    owner.on('exit', () => reject(new Error(`the owner has ended: ${errors.join('\n')}`)));
  });
}

test.each([
  ['while it launches', (line: string) => line.startsWith('launched')],
  ['while the first children run', (line: string) => line.includes('a:running')],
  ['when one is done and others run', (line: string) => line.includes('done') && line.includes('running')],
])('killed %s, another owner takes the same agents up: nothing starts twice, all end', async (_, when) => {
  world = createWorld();
  const agent = world.write('agent.mjs', slowAgent);
  const script = world.write('owner.mjs', bundle);
  const manifest = world.write(
    'story.json',
    JSON.stringify({
      version: 1,
      name: 'story',
      executor: 'slow',
      executors: { slow: { adapter: 'command', command: [process.execPath, agent] } },
      maxConcurrent: 2,
      check: null,
      tasks: ['a', 'b', 'c', 'd'].map((id) => ({ id, prompt: `make ${id}` })),
    }),
  );
  const first = startOwner(world, script, manifest);
  await lineWhere(first, when);
  const ended = new Promise((resolve) => first.on('exit', resolve));
  first.kill('SIGKILL');
  await ended;

  const second = await world.open();
  await viewWhere(second, 'all done', (view) => view.batches[0]?.status === 'succeeded', 60_000);
  await second.settled();
  const starts = readFileSync(path.join(world.memory, 'starts.log'), 'utf8').trim().split('\n');
  const ends = readFileSync(path.join(world.memory, 'ends.log'), 'utf8').trim().split('\n');
  // The agents outlive their owner: none was started again.
  expect(starts.sort()).toEqual(['a1', 'b1', 'c1', 'd1']);
  expect(ends.sort()).toEqual(['a', 'b', 'c', 'd']);
  const nonces = ['a', 'b', 'c', 'd'].map((child) => {
    const batch = second.view().batches[0]?.id ?? '';
    const file = path.join(
      world.repository,
      '.swarm/batches',
      batch,
      'children',
      child,
      'attempts/1/command.json',
    );
    return (JSON.parse(readFileSync(file, 'utf8')) as { nonce: string }).nonce;
  });
  expect(await createProcesses().survivors(nonces)).toEqual([]);
  const checkpoint = JSON.parse(
    readFileSync(
      path.join(
        world.repository,
        '.swarm/batches',
        second.view().batches[0]?.id ?? '',
        'children/a/checkpoint.json',
      ),
      'utf8',
    ),
  ) as { written: { path: string; sha256: string }[]; offsets: { stdout: number } };
  expect(checkpoint.written.map((entry) => entry.path)).toEqual(['a.txt']);
  expect(checkpoint.offsets.stdout).toBeGreaterThan(0);
});
