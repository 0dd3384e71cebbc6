import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ChildView, View } from '../../src/protocol/view.js';
import type { Supervisor } from '../../src/supervisor/api.js';
import { openSupervisor } from '../../src/supervisor/supervisor.js';
import { buildHelpers } from './support/helpersBuild.js';
import { createWorld, viewWhere, type World } from './support/world.js';

let world: World;
let supervisor: Supervisor;
beforeEach(async () => {
  world = createWorld({ 'src/a.ts': 'const a = 1;\nconst b = a;\n' });
  const helpers = await buildHelpers(path.join(world.root, 'dist'));
  const opened = await openSupervisor({ ...world.options(), helpers });
  if (!opened.ok) throw new Error(opened.message);
  supervisor = opened.supervisor;
});
afterEach(async () => {
  await supervisor.close({ stopAgents: true });
  await world.clean();
});

async function launch(task: object, executors: object = {}): Promise<void> {
  const text = JSON.stringify({ version: 1, executor: 'local', executors, check: ['true'], tasks: [task] });
  const answer = await supervisor.request({
    type: 'launch',
    manifest: { kind: 'json', text, name: 'test.json' },
    consent: true,
  });
  if (!answer.ok) throw new Error(JSON.stringify(answer.errors));
}

const childOf = (view: View): ChildView | undefined => view.batches[0]?.children[0];

async function childWhere(status: ChildView['status']): Promise<ChildView> {
  const view = await viewWhere(supervisor, status, (seen) => childOf(seen)?.status === status);
  const child = childOf(view);
  if (child === undefined) throw new Error('no child');
  expect(view.gates).toEqual([]);
  return child;
}

const read = (child: ChildView, name: string): string | null => {
  const file = path.join(child.worktree ?? '', name);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
};

const script = (text: string): string[] => [process.execPath, '-e', text];

test('a plan is carried out step by step, with its check, without a model, a session or an account', async () => {
  const steps = [
    { write: 'deep/new.txt', text: 'new\n' },
    { replace: 'src/a.ts', from: 'const', to: 'let', all: true },
    { run: script("require('fs').appendFileSync('src/a.ts', '// end\\n'); console.log('moved')") },
    { check: true },
  ];
  await launch({ id: 'a', prompt: JSON.stringify({ steps }) });
  const child = await childWhere('done');
  expect(read(child, 'deep/new.txt')).toBe('new\n');
  expect(read(child, 'src/a.ts')).toBe('let a = 1;\nlet b = a;\n// end\n');
  expect([child.session, child.attempts, child.files.written]).toEqual([null, 1, 2]);
});

test('after a crash in a step the steps before it are not done again', async () => {
  const count = path.join(world.memory, 'count');
  const append = (word: string) => `require('fs').appendFileSync(${JSON.stringify(count)}, '${word} ')`;
  const kill = `if (!require('fs').existsSync('second')) { require('fs').writeFileSync('second', ''); process.kill(process.ppid, 'SIGKILL'); }`;
  const steps = [
    { replace: 'src/a.ts', from: 'a = 1', to: 'a = 1 + 1' },
    { run: script(append('once')) },
    { run: script(`${append('twice')}; ${kill}`) },
  ];
  await launch({ id: 'a', prompt: `\`\`\`json\n${JSON.stringify(steps)}\n\`\`\`` });
  const child = await childWhere('done');
  expect(child.attempts).toBe(2);
  expect(readFileSync(count, 'utf8')).toBe('once twice twice ');
  expect(read(child, 'src/a.ts')).toContain('a = 1 + 1;');
});

test.each([
  [
    'a text that is not there',
    '- replace: src/a.ts\n  from: zzz\n  to: b',
    /step 1 of 1 failed/,
    /does not hold/,
  ],
  ['a text that is there twice', '- replace: src/a.ts\n  from: const\n  to: b', /step 1 of 1/, /2 times/],
  ['a file outside', '- write: ../x\n  text: b', /step 1 of 1/, /outside/],
  [
    'a program that fails, whatever its name',
    '- run: ls usage-limit-reached',
    /step 1 of 1/,
    /No such file|exit \d/,
  ],
])('%s fails at once and says why', async (_what, prompt, message, words) => {
  await launch({ id: 'a', prompt });
  const child = await childWhere('failed');
  expect(child.reason).toMatchObject({ class: 'invalid_request' });
  expect(child.reason?.message).toMatch(message);
  expect(child.lastLine).toMatch(words);
  expect(child.attempts).toBe(1);
});

test('a profile with a program runs it for each child, with its prompt', async () => {
  const codemod = world.write(
    'codemod.mjs',
    `import fs from 'node:fs';
const task = fs.readFileSync(process.env.SWARM_PROMPT_FILE, 'utf8');
fs.writeFileSync('out.txt', task + process.argv[2]);
console.log(JSON.stringify({ type: 'write', path: 'out.txt' }));
console.log(JSON.stringify({ type: 'limit', status: 'rejected', resetsAt: 4102444800 }));
console.log('by hand');
`,
  );
  await launch(
    { id: 'a', prompt: 'strict', executor: 'codemod' },
    {
      codemod: { adapter: 'local', command: [process.execPath, codemod], args: ['!'] },
    },
  );
  const child = await childWhere('done');
  expect(read(child, 'out.txt')).toBe('strict!');
  expect(child.files.written).toBe(1);
});

test('a program that fails is not tried again', async () => {
  await launch(
    { id: 'a', prompt: 'x', executor: 'codemod' },
    {
      codemod: { adapter: 'local', command: script('process.exit(4)') },
    },
  );
  const child = await childWhere('failed');
  expect([child.attempts, child.reason?.message]).toEqual([
    1,
    'Invalid request: the program ended with exit 4',
  ]);
});

test.each([
  ['is carried out first, and taken away', '- write: rest.txt\\n  text: the rest\\n', 'done', 'the rest'],
  ['runs no programs', '- write: rest.txt\\n  text: x\\n- run: touch ran\\n', 'failed', null],
] as const)('a plan that another executor has left in the folder %s', async (_what, left, status, rest) => {
  const leaves = world.write(
    'leaves.mjs',
    `import fs from 'node:fs';
fs.writeFileSync('.swarm-plan.yaml', '${left}');
console.log(JSON.stringify({ type: 'limit', status: 'rejected', resetsAt: Math.floor(Date.now() / 1000) + 9999, window: 'five_hour' }));
process.exit(1);
`,
  );
  const text = JSON.stringify({
    version: 1,
    executors: { model: { adapter: 'command', command: [process.execPath, leaves] } },
    executor: ['model', 'local'],
    check: null,
    policy: { fallbackAfter: '1s' },
    tasks: [{ id: 'a', prompt: 'Do what needs thought, leave the rest as a plan' }],
  });
  const answer = await supervisor.request({
    type: 'launch',
    manifest: { kind: 'json', text, name: 'test.json' },
    consent: true,
  });
  expect(answer.ok).toBe(true);
  const view = await viewWhere(supervisor, status, (seen) => childOf(seen)?.status === status);
  const child = childOf(view);
  if (child === undefined) throw new Error('no child');
  expect(view.gates.map((gate) => gate.credential)).toEqual(['model']);
  expect([read(child, 'rest.txt'), read(child, 'ran')]).toEqual([rest, null]);
  expect(read(child, '.swarm-plan.yaml') === null).toBe(status === 'done');
});
