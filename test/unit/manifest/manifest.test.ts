import { expect, test } from 'vitest';
import {
  parseManifest,
  programsNamedBy,
  type ManifestDefaults,
  type ManifestInput,
} from '../../../src/supervisor/manifest/manifest.js';
import type { Plan } from '../../../src/supervisor/manifest/plan.js';
import { defaults } from './defaults.js';

function parse(text: string, more: Partial<ManifestInput> = {}, over: Partial<ManifestDefaults> = {}) {
  return parseManifest({ kind: 'yaml', text, name: 'nightly.yaml', ...more }, { ...defaults, ...over });
}

function planOf(text: string, more: Partial<ManifestInput> = {}, over: Partial<ManifestDefaults> = {}): Plan {
  const parsed = parse(text, more, over);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors, null, 2));
  return parsed.plan;
}

/** `line: message | fix` of every error. */
function errorsOf(text: string, more: Partial<ManifestInput> = {}, over: Partial<ManifestDefaults> = {}) {
  const parsed = parse(text, more, over);
  return parsed.ok ? [] : parsed.errors.map((error) => `${error.line}: ${error.message} | ${error.fix}`);
}

test('a full manifest is read with everything filled in', () => {
  const plan = planOf(`
version: 1
name: release
executor: [fast, codex]
executors:
  fast: { adapter: claude, model: haiku, env: { ANTHROPIC_BASE_URL: "\${env:BASE}" } }
roles:
  tester: codex
isolation: shared
maxConcurrent: 3
context: Be brief.
check: npx tsc --noEmit
timeout: { idle: 5m, total: 2h }
tasks:
  - id: cart
    title: The cart
    prompt: Check the cart
    files: ["src/**"]
  - prompt: |
      Test the cart

      and more
    role: tester
    timeout: { idle: 30s }
    check: [npm, test]
policy:
  consent: { weekly: never, overloaded: auto }
  probe: [1m, 2m]
  margin: 3s
  ramp: 2
  maxAutoResumes: 5
  holdAbove: 80
  fallbackAfter: 30m
  quietHours: "23:00-07:30"
  tokensPerWake: 1000
`);
  expect(plan).toMatchObject({
    name: 'release',
    isolation: 'shared',
    maxConcurrent: 3,
    maxTotalSpawned: 2,
    context: 'Be brief.',
    check: ['npx', 'tsc', '--noEmit'],
    timeout: { idle: 300_000, total: 7_200_000 },
    policy: {
      consent: { weekly: 'never', overloaded: 'auto' },
      probe: [60_000, 120_000],
      margin: 3000,
      ramp: 2,
      maxAutoResumes: 5,
      holdAbove: 80,
      fallbackAfter: 1_800_000,
      quietHours: { from: 1380, to: 450 },
      tokensPerWake: 1000,
    },
    tasks: [
      {
        id: 'cart',
        title: 'The cart',
        prompt: 'Check the cart',
        chain: ['fast', 'codex'],
        files: ['src/**'],
        check: null,
        timeout: { idle: 300_000, total: 7_200_000 },
      },
      {
        id: 't2',
        title: 'Test the cart',
        chain: ['codex'],
        check: ['npm', 'test'],
        timeout: { idle: 30_000, total: 7_200_000 },
      },
    ],
  });
  expect(plan.executors['fast']).toEqual({
    name: 'fast',
    adapter: 'claude',
    command: [],
    args: [],
    env: { ANTHROPIC_BASE_URL: '${env:BASE}' },
    model: 'haiku',
    credential: 'claude',
    permissions: 'edit',
  });
});

test('the batch is named after its file where it has no name', () => {
  expect(planOf('version: 1\ntasks: [{ prompt: x }]').name).toBe('nightly');
});

test('template and items make a task each', () => {
  const plan = planOf('version: 1\ntemplate: Fix {{item}} in {{ item }}\nitems: [one, 2]');
  expect(plan.tasks.map(({ id, title, prompt }) => ({ id, title, prompt }))).toEqual([
    { id: 't1', title: 'one', prompt: 'Fix one in one' },
    { id: 't2', title: '2', prompt: 'Fix 2 in 2' },
  ]);
});

