import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Supervisor } from '../../src/supervisor/api.js';
import { createProcesses } from '../../src/supervisor/node/processes/index.js';
import { createWorld, viewWhere, type World } from './support/world.js';

let world: World;
afterEach(() => world.clean());

/** Runs a tool in a session of its own, as agents do, and does not stop when it is asked. */
const stubborn = `
import fs from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';
const { TEST_MEMORY } = process.env;
process.on('SIGTERM', () => fs.writeFileSync(path.join(TEST_MEMORY, 'asked'), ''));
const tool = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
fs.writeFileSync('work.txt', 'kept');
fs.writeFileSync(path.join(TEST_MEMORY, 'tool'), String(tool.pid));
process.stdout.write(JSON.stringify({ type: 'write', path: 'work.txt' }) + '\\n');
setInterval(() => {}, 1000);
`;

/** Ends at once, and leaves a tool behind that would go on writing. */
const careless = `
import fs from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';
const tool = spawn(process.execPath, ['-e', 'setInterval(() => require("fs").appendFileSync("late.txt", "x"), 50)'], { detached: true, stdio: 'ignore' });
tool.unref();
fs.writeFileSync(path.join(process.env.TEST_MEMORY, 'tool'), String(tool.pid));
process.stdout.write(JSON.stringify({ type: 'done', result: 'ok' }) + '\\n');
`;

async function launchOne(supervisor: Supervisor, script: string): Promise<string> {
  const answer = await supervisor.request({
    type: 'launch',
    manifest: {
      kind: 'json',
      name: 'one.json',
      text: JSON.stringify({
        version: 1,
        executor: 'one',
        executors: { one: { adapter: 'command', command: [process.execPath, script] } },
        check: null,
        tasks: [{ id: 'a', prompt: 'x' }],
      }),
    },
    consent: true,
  });
  if (!answer.ok || answer.batch === undefined) throw new Error(JSON.stringify(answer));
  return answer.batch;
}

function isAlive(pid: number): boolean {
  try {
    return !/^Z/.test(execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).trim());
  } catch {
    return false;
  }
}

async function survivorsOf(batch: string): Promise<readonly unknown[]> {
  const file = path.join(world.repository, '.swarm/batches', batch, 'children/a/attempts/1/command.json');
  return createProcesses().survivors([(JSON.parse(readFileSync(file, 'utf8')) as { nonce: string }).nonce]);
}

test('a child that does not stop when asked is killed with the tools that run in sessions of their own; its work is kept', async () => {
  world = createWorld();
  const script = world.write('stubborn.mjs', stubborn);
  const supervisor = await world.open();
  const batch = await launchOne(supervisor, script);
  await viewWhere(supervisor, 'it works', (view) => view.batches[0]?.children[0]?.files.written === 1);
  const tool = Number(readFileSync(path.join(world.memory, 'tool'), 'utf8'));
  expect(isAlive(tool)).toBe(true);
  expect(await supervisor.request({ type: 'stop', targets: [{ batch, child: 'a' }] })).toEqual({ ok: true });
  await viewWhere(
    supervisor,
    'canceled',
    (view) => view.batches[0]?.children[0]?.status === 'canceled',
    60_000,
  );
  await supervisor.settled();
  expect(existsSync(path.join(world.memory, 'asked'))).toBe(true);
  expect(isAlive(tool)).toBe(false);
  expect(await survivorsOf(batch)).toEqual([]);
  expect(world.log.some((line) => line.includes('did not stop when asked'))).toBe(true);
  const snapshot = supervisor.view().batches[0]?.children[0]?.snapshot ?? '';
  expect(world.git('show', `${snapshot}:work.txt`)).toBe('kept');
});

test('what a finished agent leaves running ends with its attempt', async () => {
  world = createWorld();
  const script = world.write('careless.mjs', careless);
  const supervisor = await world.open();
  const batch = await launchOne(supervisor, script);
  await viewWhere(supervisor, 'done', (view) => view.batches[0]?.children[0]?.status === 'done');
  expect(await survivorsOf(batch)).toEqual([]);
  expect(isAlive(Number(readFileSync(path.join(world.memory, 'tool'), 'utf8')))).toBe(false);
});

test('paused by hand it stops, keeps its session and goes on when it is resumed', async () => {
  world = createWorld();
  const script = world.write(
    'patient.mjs',
    `
import fs from 'node:fs';
const { SWARM_SESSION, SWARM_ATTEMPT } = process.env;
process.stdout.write(JSON.stringify({ type: 'session', id: SWARM_SESSION ?? 'mine' }) + '\\n');
process.stdout.write(JSON.stringify({ type: 'text', text: 'attempt ' + SWARM_ATTEMPT + ' of ' + (SWARM_SESSION ?? 'nothing') }) + '\\n');
if (SWARM_ATTEMPT === '1') setInterval(() => {}, 1000);
else process.stdout.write(JSON.stringify({ type: 'done', result: 'went on' }) + '\\n');
`,
  );
  const supervisor = await world.open();
  const batch = await launchOne(supervisor, script);
  await viewWhere(supervisor, 'session', (view) => view.batches[0]?.children[0]?.session === 'mine');
  const targets = [{ batch, child: 'a' }];
  await supervisor.request({ type: 'pause', targets });
  await viewWhere(supervisor, 'paused', (view) => view.batches[0]?.children[0]?.reason?.class === 'user');
  await supervisor.request({ type: 'resume', targets, how: 'auto' });
  const done = await viewWhere(supervisor, 'done', (view) => view.batches[0]?.children[0]?.status === 'done');
  expect(done.batches[0]?.children[0]).toMatchObject({ attempts: 2, session: 'mine' });
  const prompt = path.join(world.repository, '.swarm/batches', batch, 'children/a/attempts/2/prompt.txt');
  expect(readFileSync(prompt, 'utf8')).toContain('interrupted by a person');
});
