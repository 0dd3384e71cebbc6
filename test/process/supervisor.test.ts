import { readFileSync, readdirSync, existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Supervisor } from '../../src/supervisor/api.js';
import { createWorld, draw, viewWhere, type World } from './support/world.js';

let world: World;
afterEach(() => world.clean());

/** Works in three steps; at the second one it meets a limit until a file says that the limit is over. */
const limitedAgent = `
import fs from 'node:fs';
import path from 'node:path';
const say = (line) => fs.writeSync(1, JSON.stringify(line) + '\\n');
const { SWARM_CHILD, SWARM_ATTEMPT, SWARM_PROMPT_FILE, SWARM_SESSION, TEST_MEMORY } = process.env;
const starts = path.join(TEST_MEMORY, 'starts.log');
fs.appendFileSync(starts, JSON.stringify({ child: SWARM_CHILD, attempt: SWARM_ATTEMPT, t: Date.now(), session: SWARM_SESSION ?? null, prompt: fs.readFileSync(SWARM_PROMPT_FILE, 'utf8') }) + '\\n');
say({ type: 'session', id: SWARM_SESSION ?? 'session-' + SWARM_CHILD });
say({ type: 'read', path: 'README.md' });
const file = SWARM_CHILD + '.txt';
if (!fs.existsSync(file)) {
  fs.writeFileSync(file, 'half');
  say({ type: 'write', path: file });
}
const account = path.join(TEST_MEMORY, 'account.json');
const save = (value) => {
  fs.writeFileSync(account + process.pid, JSON.stringify(value));
  fs.renameSync(account + process.pid, account);
};
const { calls, until, limit } = JSON.parse(fs.readFileSync(account, 'utf8'));
const now = Date.now();
if (calls >= limit && (until === null || now < until)) {
  const resetsAt = until ?? Math.ceil((now + 3000) / 1000) * 1000;
  save({ calls, until: resetsAt, limit });
  say({ type: 'limit', status: 'rejected', resetsAt: resetsAt / 1000, window: 'five_hour' });
  process.exit(1);
}
save({ calls: calls + 1, until, limit });
fs.writeFileSync(file, 'whole\\n');
say({ type: 'write', path: file });
say({ type: 'text', text: 'wrote the whole file' });
say({ type: 'done', result: 'made ' + file });
`;

function startsOf(
  target: World,
): { child: string; attempt: string; t: number; session: string | null; prompt: string }[] {
  return readFileSync(path.join(target.memory, 'starts.log'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ReturnType<typeof startsOf>[number]);
}

/** Children that were told to go on between the closing of the gate and the reset that was stated. */
function preparedAtClosedGate(target: World): string[] {
  const folder = path.join(target.repository, '.swarm', 'journal');
  const events = readdirSync(folder)
    .sort()
    .flatMap((name) => readFileSync(path.join(folder, name), 'utf8').trim().split('\n'))
    .map((line) => (JSON.parse(line) as { e: JournaledEvent }).e);
  let until = 0;
  const early: string[] = [];
  for (const event of events) {
    if (event.verdict?.class === 'usage_limit') until = Math.max(until, event.verdict.resetAt ?? 0);
    // What is prepared while the gate is closed must not be spawned before it opens.
    if (event.type === 'prepared' && event.t < until) early.push(event.child ?? '');
    if (event.type === 'spawned' && event.t < until && early.includes(event.child ?? '')) return early;
  }
  return [];
}

interface JournaledEvent {
  readonly type: string;
  readonly t: number;
  readonly child?: string;
  readonly verdict?: { readonly class: string; readonly resetAt: number | null };
}

async function launch(supervisor: Supervisor, manifest: object): Promise<string> {
  const answer = await supervisor.request({
    type: 'launch',
    manifest: { kind: 'json', text: JSON.stringify(manifest), name: 'test.json' },
    consent: true,
  });
  if (!answer.ok) throw new Error(JSON.stringify(answer.errors));
  return answer.batch ?? '';
}

test('a batch meets a limit, pauses, tries one first at the reset, and ends with all done and applied', async () => {
  world = createWorld();
  const agent = world.write('agent.mjs', limitedAgent);
  world.write('memory/account.json', JSON.stringify({ calls: 0, until: null, limit: 2 }));
  const supervisor = await world.open();
  const batch = await launch(supervisor, {
    version: 1,
    name: 'story',
    executor: 'fake',
    executors: { fake: { adapter: 'command', command: [process.execPath, agent] } },
    maxConcurrent: 2,
    context: 'Be brief.',
    check: null,
    tasks: ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ id, prompt: `make ${id}` })),
  });
  const closed = await viewWhere(supervisor, 'closed gate', (view) =>
    view.gates.some((gate) => gate.state === 'closed'),
  );
  const until = Date.parse(closed.gates[0]?.until ?? '');
  expect(closed.gates[0]).toMatchObject({ credential: 'fake', reason: 'usage_limit', source: 'event' });
  const done = await viewWhere(supervisor, 'all done', (view) => view.batches[0]?.status === 'succeeded');
  expect(draw(done)).not.toContain('paused');
  await supervisor.settled();

  const starts = startsOf(world);
  expect(until).toBeGreaterThan(Date.parse(closed.gates[0]?.since ?? ''));
  expect(preparedAtClosedGate(world)).toEqual([]);
  const resumed = starts.filter((start) => Number(start.attempt) > 1);
  expect(resumed.length).toBeGreaterThan(0);
  for (const start of resumed) {
    expect(start.session).toBe(`session-${start.child}`);
    expect(start.prompt).toContain('by a limit of the account');
    expect(start.prompt).not.toContain(`make ${start.child}`);
  }

  const targets = ['a', 'b', 'c', 'd', 'e', 'f'].map((child) => ({ batch, child }));
  expect(await supervisor.request({ type: 'apply', targets })).toEqual({ ok: true });
  await supervisor.settled();
  await viewWhere(supervisor, 'applied', (view) =>
    (view.batches[0]?.children ?? []).every((child) => child.apply?.state === 'applied'),
  );
  expect(readdirSync(world.repository).sort()).toEqual(
    ['.git', '.swarm', 'README.md', 'a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt', 'f.txt'].sort(),
  );
  expect(readFileSync(path.join(world.repository, 'a.txt'), 'utf8')).toBe('whole\n');
  expect(
    existsSync(path.join(world.repository, '.swarm', 'batches', batch, 'children', 'a', 'result.json')),
  ).toBe(true);
  expect(world.log.filter((line) => line.startsWith('error'))).toEqual([]);
});
