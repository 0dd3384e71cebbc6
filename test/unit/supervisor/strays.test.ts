import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Attempt } from '../../../src/supervisor/effects/attempt.js';
import type { EffectContext } from '../../../src/supervisor/effects/context.js';
import { errorsByWriter } from '../../../src/supervisor/effects/checkedChildren.js';
import { concernsTree, straysOf } from '../../../src/supervisor/effects/strays.js';

const context = {
  repository: { topLevel: '/home/me/app' },
  settings: { worktrees: { location: null } },
} as unknown as EffectContext;

function attempt(work = '/home/me/app.worktrees/batch/child'): Attempt {
  return { key: 'batch/child', number: 1, work } as unknown as Attempt;
}

test('of a child with a worktree of its own only what names the tree is about the tree', () => {
  const shell = (command: string) =>
    concernsTree(context, attempt(), { type: 'shell', command, exitCode: 0 });
  expect(shell("sed -i 's/a/b/' /home/me/app/src/a.ts")).toBe(true);
  expect(shell('cd /home/me/app && make')).toBe(true);
  expect(shell("sed -i 's/a/b/' src/a.ts")).toBe(false);
  expect(shell('cd /home/me/app.worktrees/batch/child && make')).toBe(false);
  expect(shell('ls /home/me/application')).toBe(false);
  const write = (path: string) => concernsTree(context, attempt(), { type: 'write', path, tool: 'Write' });
  expect(write('/home/me/app/src/a.ts')).toBe(true);
  expect(write('/home/me/app.worktrees/batch/child/src/a.ts')).toBe(false);
  expect(write('src/a.ts')).toBe(false);
  expect(write('../../../app/src/a.ts')).toBe(true);
  expect(write('../other/src/a.ts')).toBe(false);
});

test('a command goes to the tree also by a relative path, or from where the one before it has gone', () => {
  const shell = (...commands: readonly string[]) => {
    const one = attempt();
    return commands.map((command) => concernsTree(context, one, { type: 'shell', command, exitCode: 0 }));
  };
  expect(shell("sed -i 's/a/b/' ../../../app/src/a.ts")).toEqual([true]);
  expect(shell('cd ../../../app && make', 'make', 'cd src', 'cd /tmp', 'make')).toEqual([
    true,
    true,
    true,
    true,
    false,
  ]);
  expect(shell('cd src && cat ../a.ts', 'make')).toEqual([false, false]);
  expect(shell('cd ../other && make', 'cat x')).toEqual([false, false]);
});

describe('what a child has written outside of its worktree', () => {
  const other = {
    key: 'batch/other',
    task: { id: 'other' },
    worktree: { path: '/home/me/app.worktrees/batch/other' },
  };
  const full = { ...context, state: () => ({ children: { other } }) } as unknown as EffectContext;
  const written = (path: string, work?: string) =>
    straysOf(full, attempt(work), { type: 'write', path, tool: 'Write' }, null);

  test('is named with whose tree it is in', async () => {
    expect(await written('../../../app/src/a.ts')).toEqual([{ path: 'src/a.ts', who: 'you', moved: false }]);
    expect(await written('/home/me/app.worktrees/batch/other/x')).toEqual([
      { path: 'x', who: 'other', moved: false },
    ]);
    expect(await written('../other/x')).toEqual([{ path: 'x', who: 'other', moved: false }]);
    for (const own of ['src/a.ts', '/home/me/app.worktrees/batch/child/x', '/tmp/x', '../elsewhere/x'])
      expect(await written(own)).toEqual([]);
    expect(await written('/home/me/app/src/a.ts', '/home/me/app')).toEqual([]);
  });

  test('by a command is what it names and what changed since it began', async () => {
    const home = mkdtempSync(path.join(tmpdir(), 'swarm-strays-'));
    try {
      const own = path.join(home, 'app.worktrees/b/child');
      const tree = path.join(home, 'app');
      for (const folder of [own, tree]) mkdirSync(folder, { recursive: true });
      for (const name of ['a.ts', 'b.ts']) writeFileSync(path.join(tree, name), 'x');
      const here = { ...full, repository: { topLevel: tree } } as unknown as EffectContext;
      const run = (command: string, since: number | null) =>
        straysOf(here, attempt(own), { type: 'shell', command, exitCode: 0 }, since);
      const changed = Math.floor(statSync(path.join(tree, 'a.ts')).ctimeMs);
      const stray = { path: 'a.ts', who: 'you', moved: false };
      expect(await run('sed -i s/x/y/ ../../../app/a.ts', changed)).toEqual([stray]);
      expect(await run('cd ../../../app && sed -i s/x/y/ a.ts', changed)).toEqual([stray]);
      expect(await run('cat ../../../app/a.ts', changed + 5000)).toEqual([]);
      expect(await run('cat ../../../app/a.ts', null)).toEqual([]);
      expect(await run('make -C ../../../app', changed)).toEqual([]);
    } finally {
      rmSync(home, { recursive: true });
    }
  });
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
