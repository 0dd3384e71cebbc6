import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ChildView } from '../../src/protocol/view.js';
import type { Supervisor } from '../../src/supervisor/api.js';
import { openSupervisor } from '../../src/supervisor/supervisor.js';
import { buildHelpers } from './support/helpersBuild.js';
import { createWorld, draw, viewWhere, type World } from './support/world.js';

const agent = path.join(import.meta.dirname, 'support', 'acpAgent.mjs');

let world: World;
let supervisor: Supervisor;
beforeEach(async () => {
  world = createWorld();
  supervisor = await open({});
});
afterEach(async () => {
  await supervisor.close({ stopAgents: true });
  await world.clean();
});

async function open(env: Record<string, string>): Promise<Supervisor> {
  const helpers = await buildHelpers(path.join(world.root, 'dist'));
  const opened = await openSupervisor({ ...world.options({}, env), helpers });
  if (!opened.ok) throw new Error(opened.message);
  return opened.supervisor;
}

/** Launches one child on an executor of the adapter `acp`. */
async function launch(prompt: string, executor: object = {}): Promise<void> {
  const answer = await supervisor.request({
    type: 'launch',
    manifest: {
      kind: 'json',
      text: JSON.stringify({
        version: 1,
        executors: { mine: { adapter: 'acp', command: [process.execPath, agent], ...executor } },
        executor: 'mine',
        check: ['true'],
        tasks: [{ id: 'a', prompt }],
      }),
      name: 'test.json',
    },
    consent: true,
  });
  if (!answer.ok) throw new Error(JSON.stringify(answer.errors));
}

async function childWhere(status: ChildView['status']): Promise<ChildView> {
  const view = await viewWhere(supervisor, status, (seen) => childOf(seen)?.status === status);
  const child = childOf(view);
  if (child === undefined) throw new Error('no child');
  return child;
}

const childOf = (view: { batches: readonly { children: readonly ChildView[] }[] }): ChildView | undefined =>
  view.batches[0]?.children[0];