test('five mistakes are told at once, each with its line and what to write', () => {
  expect(
    errorsOf(
      `version: 1
executr: claude
maxConcurrent: 0
isolation: worktre
tasks:
  - id: a/b
    prompt: x
  - id: c
    prompt: 12
  - id: C
    prompt: y
    executor: cloude
timeout: { idle: soon }
`,
    ),
  ).toMatchInlineSnapshot(`
    [
      "2: Unknown key "executr" | Write "executor".",
      "3: maxConcurrent cannot be 0 | Write maxConcurrent: 4 (a whole number from 1 to 1000).",
      "4: isolation is "worktre", not worktree or shared (did you mean worktree?) | Write isolation: worktree, or isolation: shared.",
      "6: The id "a/b" is a path | Write letters, digits, - and _ only, at most 64, such as a-b.",
      "9: tasks[2].prompt cannot be 12 | Write prompt: what the agent shall do.",
      "10: The ids "c" and "C" differ in case only | Write another id; the first is in line 8.",
      "12: Unknown executor "cloude" | Write "claude".",
      "13: timeout.idle cannot be "soon" | Write idle: 10m (durations are 4s, 15m, 1h).",
    ]
  `);
});

test('every error of a broken task list is told beside the errors of the shape', () => {
  expect(
    errorsOf(`version: 2
tasks:
  - id: a
    prompt: one
  - id: A
    prompt: two
  - prompt: ""
  - title: only a title
`),
  ).toMatchInlineSnapshot(`
    [
      "1: version is 2, not 1 | Write version: 1.",
      "5: The ids "a" and "A" differ in case only | Write another id; the first is in line 3.",
      "7: The prompt of "t3" is empty | Write what to do.",
      "8: tasks[4].prompt is missing | Write prompt: what the agent shall do.",
    ]
  `);
});

test('what cannot be read as YAML or JSON is told with its line', () => {
  expect(errorsOf('version: 1\ntasks: [\n  { prompt: x }\n')).toMatchInlineSnapshot(`
    [
      "4: Flow sequence in block collection must be sufficiently indented and end with a ] | Correct the YAML here.",
    ]
  `);
  expect(errorsOf('version: 1\nname: a\nname: b\ntasks: [{ prompt: x }]')).toMatchInlineSnapshot(`
    [
      "3: Map keys must be unique | Keep one of the two keys.",
    ]
  `);
  expect(errorsOf('{"version": 1,\n"tasks": [{"prompt": "x"},]}', { kind: 'json' })).toMatchInlineSnapshot(`
    [
      "2: Not JSON: Unexpected token ']' | Correct the JSON here, or name the file .yaml.",
    ]
  `);
  expect(errorsOf('- a\n- b')).toMatchInlineSnapshot(`
    [
      "1: The manifest is a list, not keys with values | Begin with "version: 1" and a list "tasks:".",
    ]
  `);
  expect(errorsOf('just words')).toMatchInlineSnapshot(`
    [
      "1: The manifest is a single value, not keys with values | Begin with "version: 1" and a list "tasks:".",
    ]
  `);
  expect(errorsOf('# only a comment\n')).toMatchInlineSnapshot(`
    [
      "1: The manifest is empty: there are only comments in it | Begin with "version: 1" and a list "tasks:".",
    ]
  `);
});

test('an empty file is told to be empty, with how one of its kind begins', () => {
  const told = (['yaml', 'json', 'markdown'] as const).map((kind) => errorsOf(' \n\n', { kind }));
  expect(told).toMatchInlineSnapshot(`
    [
      [
        "1: The file is empty | Begin with "version: 1" and a list "tasks:" with "- prompt: …".",
      ],
      [
        "1: The file is empty | Write { "version": 1, "tasks": [{ "prompt": "…" }] }.",
      ],
      [
        "1: The file is empty | Write an open checkbox for each task: "- [ ] …".",
      ],
    ]
  `);
});

test.each(['yaml', 'json', 'markdown', 'tasks'] as const)(
  'of a %s file that is no text only that is told',
  (kind) => {
    expect(errorsOf('PK\u0003\u0004\0\0- [ ] x\n: [', { kind })).toEqual([
      expect.stringMatching(/^null: This is no text in UTF-8.* \| Name a YAML, JSON or Markdown file/),
    ]);
  },
);

