import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { ChildView, View } from '../../src/protocol/view.js';
import type { Supervisor } from '../../src/supervisor/api.js';
import { createWorld, launchScript, viewWhere, type World } from './support/world.js';

let world: World;
afterEach(() => world.clean());

/** `a` meets a limit with a half-written file and a line in a file that `b` also changes; `b` works through. */
const agent = `
import fs from 'node:fs';
import path from 'node:path';
const say = (line) => fs.writeSync(1, JSON.stringify(line) + '\\n');
const { SWARM_CHILD, SWARM_ATTEMPT, SWARM_SESSION, TEST_MEMORY, SWARM_PROMPT_FILE } = process.env;
const write = (file, text) => {
  say({ type: 'writing', path: file });
  fs.writeFileSync(file, text);
  say({ type: 'write', path: file });
};
const waitFor = async (name) => {
  while (!fs.existsSync(path.join(TEST_MEMORY, name))) await new Promise((resolve) => setTimeout(resolve, 50));
};
say({ type: 'session', id: SWARM_SESSION ?? 'session-' + SWARM_CHILD });
if (SWARM_CHILD === 'a' && SWARM_ATTEMPT === '1') {
  write('half.ts', 'export const half: number = ');
  await waitFor('limit');
  say({ type: 'limit', status: 'rejected', resetsAt: Math.ceil(Date.now() / 1000) + 8, window: 'five_hour' });
  process.exit(1);
}
if (SWARM_CHILD === 'a') {
  fs.writeFileSync(path.join(TEST_MEMORY, 'a2.json'), JSON.stringify({ cwd: process.cwd(), prompt: fs.readFileSync(SWARM_PROMPT_FILE, 'utf8'), half: fs.readFileSync('half.ts', 'utf8') }));
  write('half.ts', 'export const half: number = 1;\\n');
  write('../../../repository/astray.ts', 'astray\\n');
} else {
  write('b.ts', 'export const b = 2;\\n');
  await waitFor('limit');
}
say({ type: 'done', result: 'made it' });
`;

/** Both have written, and `a` is about to meet its limit. */
async function halfWritten(): Promise<{ supervisor: Supervisor; batch: string }> {
  const script = world.write('agent.mjs', agent);
  const supervisor = await world.open();
  const executor = { adapter: 'command', command: [process.execPath, script] };
  const batch = await launchScript(supervisor, script, {
    executors: { one: executor, two: executor },
    isolation: 'shared',
    tasks: [
      { id: 'a', prompt: 'make a', executor: 'one' },
      { id: 'b', prompt: 'make b', executor: 'two' },
    ],
  });
  await viewWhere(supervisor, 'both have written', (view) =>
    (view.batches[0]?.children ?? []).every((child) => child.files.written > 0),
  );
  await supervisor.settled();
  return { supervisor, batch };
}

/** What `a` found when it went on. */
function secondStart(): { cwd: string; prompt: string; half: string } {
  return JSON.parse(readFileSync(path.join(world.memory, 'a2.json'), 'utf8')) as ReturnType<
    typeof secondStart
  >;
}

async function applyBoth(supervisor: Supervisor, batch: string): Promise<void> {
  const targets = ['a', 'b'].map((child) => ({ batch, child }));
  expect(await supervisor.request({ type: 'apply', targets })).toEqual({ ok: true });
  await viewWhere(supervisor, 'applied', (view) =>
    (view.batches[0]?.children ?? []).every((child) => child.apply?.state === 'applied'),
  );
  await supervisor.settled();
  expect(readFileSync(path.join(world.repository, 'half.ts'), 'utf8')).toBe(
    'export const half: number = 1;\n',
  );
}

test('in a shared tree a paused child’s half-written edits go into its own worktree, where it goes on', async () => {
  world = createWorld();
  const { supervisor, batch } = await halfWritten();
  expect(existsSync(path.join(world.repository, 'half.ts'))).toBe(true);
  // The person is a writer too: a hunk beside a child's stays, and is in the ledger as theirs.
  writeFileSync(path.join(world.repository, 'README.md'), 'hello\nby a person\n');
  writeFileSync(path.join(world.memory, 'limit'), '');
  const moved = await viewWhere(supervisor, 'quarantined', (view) =>
    (view.batches[0]?.children ?? []).some(
      (child) => child.id === 'a' && child.quarantine !== null && child.quarantine.moved > 0,
    ),
  );
  expect(moved.batches[0]?.children[0]?.quarantine).toMatchObject({ moved: 1, left: 0 });
  await viewWhere(supervisor, 'all done', (view) => view.batches[0]?.status === 'succeeded');
  await supervisor.settled();
  expect(existsSync(path.join(world.repository, 'half.ts'))).toBe(false);
  expect(readFileSync(path.join(world.repository, 'b.ts'), 'utf8')).toBe('export const b = 2;\n');
  const second = secondStart();
  expect(second.cwd).toBe(path.join(`${world.repository}.worktrees`, batch, 'a'));
  const usersEdits = readFileSync(
    path.join(world.repository, '.swarm', 'batches', batch, 'edits.jsonl'),
    'utf8',
  );
  expect(JSON.parse(usersEdits.split('\n')[0] ?? '')).toMatchObject({
    path: 'README.md',
    before: world.git('rev-parse', 'HEAD:README.md').trim(),
    after: world.git('hash-object', 'README.md').trim(),
    confidence: 'exclusive',
  });
  // What it wrote into the tree although it had a folder of its own is there now, and said.
  expect(supervisor.view().batches[0]?.children[0]?.strays).toEqual([
    { path: 'astray.ts', who: 'you', moved: true },
  ]);
  expect(existsSync(path.join(world.repository, 'astray.ts'))).toBe(false);
  expect(readFileSync(path.join(second.cwd, 'astray.ts'), 'utf8')).toBe('astray\n');
  expect(second.half).toBe('export const half: number = ');
  expect(second.prompt).toContain(`moved into a folder of its own, ${second.cwd}`);
  expect(second.prompt).toMatch(
    /Work of others in the main tree[^\n]*\n- README\.md \(the user\)\n- b\.ts \(make b\)\n/,
  );

  await applyBoth(supervisor, batch);
  expect(world.git('stash', 'list')).toBe('');
  expect(world.log.filter((line) => line.startsWith('error'))).toEqual([]);
});