function heard(): Record<string, unknown>[] {
  const file = path.join(world.memory, 'heard.jsonl');
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

const read = (child: ChildView, name: string): string | null => {
  const file = path.join(child.worktree ?? '', name);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
};

test('an agent edits in its folder, runs the check, and is refused the rest', async () => {
  await launch(
    ['edit a.txt one', 'edit ../b.txt two', 'shell rm -rf /', 'shell true', 'fs c.txt', 'fs ../d.txt'].join(
      '\n',
    ),
  );
  const child = await childWhere('done');
  expect(read(child, 'a.txt')).toBe('one\n');
  expect(read(child, '../b.txt')).toBeNull();
  expect(read(child, 'c.txt')).toBe('by the client\n');
  expect(read(child, '../d.txt')).toBeNull();
  expect(heard().flatMap((entry) => ('permission' in entry ? [entry['outcome']] : []))).toEqual([
    { outcome: 'selected', optionId: 'once' },
    { outcome: 'selected', optionId: 'no' },
    { outcome: 'selected', optionId: 'no' },
    { outcome: 'selected', optionId: 'once' },
  ]);
  expect(heard().find((entry) => entry['fs'] === '../d.txt')?.['error']).toMatch(/outside/);
  expect([child.session, child.files.written, child.lastLine]).toEqual(['session-1', 2, 'All done.']);
  expect(child.tokens).toEqual({ input: 100, cachedInput: 40, output: 7 });
});

test('with full permissions nothing is refused but files outside of its folder by our own hand', async () => {
  await supervisor.close({ stopAgents: true });
  const helpers = await buildHelpers(path.join(world.root, 'dist'));
  const executors = { mine: { adapter: 'acp', command: [process.execPath, agent], permissions: 'full' } };
  const opened = await openSupervisor({ ...world.options({ executors }), helpers });
  if (!opened.ok) throw new Error(opened.message);
  supervisor = opened.supervisor;
  const answer = await supervisor.request({
    type: 'launch',
    manifest: {
      kind: 'json',
      text: JSON.stringify({
        version: 1,
        executor: 'mine',
        check: null,
        tasks: [{ id: 'a', prompt: 'edit ../b.txt two\nshell anything\nfs ../d.txt' }],
      }),
      name: 'test.json',
    },
    consent: true,
  });
  expect(answer.ok).toBe(true);
  const child = await childWhere('done');
  expect(read(child, '../b.txt')).toBe('two\n');
  expect(read(child, '../d.txt')).toBeNull();
});

test('a limit closes the gate of this executor, and the session is loaded again at the reset, nothing heard twice', async () => {
  await launch('edit a.txt one\nlimit');
  const closed = await viewWhere(supervisor, 'closed gate', (view) => view.gates.length > 0);
  expect(closed.gates[0]).toMatchObject({ credential: 'mine', reason: 'usage_limit', source: 'event' });
  const child = await childWhere('done');
  expect(child.attempts).toBe(2);
  expect(read(child, 'resumed.txt')).toBe('went on\n');
  expect(heard().filter((entry) => entry['method'] === 'session/load')).toMatchObject([
    { params: { sessionId: 'session-1', cwd: child.worktree } },
  ]);
  expect(heard().filter((entry) => entry['method'] === 'session/new')).toHaveLength(1);
  // What a loaded session tells of its history was done before.
  expect(child.files.written).toBe(1);
});

test('an agent that cannot load sessions goes on in a new one, with the task once more', async () => {
  await supervisor.close({ stopAgents: true });
  supervisor = await open({ TEST_NO_LOAD: '1' });
  await launch('edit a.txt one\nlimit');
  const child = await childWhere('done');
  expect([child.attempts, child.session]).toEqual([2, null]);
  const prompts = heard().filter((entry) => entry['method'] === 'session/prompt');
  expect(JSON.stringify(prompts[1])).toContain('edit a.txt one');
});

test('a stop cancels the turn, and the agent may tidy up', async () => {
  await launch('edit a.txt one\nwait');
  const { batches } = await viewWhere(supervisor, 'waiting', (view) => childOf(view)?.lastLine === 'waiting');
  await supervisor.request({ type: 'stop', targets: [{ batch: batches[0]?.id ?? '', child: 'a' }] });
  const child = await childWhere('canceled');
  expect(heard().map((entry) => entry['method'])).toContain('session/cancel');
  expect(read(child, 'tidy.txt')).toBe('tidied up\n');
});

test('a turn goes on while nobody supervises, and is taken up where it is', async () => {
  await launch('edit a.txt one\nwait');
  await viewWhere(supervisor, 'waiting', (view) => childOf(view)?.lastLine === 'waiting');
  await supervisor.close({ stopAgents: false });
  supervisor = await open({});
  const { batches } = await viewWhere(
    supervisor,
    'taken up',
    (view) => childOf(view)?.status === 'running' && childOf(view)?.lastLine === 'waiting',
  );
  expect([childOf({ batches })?.attempts, childOf({ batches })?.session]).toEqual([1, 'session-1']);
  await supervisor.request({ type: 'stop', targets: [{ batch: batches[0]?.id ?? '', child: 'a' }] });
  const child = await childWhere('canceled');
  expect(read(child, 'tidy.txt')).toBe('tidied up\n');
  expect(heard().filter((entry) => 'started' in entry)).toHaveLength(1);
});

test.each([
  ['refusal', 'content_policy'],
  ['max_tokens', 'context_overflow'],
])('a turn that ends with %s is read as %s', async (reason, failure) => {
  await launch(`stop ${reason}`);
  const view = await viewWhere(supervisor, failure, (seen) => childOf(seen)?.reason?.class === failure);
  expect(draw(view)).toContain(failure);
});

test('an agent that dies in its turn has crashed, and is started again in its session', async () => {
  await launch('edit a.txt one\ndie');
  await viewWhere(supervisor, 'second attempt', (view) => (childOf(view)?.attempts ?? 0) >= 2, 40_000);
  const child = await childWhere('done');
  expect(heard().filter((entry) => entry['method'] === 'session/load')).toHaveLength(1);
  expect(read(child, 'resumed.txt')).toBe('went on\n');
});

test.each([
  ['exits at once', ['true'], 'unknown', /ended \(exit 0\)/],
  ['repeats what it hears', ['cat'], 'invalid_request', /Method not found/],
  [
    'speaks of other things',
    [process.execPath, '-e', 'setInterval(() => console.log("hello"), 5)'],
    'invalid_request',
    /does not speak the Agent Client Protocol/,
  ],
])('a program that %s is no agent', async (_what, command, failure, message) => {
  await supervisor.close({ stopAgents: true });
  const built = await buildHelpers(path.join(world.root, 'dist'));
  const helpers = { ...built, acp: { ...built.acp, args: [...built.acp.args, '--patience', '700'] } };
  const opened = await openSupervisor({ ...world.options(), helpers });
  if (!opened.ok) throw new Error(opened.message);
  supervisor = opened.supervisor;
  await launch('anything', { command });
  const view = await viewWhere(supervisor, failure, (seen) => childOf(seen)?.reason?.class === failure);
  expect(childOf(view)?.reason?.message).toMatch(message);
});
