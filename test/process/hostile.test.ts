import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { diff } from '../../src/cli/commands/look.js';
import { plainText } from '../../src/protocol/plainText.js';
import type { Supervisor } from '../../src/supervisor/api.js';
import { openSupervisor } from '../../src/supervisor/supervisor.js';
import { screenTo } from '../support/screen.js';
import { marks, secrets } from '../support/secrets.js';
import { createWorld, launchScript, viewWhere, type World } from './support/world.js';

let world: World;
afterEach(() => world.clean());

/** Says a text in every way that the line protocol knows, then works or meets a limit. */
const agent = `
import fs from 'node:fs';
import path from 'node:path';
const { TEST_MEMORY, SWARM_ATTEMPT, SWARM_SESSION, SWARM_PROMPT_FILE, SWARM_CHILD } = process.env;
const say = (line) => fs.writeSync(1, JSON.stringify(line) + '\\n');
const texts = JSON.parse(fs.readFileSync(path.join(TEST_MEMORY, 'texts.json'), 'utf8'));
fs.appendFileSync(path.join(TEST_MEMORY, 'starts.jsonl'), JSON.stringify({
  child: SWARM_CHILD, attempt: SWARM_ATTEMPT, session: SWARM_SESSION ?? null, prompt: fs.readFileSync(SWARM_PROMPT_FILE, 'utf8'),
}) + '\\n');
for (const text of texts) {
  say({ type: 'session', id: text });
  // What can be the name of a file; in another spelling it would be another text.
  if (!/[\\n/\\\\]/.test(text) && text.length < 200) {
    say({ type: 'read', path: text });
    say({ type: 'writing', path: text });
    fs.writeFileSync(text, text);
    say({ type: 'write', path: text });
  }
  say({ type: 'shell', command: 'run ' + text, exitCode: 1 });
  say({ type: 'shell', command: 'npm test -- ' + text, exitCode: 1 });
  say({ type: 'decision', text });
  say({ type: 'text', text });
  say({ type: 'next', items: [{ text, done: false }, { text, done: true }] });
  say({ type: text, text });
  fs.writeSync(1, text + '\\n');
  fs.writeSync(2, text + '\\n');
}
if (SWARM_ATTEMPT === '1') {
  say({ type: 'limit', status: 'rejected', resetsAt: Math.ceil(Date.now() / 1000) + 1, window: texts[0], model: texts[1] });
  process.exit(1);
}
if (SWARM_ATTEMPT === '2') {
  say({ type: 'error', message: 'invalid request: ' + texts.filter((text) => !text.includes('Incorrect')).join(' '), status: 400 });
  process.exit(1);
}
say({ type: 'done', result: texts.join('\\n') });
`;

interface Start {
  readonly child: string;
  readonly attempt: string;
  readonly session: string | null;
  readonly prompt: string;
}

function starts(): readonly Start[] {
  const file = path.join(world.memory, 'starts.jsonl');
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Start);
}

/** One child that says these texts in every way. At its first attempt it meets a limit, at its second it fails. */
async function runSaying(texts: readonly string[], manifest: object = {}): Promise<Supervisor> {
  writeFileSync(path.join(world.memory, 'texts.json'), JSON.stringify(texts));
  const script = world.write('agent.mjs', agent);
  const supervisor = await world.open();
  await launchScript(supervisor, script, {
    policy: { margin: '100ms' },
    tasks: [{ id: 'a', prompt: 'make it' }],
    ...manifest,
  });
  await viewWhere(supervisor, 'failed or done', (view) =>
    ['failed', 'done'].includes(view.batches[0]?.children[0]?.status ?? ''),
  );
  await supervisor.settled();
  return supervisor;
}

/** Its third attempt, with a prompt of the person's; it ends well. */
async function retry(supervisor: Supervisor, prompt: string): Promise<void> {
  const targets = [{ batch: supervisor.view().batches[0]?.id ?? '', child: 'a' }];
  expect(await supervisor.request({ type: 'retry', targets, prompt })).toEqual({ ok: true });
  await viewWhere(supervisor, 'done', (view) => view.batches[0]?.status === 'succeeded');
  await supervisor.settled();
}

/** Where marks of secrets stand, with what is around them. */
function around(name: string, text: string): string[] {
  return marks.flatMap((mark) =>
    text
      .split(mark)
      .slice(0, -1)
      .map((before) => `${name}: ...${JSON.stringify(before.slice(-80))}`),
  );
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name));
}