test('edits that could not be taken out of the tree are taken out before their child goes on', async () => {
  world = createWorld();
  const { supervisor, batch } = await halfWritten();
  const inTheWay = path.join(world.repository, '.git', 'refs', 'swarm');
  writeFileSync(inTheWay, '');
  writeFileSync(path.join(world.memory, 'limit'), '');
  await viewWhere(supervisor, 'paused', (view) => view.batches[0]?.children[0]?.status === 'paused');
  await supervisor.settled();
  expect(world.log.filter((line) => line.startsWith('error'))).toContainEqual(
    expect.stringContaining('its edits could not be taken out of the tree'),
  );
  expect(existsSync(path.join(world.repository, 'half.ts'))).toBe(true);
  rmSync(inTheWay);
  await viewWhere(supervisor, 'all done', (view) => view.batches[0]?.status === 'succeeded');
  expect(secondStart().half).toBe('export const half: number = ');
  expect(existsSync(path.join(world.repository, 'half.ts'))).toBe(false);
  await applyBoth(supervisor, batch);
});

const overlapping = `
import fs from 'node:fs';
import path from 'node:path';
const say = (line) => fs.writeSync(1, JSON.stringify(line) + '\\n');
say({ type: 'session', id: 'session-' + process.env.SWARM_CHILD });
say({ type: 'writing', path: 'README.md' });
fs.writeFileSync('README.md', 'by a child\\n');
say({ type: 'write', path: 'README.md' });
fs.writeFileSync(path.join(process.env.TEST_MEMORY, 'written'), '');
setInterval(() => undefined, 1000);
`;

async function leftOf(supervisor: Supervisor): Promise<ChildView> {
  const script = world.write('agent.mjs', overlapping);
  const tasks = [{ id: 'a', prompt: 'make a' }];
  const batch = await launchScript(supervisor, script, { isolation: 'shared', tasks });
  const child = (view: View) => view.batches[0]?.children[0];
  await viewWhere(supervisor, 'it has written', (view) => child(view)?.files.written === 1);
  writeFileSync(path.join(world.repository, 'README.md'), 'by a child, and a person\n');
  const targets = [{ batch, child: 'a' }];
  expect(await supervisor.request({ type: 'pause', targets })).toEqual({ ok: true });
  const view = await viewWhere(supervisor, 'left', (each) => child(each)?.quarantine?.left === 1);
  const found = child(view);
  if (found === undefined) throw new Error('no child');
  return found;
}

test.each(['move', 'keep'] as const)(
  'what a child and a person both wrote is left with both names, and they say what becomes of it: %s',
  async (how) => {
    world = createWorld();
    const supervisor = await world.open();
    const left = await leftOf(supervisor);
    expect(left.quarantine?.leftFiles).toEqual([{ path: 'README.md', who: 'you' }]);
    expect(left.actions).toEqual(expect.arrayContaining(['moveLeft', 'keepLeft']));
    const readme = path.join(world.repository, 'README.md');
    expect(readFileSync(readme, 'utf8')).toBe('by a child, and a person\n');

    const { batches } = supervisor.view();
    const targets = [{ batch: batches[0]?.id ?? '', child: 'a' }];
    expect(await supervisor.request({ type: 'settleLeft', targets, how })).toEqual({ ok: true });
    const view = await viewWhere(
      supervisor,
      'settled',
      (each) => each.batches[0]?.children[0]?.quarantine?.left === 0,
    );
    await supervisor.settled();
    const child = view.batches[0]?.children[0];
    expect(child?.actions).not.toContain('keepLeft');
    if (how === 'keep') {
      expect(readFileSync(readme, 'utf8')).toBe('by a child, and a person\n');
      expect(child?.quarantine).toMatchObject({ moved: 0, left: 0 });
    } else {
      expect(readFileSync(readme, 'utf8')).toBe('hello\n');
      expect(child?.quarantine).toMatchObject({ moved: 1, left: 0, files: ['README.md'] });
      const own = path.join(child?.worktree ?? '', 'README.md');
      expect(own.startsWith(`${world.repository}.worktrees`)).toBe(true);
      expect(readFileSync(own, 'utf8')).toBe('by a child, and a person\n');
    }
    expect(await supervisor.request({ type: 'settleLeft', targets, how })).toMatchObject({ code: 2 });
  },
);
