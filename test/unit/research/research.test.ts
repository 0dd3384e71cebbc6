import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/supervisor/agents/agent.js';
import {
  emptyCheckpoint,
  parseCheckpoint,
  type Checkpoint,
} from '../../../src/supervisor/research/checkpoint.js';
import { checkpointJson, checkpointText } from '../../../src/supervisor/research/report.js';
import {
  detailsOf,
  isProgress,
  noteEvent,
  Notes,
  treeId,
  type EditLine,
  type FileState,
} from '../../../src/supervisor/research/research.js';

const start: Checkpoint = { ...emptyCheckpoint('b', 'c', 'The cart'), attempt: 1, base: 'base0000base' };
const file = (text: string): FileState => ({ sha256: `sha-${text}`, blob: `blob-${text}`, modifiedAt: 7 });

/** Notes events one second apart; a file event carries the state that the test names. */
function after(
  events: readonly (AgentEvent | readonly [AgentEvent, FileState | null])[],
  from: Checkpoint = start,
): { known: Checkpoint; edits: EditLine[] } {
  let known = from;
  const edits: EditLine[] = [];
  events.forEach((item, i) => {
    const [event, state] = Array.isArray(item)
      ? (item as [AgentEvent, FileState | null])
      : [item as AgentEvent, null];
    const noted = noteEvent(known, event, { at: i * 1000, folder: '/work/c', file: state });
    known = noted.checkpoint;
    if (noted.edit !== null) edits.push(noted.edit);
  });
  return { known, edits };
}

test('files are noted by their path from the child’s folder, with the hash they had', () => {
  const { known } = after([
    [{ type: 'read', path: '/work/c/src/a.ts' }, file('one')],
    [{ type: 'read', path: './src/b.ts' }, null],
    [{ type: 'read', path: '/etc/hosts' }, file('hosts')],
    [{ type: 'read', path: 'src/a.ts' }, file('two')],
  ]);
  expect(known.read.map(({ path, sha256 }) => `${path} ${sha256}`)).toEqual([
    'src/b.ts null',
    '/etc/hosts sha-hosts',
    'src/a.ts sha-two',
  ]);
});

test('a written file is known as it was written, and the ledger chains its blobs', () => {
  const write: AgentEvent = { type: 'write', path: 'a.ts', tool: 'Edit' };
  const { known, edits } = after([
    [{ type: 'read', path: 'a.ts' }, file('one')],
    [write, file('two')],
    [write, file('three')],
    [{ type: 'write', path: 'new.ts', tool: 'Write' }, file('new')],
  ]);
  expect(known.read.find(({ path }) => path === 'a.ts')?.sha256).toBe('sha-three');
  expect(detailsOf(known).written).toEqual([
    { path: 'a.ts', kind: 'M' },
    { path: 'new.ts', kind: 'A' },
  ]);
  expect(edits.map(({ path, before, after: now, attempt }) => [path, before, now, attempt])).toEqual([
    ['a.ts', null, 'blob-two', 1],
    ['a.ts', 'blob-two', 'blob-three', 1],
    ['new.ts', null, 'blob-new', 1],
  ]);
});

test('a verification belongs to the tree it ran on, and is stale after the next write', () => {
  const check: AgentEvent = { type: 'shell', command: 'npx tsc --noEmit', exitCode: 0 };
  const { known } = after([check]);
  expect(known.commands[0]?.tree).toBe('base000');
  expect(detailsOf(known).verification).toMatchObject([{ exitCode: 0, stale: false }]);
  const { known: later } = after([[{ type: 'write', path: 'a.ts', tool: 'Edit' }, file('x')]], known);
  expect(detailsOf(later).verification).toMatchObject([{ tree: 'base000', stale: true }]);
  const { known: again } = after([check], later);
  expect(detailsOf(again).verification.at(-1)).toMatchObject({ tree: treeId(later), stale: false });
});

test('tokens add up over sessions; a running total counts the session once', () => {
  const usage = (mode: 'add' | 'total', input: number): AgentEvent => ({
    type: 'usage',
    mode,
    input,
    cachedInput: 0,
    output: 1,
  });
  const { known } = after([
    { type: 'session', id: 'one' },
    usage('total', 10),
    usage('total', 30),
    { type: 'session', id: 'two' },
    usage('total', 5),
    usage('total', 8),
    usage('add', 2),
  ]);
  expect(known.tokens.input).toBe(40);
  // The same session again, as after a resume: its total goes on.
  const { known: resumed } = after(
    [{ type: 'session', id: 'one' }, usage('total', 30)],
    after([{ type: 'session', id: 'one' }, usage('total', 10)]).known,
  );
  expect(resumed.tokens.input).toBe(30);
});

test('noting many events, asked now and then, says the same as noting one by one', () => {
  const words = fc.oneof(
    fc.constantFrom(
      'I have found out why it fails',
      'The second thing that I found',
      '',
      ' \n ',
      '\u0001\nlater',
    ),
    fc.string({ maxLength: 40 }),
  );
  const event: fc.Arbitrary<AgentEvent> = fc.oneof(
    words.map((text) => ({ type: 'text', text }) as const),
    words.map((text) => ({ type: 'text', text: `${text} ${'and more of it '.repeat(50)}` }) as const),
    words.map((text) => ({ type: 'unrecognized', text }) as const),
    words.map((text) => ({ type: 'decision', text }) as const),
    words.map((path) => ({ type: 'write', path, tool: 'Edit' }) as const),
    fc.constantFrom<AgentEvent>({ type: 'ignored' }, { type: 'done', ok: true, result: 'It is done now' }),
  );
  const steps = fc.array(fc.tuple(event, fc.boolean()), { maxLength: 120 });
  fc.assert(
    fc.property(steps, (all) => {
      const events = all.map(([each]) => each);
      const notes = new Notes(start);
      const edits = all.flatMap(([each, isAsked], i) => {
        const edit = notes.note(each, { at: i * 1000, folder: '/work/c', file: null });
        if (isAsked) notes.checkpoint();
        return edit === null ? [] : [edit];
      });
      expect({ known: notes.checkpoint(), edits }).toEqual(after(events));
    }),
  );
});