test('a mistake is told once: what was refused for it is not missed in other places', () => {
  expect(
    errorsOf(`version: 1
executor: x
maxTotalSpawned: 4
executors:
  x: { adapter: command, command: [node], env: { "BAD-NAME": 1 } }
  y: 5
  z: { adapter: command, command: 7 }
  w: { adapter: 3 }
  v: { adapter: comand, args: 5 }
  u: { model: some }
roles: { bad: 5 }
tasks:
  - { prompt: a, executor: y }
  - { prompt: b, executor: [z, w, v, u] }
  - { prompt: c, role: bad }
  - words
  - { prompt: 7 }
`),
  ).toMatchInlineSnapshot(`
    [
      "3: 5 tasks, but maxTotalSpawned allows 4 | Write maxTotalSpawned: 5 or remove 1 task.",
      "5: executors.x.env.BAD-NAME is no valid name | Write env: { NAME: "\${env:NAME}" }.",
      "6: executors.y cannot be 5 | Write executors: { mine: { adapter: command, command: [node, agent.mjs] } }.",
      "7: executors.z.command cannot be 7 | Write command: [node, agent.mjs].",
      "8: executors.w.adapter cannot be 3 | Write adapter: claude, codex, kimi or command.",
      "9: executors.v.args cannot be 5 | Write args: ["--flag", value].",
      "9: Executor "v" has the unknown adapter "comand" | Write "adapter: command".",
      "10: Executor "u" has no adapter | Add it, such as "adapter: claude"; known are claude, codex, kimi, gemini, qwen, opencode, copilot, cursor, acp, command, local, demo.",
      "11: roles.bad cannot be 5 | Write roles: { developer: [claude, codex] }.",
      "16: tasks[4] cannot be "words" | Write tasks: a list of { prompt: … }.",
      "17: tasks[5].prompt cannot be 7 | Write prompt: what the agent shall do.",
    ]
  `);
  expect(errorsOf('version: 1\nmaxTotalSpawned: 2\ntemplate: do {{item}}\nitems: [a, { b: 1 }, c]'))
    .toMatchInlineSnapshot(`
    [
      "2: 3 tasks, but maxTotalSpawned allows 2 | Write maxTotalSpawned: 3 or remove 1 task.",
      "4: items[2] cannot be {"b":1} | Write items: [first, second].",
    ]
  `);
  expect(
    errorsOf(
      'version: 1\nmaxTotalSpawned: 1\ntemplate: do {{item}}\nitems: 5\ntasks: [{ prompt: a }, { prompt: b }]',
    ),
  ).toMatchInlineSnapshot(`
    [
      "4: items cannot be 5 | Write items: [first, second].",
    ]
  `);
  expect(errorsOf('version: 1\nexecutor: x\nexecutors: [x]\ntasks: [{ prompt: a, executor: y }]'))
    .toMatchInlineSnapshot(`
    [
      "3: executors cannot be ["x"] | Write executors: { mine: { adapter: command, command: [node, agent.mjs] } }.",
    ]
  `);
});

test('no task at all is an error in every kind of input', () => {
  expect(errorsOf('version: 1\ntasks: []')).toMatchInlineSnapshot(`
    [
      "2: There is no task | Add at least one: "tasks:" with "- prompt: …", a line of text, or "- [ ] …" in Markdown.",
    ]
  `);
  expect(errorsOf('version: 1')).toMatchInlineSnapshot(`
    [
      "1: There is no task | Add at least one: "tasks:" with "- prompt: …", a line of text, or "- [ ] …" in Markdown.",
    ]
  `);
  expect(errorsOf('# Title\n\n- [x] done', { kind: 'markdown' })).toMatchInlineSnapshot(`
    [
      "1: There is no task | Add at least one: "tasks:" with "- prompt: …", a line of text, or "- [ ] …" in Markdown.",
    ]
  `);
  expect(errorsOf('  \n\n', { kind: 'tasks' })).toMatchInlineSnapshot(`
    [
      "1: There is no task | Add at least one: "tasks:" with "- prompt: …", a line of text, or "- [ ] …" in Markdown.",
    ]
  `);
});

test('more tasks than the budget are refused with the line of the budget', () => {
  expect(errorsOf('version: 1\nmaxTotalSpawned: 1\ntasks: [{ prompt: a }, { prompt: b }]'))
    .toMatchInlineSnapshot(`
      [
        "2: 2 tasks, but maxTotalSpawned allows 1 | Write maxTotalSpawned: 2 or remove 1 task.",
      ]
    `);
});

