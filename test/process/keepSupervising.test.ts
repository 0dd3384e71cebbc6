import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { superviseInBackground } from '../../src/extension/keepSupervising.js';
import { lookAtStore } from '../../src/supervisor/node/store/look.js';
import type { Supervisor } from '../../src/supervisor/api.js';
import { isRunning, until } from '../support/attempts.js';
import { createWorld, viewWhere, type World } from './support/world.js';

/** This process plays the window; the background process is the real command line. */
const dist = path.resolve(import.meta.dirname, '../../dist');

let world: World;
afterEach(() => world.clean());

/** Meets a limit at its first start; after the reset it is done. */
const agent = `
import fs from 'node:fs';
import path from 'node:path';
const say = (line) => fs.writeSync(1, JSON.stringify(line) + '\\n');
const { SWARM_BATCH, SWARM_CHILD, SWARM_ATTEMPT } = process.env;
const [memory, wait] = process.argv.slice(2);
fs.appendFileSync(path.join(memory, 'starts.log'), [SWARM_CHILD, SWARM_ATTEMPT, Date.now()].join(' ') + '\\n');
const limit = path.join(memory, 'limit-' + SWARM_BATCH);
if (!fs.existsSync(limit)) {
  const resetsAt = Math.ceil(Date.now() / 1000) + Number(wait);
  fs.writeFileSync(limit, String(resetsAt * 1000));
  say({ type: 'limit', status: 'rejected', resetsAt, window: 'five_hour' });
  process.exit(1);
}
say({ type: 'decision', text: 'it goes on' });
say({ type: 'done', result: 'made it' });
`;

async function launch(window: Supervisor, name: string, wait: number): Promise<string> {
  const answer = await window.request({
    type: 'launch',
    manifest: {
      kind: 'json',
      name: 'wait.json',
      text: JSON.stringify({
        version: 1,
        name,
        executors: {
          mine: {
            adapter: 'command',
            credential: name,
            command: [process.execPath, path.join(world.root, 'agent.mjs'), world.memory, String(wait)],
          },
        },
        executor: 'mine',
        check: null,
        tasks: [{ id: name, prompt: 'wait' }],
      }),
    },
    consent: true,
  });
  if (!answer.ok || answer.batch === undefined) throw new Error(JSON.stringify(answer));
  const { batch } = answer;
  await viewWhere(window, 'paused', (view) => statusOf(view, batch) === 'paused');
  return batch;
}

const statusOf = (
  view: {
    readonly batches: readonly {
      readonly id: string;
      readonly children: readonly { readonly status: string }[];
    }[];
  },
  batch: string,
): string | undefined => view.batches.find((one) => one.id === batch)?.children[0]?.status;

const owner = async (): Promise<number | null> =>
  (await lookAtStore(path.join(world.repository, '.swarm')))?.owner?.pid ?? null;

/** When each attempt began, in milliseconds after the reset that its batch was told. */
function afterReset(name: string, batch: string): readonly number[] {
  const reset = Number(readFileSync(path.join(world.memory, `limit-${batch}`), 'utf8'));
  return readFileSync(path.join(world.memory, 'starts.log'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([child]) => child === name)
    .map(([, , at]) => Number(at) - reset);
}

test('when the window closes a process in the background meets the reset; the next window takes over, and both without a gap', async () => {
  world = createWorld();
  world.write('agent.mjs', agent);
  const first = await world.open();
  const night = await launch(first, 'night', 5);
  await launch(first, 'weekend', 40);

  await superviseInBackground({ dist, topLevel: world.repository, maxConcurrent: 3 });
  const closed = performance.now();
  await first.close({ stopAgents: false });
  const keeper = await until(async () => {
    const pid = await owner();
    return pid !== null && pid !== process.pid ? pid : null;
  });
  expect(performance.now() - closed).toBeLessThan(2_000);
  // Nobody looks at it, and the reset is met all the same, once.
  await until(() => afterReset('night', night).length === 2);
  const [, resumed = Infinity] = afterReset('night', night);
  expect(resumed).toBeGreaterThanOrEqual(0);
  expect(resumed).toBeLessThan(6_000);

  const second = await world.open();
  expect(second.role).toBe('viewer');
  const asked = performance.now();
  expect(await second.request({ type: 'handOver' })).toEqual({ ok: true });
  await until(() => second.role === 'owner');
  expect(performance.now() - asked).toBeLessThan(2_000);
  expect(await owner()).toBe(process.pid);
  await viewWhere(second, 'night is done', (view) => statusOf(view, night) === 'done');
  expect(statusOf(second.view(), night)).toBe('done');
  expect(second.view().batches.map((batch) => batch.children[0]?.attempts)).toEqual([2, 1]);
  // What stood in for a window goes when there is one.
  await until(() => !isRunning(keeper));
  expect(afterReset('night', night)).toHaveLength(2);
});

test('a window that is in use gives its folder to nobody who asks', async () => {
  world = createWorld();
  world.write('agent.mjs', agent);
  const first = await world.open();
  await launch(first, 'day', 40);
  const second = await world.open();
  expect(await second.request({ type: 'handOver' })).toMatchObject({ ok: false, code: 3 });
  expect([first.role, second.role]).toEqual(['owner', 'viewer']);
});

test('where another window is open already, the process in the background is not needed and ends', async () => {
  world = createWorld();
  world.write('agent.mjs', agent);
  const other = await world.open();
  await launch(other, 'day', 40);
  // It is told to stand in for a process that is not the owner.
  const before = await owner();
  const child = spawn(
    process.execPath,
    [path.join(dist, 'cli.js'), '-C', world.repository, 'supervise', '--json', '--after', '1'],
    { stdio: 'ignore' },
  );
  const code = await new Promise((resolve) => child.once('exit', resolve));
  expect([code, await owner()]).toEqual([0, before]);
});