test('what counts as progress is what rule 10 names', () => {
  const events: AgentEvent[] = [
    { type: 'session', id: 'x' },
    { type: 'writing', path: 'a', tool: 'x' },
    { type: 'shellStarted', command: 'x' },
    { type: 'denied', what: 'x' },
    { type: 'unrecognized', text: 'x' },
    { type: 'usage', mode: 'add', input: 5, cachedInput: 0, output: 0 },
    { type: 'signal', final: true, signal: { channel: 'event', text: 'limit' } },
    { type: 'done', ok: false, result: '' },
  ];
  expect(events.filter(isProgress)).toEqual([]);
  expect(isProgress({ type: 'usage', mode: 'add', input: 0, cachedInput: 0, output: 1 })).toBe(true);
  expect(isProgress({ type: 'text', text: 'x' })).toBe(true);
});

test('a line that means nothing changes nothing', () => {
  const { known } = after([{ type: 'ignored' }, { type: 'unrecognized', text: '  ' }]);
  expect(known).toBe(start);
});

test('checkpoint.md is for reading, checkpoint.json comes back as it was; neither holds a secret', () => {
  const secret = `sk-ant-${'a1b2c3d4'.repeat(5)}`;
  const { known } = after([
    { type: 'session', id: 's-1' },
    [
      { type: 'read', path: 'src/cart.ts' },
      { sha256: 'abcdef0123456789', blob: 'b', modifiedAt: 1 },
    ],
    [{ type: 'write', path: 'src/cart.ts', tool: 'Edit' }, file('new')],
    { type: 'decision', text: `Use the key ${secret}` },
    {
      type: 'next',
      items: [
        { text: 'Run the check', done: false },
        { text: 'Read', done: true },
      ],
    },
    { type: 'shell', command: `TOKEN=${secret} npm test`, exitCode: 1 },
    { type: 'denied', what: 'Bash(rm -rf /)' },
  ]);
  expect(checkpointText(known)).toMatchInlineSnapshot(`
    "# The cart

    Attempt 1, session s-1, tree a3172d0.
    Last: was refused: Bash(rm -rf /)

    ## Next steps

    - [ ] Run the check

    ## Done

    - [x] Read

    ## Decisions and last statements

    - Use the key [redacted anthropic key]

    ## Files written

    - src/cart.ts

    ## Files read

    - src/cart.ts (sha-new)

    ## Verification

    - \`TOKEN=[redacted anthropic key] npm test\`: exit 1, on tree a3172d0

    ## Refused by its permissions

    - Bash(rm -rf /)

    ## Tokens

    - input 0, of it cached 0, output 0
    "
  `);
  const json = checkpointJson(known);
  expect(json).not.toContain(secret);
  expect(parseCheckpoint(json)?.written).toEqual(known.written);
  expect(parseCheckpoint('{"schema":1}')).toBe(null);
  expect(parseCheckpoint(null)).toBe(null);
});

test('what is kept has bounds, however long a child works', () => {
  const events: AgentEvent[] = Array.from({ length: 5000 }, (_, i) => ({
    type: 'decision',
    text: `decision ${i} ${'x'.repeat(5000)}`,
  }));
  const { known } = after(events);
  expect(known.decisions).toHaveLength(30);
  expect(checkpointJson(known).length).toBeLessThan(60_000);
});

test('a sum of tokens stays a number that its file can hold, however often it is told', () => {
  const usage: AgentEvent = { type: 'usage', mode: 'add', input: 4e15, cachedInput: 4e15, output: 4e15 };
  const { known } = after([usage, usage, usage]);
  expect(known.tokens.input).toBe(Number.MAX_SAFE_INTEGER);
  expect(parseCheckpoint(checkpointJson(known))?.tokens).toEqual(known.tokens);
});

test.each([
  '/etc/hosts',
  '../other/a.ts',
  'src/../../other/a.ts',
  '/work/c/../other/a.ts',
  '/work/cc/a.ts',
  '/work/c',
  'C:\\other\\a.ts',
])('a file outside of its folder is none that the child has written: %s', (path) => {
  const { known, edits } = after([[{ type: 'write', path, tool: 'Write' }, file('one')]]);
  expect(known.written).toEqual([]);
  expect(edits).toEqual([]);
  expect(known.lastLine).toMatch(/^wrote \S+, outside of its folder$/);
});

test('one file is written once, however its path is told', () => {
  const { known, edits } = after(
    ['src/a.ts', './src/a.ts', 'src//b/../a.ts', '/work/c/src/a.ts', '/work/./c/src/a.ts', 'src\\a.ts'].map(
      (path) => [{ type: 'write', path, tool: 'Write' }, file('one')] as const,
    ),
  );
  expect(known.written.map(({ path }) => path)).toEqual(['src/a.ts']);
  expect(new Set(edits.map(({ path }) => path))).toEqual(new Set(['src/a.ts']));
});