test('a prompt of 256 KiB is taken, one byte more is not', () => {
  const text = (bytes: number) => JSON.stringify({ version: 1, tasks: [{ prompt: 'x'.repeat(bytes) }] });
  expect(planOf(text(256 * 1024)).tasks).toHaveLength(1);
  expect(errorsOf(text(256 * 1024 + 1))).toMatchInlineSnapshot(`
    [
      "1: The prompt of "t1" has 257 KiB, more than 256 | Put the long part into a file of the repository and name the file in the prompt.",
    ]
  `);
});

test('an executor without a program of its own is told where it is described', () => {
  expect(
    errorsOf('version: 1\nexecutor: mine\nexecutors:\n  mine: { adapter: command }\ntasks: [{ prompt: x }]'),
  ).toMatchInlineSnapshot(`
    [
      "4: Executor "mine" has no command | Add it: executors: { mine: { adapter: command, command: [program, argument] } }.",
    ]
  `);
  expect(
    errorsOf('version: 1\nexecutors:\n  mine:\n    adapter: cladue\nexecutor: mine\ntasks: [{ prompt: x }]'),
  ).toMatchInlineSnapshot(`
    [
      "4: Executor "mine" has the unknown adapter "cladue" | Write "adapter: claude".",
    ]
  `);
});

test('open checkboxes of Markdown are tasks, with the indented lines below them', () => {
  const plan = planOf(
    '---\nmaxConcurrent: 2\n---\n# Clean up\n\nwords\n\n- [ ] First\n  with more\n\n  and code\n- [x] Second\n* [ ] Third\nend\n',
    { kind: 'markdown', name: 'todo.md' },
  );
  expect({
    name: plan.name,
    maxConcurrent: plan.maxConcurrent,
    tasks: plan.tasks.map((task) => task.prompt),
  }).toEqual({
    name: 'Clean up',
    maxConcurrent: 2,
    tasks: ['First\nwith more\n\nand code', 'Third'],
  });
});

test('typed tasks are one a line', () => {
  const plan = planOf('first\n\n  second: with a colon  \n', { kind: 'tasks', name: '' });
  expect(plan.tasks.map(({ id, prompt }) => `${id} ${prompt}`)).toEqual([
    't1 first',
    't2 second: with a colon',
  ]);
  expect(plan.name).toBe('first +1');
});

test('the command line wins over the manifest', () => {
  const plan = planOf('version: 1\nexecutor: claude\ntasks: [{ prompt: x, executor: kimi }]', {
    executor: 'codex',
    maxConcurrent: 1,
    isolation: 'shared',
  });
  expect(plan).toMatchObject({ maxConcurrent: 1, isolation: 'shared', tasks: [{ chain: ['codex'] }] });
});

test('a chain can be chosen over the manifest, its names joined by commas', () => {
  const plan = planOf('Write it', { kind: 'tasks', executor: 'claude,codex' });
  expect(plan.tasks[0]?.chain).toEqual(['claude', 'codex']);
});

test('the manifest wins over the settings, and the settings over the defaults', () => {
  const executors = {
    mine: { adapter: 'command', command: ['a'], args: ['b'], env: { X: '1', Y: '2' } },
  };
  const plan = planOf(
    'version: 1\nexecutor: mine\nexecutors: { mine: { args: [c], env: { Y: 3 } } }\ntasks: [{ prompt: x }]',
    {},
    { executors },
  );
  expect(plan.executors['mine']).toMatchObject({
    adapter: 'command',
    command: ['a'],
    args: ['c'],
    env: { X: '1', Y: '3' },
    credential: 'mine',
  });
});

test('a repeated alias bomb is refused and not expanded', () => {
  const bomb = `version: 1\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ntasks: [{ prompt: x }]`;
  expect(errorsOf(bomb).length).toBeGreaterThan(0);
});

test('programs that a manifest names are listed for the question, with what steers them', () => {
  const input: ManifestInput = {
    kind: 'yaml',
    text: `version: 1
check: npm run check
executor: mine
executors:
  mine: { adapter: command, command: [node, agent.mjs], permissions: full }
  unused: { adapter: command, command: [rm] }
tasks: [{ prompt: x }]`,
    name: '',
  };
  expect(programsNamedBy(input, defaults)).toEqual([
    { use: 'executor mine', command: ['node', 'agent.mjs'], full: true },
    { use: 'check', command: ['npm', 'run', 'check'], full: false },
  ]);
  expect(programsNamedBy({ kind: 'tasks', text: 'x', name: '' }, defaults)).toEqual([]);
});
