import { expect, test } from 'vitest';
import type { EffectContext } from '../../../src/supervisor/effects/context.js';
import { errorsByWriter } from '../../../src/supervisor/effects/checkedChildren.js';
import { concernsTree } from '../../../src/supervisor/effects/strays.js';

const context = {
  repository: { topLevel: '/work/app' },
  settings: { worktrees: { location: null } },
} as unknown as EffectContext;

test('of a child with a worktree of its own only what names the tree is about the tree', () => {
  const shell = (command: string) => concernsTree(context, { type: 'shell', command, exitCode: 0 });
  expect(shell("sed -i 's/a/b/' /work/app/src/a.ts")).toBe(true);
  expect(shell('cd /work/app && make')).toBe(true);
  expect(shell("sed -i 's/a/b/' src/a.ts")).toBe(false);
  expect(shell('cd /work/app.worktrees/batch/child && make')).toBe(false);
  expect(shell('ls /work/application')).toBe(false);
  const write = (path: string) => concernsTree(context, { type: 'write', path, tool: 'Write' });
  expect(write('/work/app/src/a.ts')).toBe(true);
  expect(write('/work/app.worktrees/batch/child/src/a.ts')).toBe(false);
  expect(write('src/a.ts')).toBe(false);
});

test('an error is put down to whose file it is in, and to the tree where it is nobody’s', () => {
  const child = (id: string, where: 'tree' | 'held' | 'own', ...files: string[]) =>
    ({ id, title: id, phase: 'running', where, files }) as const;
  const errors = ['a.ts', 'a.ts', 'b.ts', 'mine.ts'].map((path) => ({ path }));
  const children = [
    child('one', 'tree', 'a.ts'),
    child('two', 'tree', 'b.ts'),
    child('three', 'held', 'mine.ts'),
  ];
  expect(errorsByWriter(errors, children)).toEqual({
    errorsByChild: [
      { id: 'one', title: 'one', errors: 2 },
      { id: 'two', title: 'two', errors: 1 },
    ],
    errorsInTree: 1,
  });
  expect(errorsByWriter(errors, [])).toEqual({ errorsByChild: [] });
});
