import { expect, test } from 'vitest';
import {
  briefPrompt,
  firstPrompt,
  nextPrompt,
  resumePrompt,
} from '../../../src/supervisor/effects/prompts.js';
import type { Plan, PlannedTask } from '../../../src/supervisor/manifest/plan.js';
import { emptyCheckpoint, type Checkpoint } from '../../../src/supervisor/research/checkpoint.js';

const task: PlannedTask = {
  id: 'cart',
  title: 'The cart',
  prompt: 'Check the items of a cart.',
  chain: ['claude'],
  files: null,
  check: null,
  timeout: { idle: 1, total: null },
};
const plan = { context: 'Be brief.\n' } as Plan;
const known: Checkpoint = {
  ...emptyCheckpoint('b', 'cart', 'The cart'),
  base: 'aaaaaaaaaa',
  read: [{ path: 'src/cart.ts', sha256: 'x', modifiedAt: 1, at: 1 }],
  commands: [{ command: 'npx tsc', exitCode: 1, tree: 'aaaaaaa', at: 1, attempt: 1 }],
  next: [
    { text: 'Write the check', done: true },
    { text: 'Run the tests', done: false },
  ],
  decisions: [{ text: 'Refuse a bad item\nwith its name', at: 1 }],
};
const quiet = {
  changed: [],
  gone: [],
  base: 'aaaaaaaaaa',
  head: 'aaaaaaaaaa',
  movedTo: null,
  writers: new Map<string, readonly string[]>(),
};

test('the first prompt is the context and the task, and nothing of ours', () => {
  expect(firstPrompt(plan, task)).toBe('Be brief.\n\nCheck the items of a cart.');
  expect(firstPrompt({ ...plan, context: ' \n' }, task)).toBe('Check the items of a cart.');
});

test('a resume in the same session says what changed and what is next, and not the task again', () => {
  const prompt = resumePrompt(
    known,
    { reason: 'usage_limit' },
    {
      changed: ['src/cart.ts'],
      gone: ['old.ts'],
      base: 'aaaaaaaaaa',
      head: 'bbbbbbbbbb',
      movedTo: '/w/cart',
      writers: new Map([
        ['src/cart.ts', ['The login', 'the user']],
        ['src/login.ts', ['The login']],
      ]),
    },
  );
  expect(prompt).not.toContain(task.prompt);
  expect(prompt).toMatchInlineSnapshot(`
    "You were interrupted by a limit of the account and can go on now. Your earlier work in this folder is kept.

    Your work was moved into a folder of its own, /w/cart. Work there and nowhere else.
    Changed by others since (read these again):
    - src/cart.ts (The login, the user)
    Removed by others since:
    - old.ts
    Work of others in the main tree, which this folder does not have; leave it to them:
    - src/login.ts (The login)

    The main tree has moved on from aaaaaaa to bbbbbbb; this folder still starts from aaaaaaa.
    Verified:
    - npx tsc: exit 1, on the files as they are
    Decisions:
    - Refuse a bad item with its name
    Steps done:
    - Write the check
    Next steps:
    - Run the tests

    Go on where you stopped. A command that ran when you were interrupted may be half done: look before you repeat it.
    Do not read files again that have not changed, and do not redo what is finished."
  `);
});

test('a brief for a fresh session has the task once, and all that is known', () => {
  const prompt = briefPrompt(plan, task, known, { reason: 'process_crash' }, quiet);
  expect(prompt.split(task.prompt)).toHaveLength(2);
  expect(prompt).toMatchInlineSnapshot(`
    "Be brief.

    Check the items of a cart.

    ---

    An earlier session worked on this task in this folder and was interrupted because the process ended unexpectedly. Its work is kept; this is what it left:

    None of the files you know has been changed by others since.
    The main tree has not moved.
    Verified:
    - npx tsc: exit 1, on the files as they are
    Decisions:
    - Refuse a bad item with its name
    Steps done:
    - Write the check
    Next steps:
    - Run the tests

    Files it has read:
    - src/cart.ts
    Go on from there. Read a file again only where you need its content; do not redo what is finished."
  `);
});

test('a task that is given back goes as it is into its session, and with what is known into a fresh one', () => {
  expect(nextPrompt('Correct it.', known, false, quiet)).toBe('Correct it.');
  const fresh = nextPrompt('Correct it.', known, true, quiet);
  expect(fresh.startsWith('Correct it.\n')).toBe(true);
  expect(fresh).toContain('Run the tests');
});