test('secrets of all known kinds, leaked in every way an agent and a task have, are nowhere in `.swarm`', async () => {
  world = createWorld();
  const texts = secrets.map(([, text]) => text);
  const supervisor = await runSaying(texts, {
    name: texts[0],
    context: texts.join('\n'),
    tasks: [{ id: 'a', prompt: `make it\n${texts.join('\n')}` }],
  });
  const [first, second] = starts();
  expect(first?.prompt).toContain('make it');
  // A session whose id cannot be kept is not named again, and the child goes on all the same.
  expect(second?.session).toBeNull();
  await retry(supervisor, `now\n${texts.join('\n')}`);
  expect(starts()).toHaveLength(3);
  expect(starts()[2]?.prompt).toContain('now');
  await supervisor.close({ stopAgents: false });

  const swarm = path.join(world.repository, '.swarm');
  const found: string[] = [
    ...around('view', JSON.stringify(supervisor.view())),
    ...around('log', world.log.join('\n')),
  ];
  const loose: string[] = [];
  for (const file of filesBelow(swarm)) {
    const stats = lstatSync(file);
    const wanted = stats.isDirectory() ? 0o700 : 0o600;
    if (stats.isSymbolicLink() || (stats.mode & 0o777) !== wanted)
      loose.push(`${file} ${(stats.mode & 0o777).toString(8)}`);
    const text = stats.isFile() ? readFileSync(file, 'latin1') : '';
    found.push(...around(path.relative(swarm, file), `${path.relative(swarm, file)}\n${text}`));
  }
  expect(found).toEqual([]);
  expect(loose).toEqual([]);
}, 120_000);

test('a `.swarm` that came with a cloned repository starts nothing, and says so', async () => {
  world = createWorld();
  writeFileSync(path.join(world.memory, 'texts.json'), '[]');
  const script = world.write('agent.mjs', agent);
  const supervisor = await world.open();
  await launchScript(supervisor, script, {
    maxConcurrent: 1,
    tasks: [
      { id: 'a', prompt: 'make it' },
      { id: 'b', prompt: 'wait' },
    ],
  });
  await viewWhere(supervisor, 'paused', (view) => view.batches[0]?.children[0]?.status === 'paused');
  await supervisor.close({ stopAgents: true });
  // Somebody else's batch, with a child that would start at once.
  world.git('add', '-f', '.swarm');
  world.git('commit', '-q', '-m', 'look what I have for you');
  const clone = path.join(world.root, 'clone');
  world.git('clone', '-q', world.repository, clone);
  expect(existsSync(path.join(clone, '.swarm', 'state.json'))).toBe(true);
  const before = starts().length;
  const opened = await openSupervisor({ ...world.options(), folder: clone });
  expect(opened).toMatchObject({
    ok: false,
    code: 3,
    message: expect.stringContaining('git tracks') as string,
  });
  expect(readdirSync(path.join(clone, '.swarm', 'lock'))).toEqual(
    readdirSync(path.join(world.repository, '.swarm', 'lock')).filter((name) => name !== 'socket'),
  );
  expect(starts()).toHaveLength(before);

  execFileSync('git', ['rm', '-r', '-q', '.swarm'], { cwd: clone });
  rmSync(path.join(clone, '.swarm'), { recursive: true, force: true });
  const clean = await openSupervisor({ ...world.options(), folder: clone });
  if (!clean.ok) throw new Error(clean.message);
  expect(clean.supervisor.view().batches).toEqual([]);
  await clean.supervisor.close({ stopAgents: false });
});

test('whatever an agent prints is text in checkpoint.md, in the view and in a diff on a terminal', async () => {
  world = createWorld();
  const codes = [
    '\u001b]0;owned\u0007',
    '\u001b[2J\u001b[31mred',
    '\u009b2J',
    '\u001b]8;;command:workbench.action.terminal.new\u0007click\u001b]8;;\u0007',
    '[run](command:workbench.action.tasks.runTask?evil)',
    '<img src=x onerror=alert(1)><script>alert(1)</script>',
    'abc\u202etxt.exe\u2066',
    `${'👩‍👩‍👧‍👦'.repeat(40_000)}end`,
    `\u001b[3${'1'}msk-\u001b[0mant-${'Zx9'.repeat(20)}`,
  ];
  const supervisor = await runSaying(codes);
  const view = supervisor.view();
  const child = view.batches[0]?.children[0];
  await supervisor.close({ stopAgents: false });
  expect(JSON.stringify(view).length).toBeLessThan(200_000);
  const place = path.join(world.repository, '.swarm', 'batches', view.batches[0]?.id ?? '', 'children', 'a');
  const text = readFileSync(path.join(place, 'checkpoint.md'), 'utf8');
  expect(text).toContain('[run](command:workbench.action.tasks.runTask?evil)');
  expect(text).toBe(plainText(text));
  expect(text).not.toContain('Zx9');
  expect(child?.lastLine).not.toContain('\u001b');
  const printed = async (isTTY: boolean): Promise<string> => {
    let all = '';
    const screen = screenTo((text) => (all += text), { isTTY });
    expect(await diff(world.repository, 'a', { all: false, json: false }, screen)).toBe(0);
    return all;
  };
  const shown = await printed(true);
  expect(shown).toContain('+red');
  expect(shown).toBe(plainText(shown));
  // As a patch it is what the agent wrote.
  expect(await printed(false)).toContain('\u001b[31mred');
});
