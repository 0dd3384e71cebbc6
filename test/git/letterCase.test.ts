import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ApplyRequest, ChildWork } from '../../src/supervisor/ports/git.js';
import { allFiles, createRepo, type TestRepo } from './repo.js';
import { folderAt, reference, share, type Act } from './shared.js';

/** A repository that is told to take names that differ in case alone for one, on a disk that tells them apart. */
async function folding(files: Readonly<Record<string, string>>): Promise<TestRepo> {
  const repo = await createRepo(files);
  repo.run('config', 'core.ignorecase', 'true');
  return { ...repo, repository: await repo.inspectAgain() };
}

async function workOf(repo: TestRepo, id: string, act: Act): Promise<ChildWork> {
  const worktree = await repo.worktree(id);
  act(folderAt(worktree.path));
  const snapshot = await repo.snapshot(worktree, { ref: `refs/swarm/b1/${id}/1` });
  return { id, base: worktree.base, commit: snapshot?.commit ?? worktree.base };
}

function apply(repo: TestRepo, children: readonly ChildWork[], mode: ApplyRequest['mode'] = 'uncommitted') {
  return repo.git.apply(repo.repository, {
    children,
    check: null,
    mode,
    label: 'work',
    scratch: path.join(repo.home, 'project.worktrees', '.scratch'),
    beforeWrite: () => Promise.resolve(),
  });
}

const names = async (repo: TestRepo, { base, commit }: ChildWork): Promise<readonly string[]> =>
  (await repo.git.changesBetween(repo.repository, base, commit)).map(
    ({ kind, path: file }) => `${kind} ${file}`,
  );

describe('where git takes two cases of a name for one', () => {
  test('a tree that holds both keeps both, and so does a child’s work on both', async () => {
    const both = { 'README.md': 'big\n', 'Readme.md': 'small\n' };
    const repo = await folding(both);
    const act: Act = (at) => {
      at.write('README.md', 'big, by one\n');
      at.write('Readme.md', 'small, by one\n');
    };
    const one = await workOf(repo, 'one', act);
    expect(await names(repo, one)).toEqual(['M README.md', 'M Readme.md']);
    expect(await apply(repo, [one])).toMatchObject({ applied: ['one'], conflicts: [] });
    expect(allFiles(repo.top)).toEqual(allFiles(reference(repo.home, both, [act])));
  });

  test('a new file beside one of the other case is captured, and not lost with its worktree', async () => {
    const repo = await folding({ 'Readme.md': 'r\n', 'src/a.ts': 'a\n', '.gitignore': '*.LOG\n' });
    const worktree = await repo.worktree('one');
    const at = folderAt(worktree.path);
    at.write('README.md', 'new\n');
    at.write('SRC/A.TS', 'new\n');
    at.write('x.log', 'ignored, for git folds its patterns too\n');
    const changed = (await repo.git.changes(worktree)).map(({ path: file }) => file);
    expect(changed).toEqual(['README.md', 'SRC/A.TS']);
    expect(await repo.git.removeWorktree(repo.repository, worktree, null)).toMatchObject({ code: 'unsaved' });
    const snapshot = await repo.snapshot(worktree);
    expect(snapshot?.changes.map(({ path: file }) => file)).toEqual(['README.md', 'SRC/A.TS']);
  });

  test('the user’s new file beside one of the other case is in the base and changes the mark', async () => {
    const repo = await folding({ 'Readme.md': 'r\n' });
    const mark = await repo.git.treeMark(repo.repository);
    repo.write('README.md', 'user\n');
    expect(await repo.git.treeMark(repo.repository)).not.toBe(mark);
    const base = await repo.git.baseCommit(repo.repository, { uncommitted: true, ref: 'refs/swarm/b1/base' });
    expect(repo.run('ls-tree', '--name-only', base)).toBe('README.md\nReadme.md\n');
  });

  test('a shared tree gives a new file beside one of the other case back to who wrote it', async () => {
    const files = { 'Readme.md': 'r\n', 'a.ts': 'a\n' };
    const repo = await folding(files);
    const shared = await share(repo);
    const act: Act = (at) => {
      at.write('README.md', 'new\n');
      at.move('a.ts', 'A.ts');
    };
    await shared.act('child', act);
    expect(await shared.quarantine('child')).toMatchObject({ left: [] });
    expect(allFiles(repo.top)).toEqual(allFiles(reference(repo.home, files, [])));
    expect(allFiles(shared.worktreeOf('child'))).toEqual(allFiles(reference(repo.home, files, [act])));
  });

  const one: Act = (at) => at.write('Readme.md', 'one\n');
  const clashes: readonly (readonly [string, Act, Act, string, string])[] = [
    ['a file', one, (at) => at.write('README.md', 'two\n'), 'Readme.md', 'README.md'],
    [
      'a file in a folder',
      (at) => at.write('Docs/one.md', '1\n'),
      (at) => at.write('docs/ONE.md', '2\n'),
      'Docs/one.md',
      'docs/ONE.md',
    ],
    [
      'a file and a folder',
      (at) => at.write('Docs', '1\n'),
      (at) => at.write('docs/two.md', '2\n'),
      'Docs',
      'docs/two.md',
    ],
    [
      'a name in two forms of its accent',
      (at) => at.write('n\u00e4me.md', '1\n'),
      (at) => at.write('na\u0308me.md', '2\n'),
      'n\u00e4me.md',
      'na\u0308me.md',
    ],
  ];

  test.each(clashes)('two children’s new names clash: %s', async (_, left, right, mine, theirs) => {
    const repo = await folding({ 'a.ts': 'a\n' });
    const works = [await workOf(repo, 'one', left), await workOf(repo, 'two', right)];
    const conflict = { who: 'one', path: theirs };
    expect(await repo.git.forecast(repo.repository, works)).toEqual([
      { id: 'one', clean: false, conflicts: [{ who: 'two', path: mine }] },
      { id: 'two', clean: false, conflicts: [conflict] },
    ]);
    for (const mode of ['branch', 'uncommitted'] as const)
      expect(await apply(repo, works, mode)).toMatchObject({
        applied: ['one'],
        conflicts: [{ id: 'two', with: [conflict] }],
      });
    expect(allFiles(repo.top)).toEqual(allFiles(reference(repo.home, { 'a.ts': 'a\n' }, [left])));
  });

  test('two children may put files into one folder that each spells its way', async () => {
    const repo = await folding({ 'a.ts': 'a\n' });
    const works = [
      await workOf(repo, 'one', (at) => at.write('Docs/one.md', '1\n')),
      await workOf(repo, 'two', (at) => at.write('docs/two.md', '2\n')),
    ];
    expect(await apply(repo, works)).toMatchObject({ applied: ['one', 'two'], conflicts: [] });
  });

  test.each(['tracked', 'untracked'])('the user’s %s file is not written over', async (how) => {
    const repo = await folding({ 'a.ts': 'a\n' });
    const two = await workOf(repo, 'two', one);
    repo.write('README.md', 'user\n');
    if (how === 'tracked') {
      repo.run('add', '.');
      repo.run('commit', '-qm', 'readme');
    }
    const before = repo.userState();
    const conflicts = [{ who: 'you', path: 'Readme.md' }];
    expect(await apply(repo, [two])).toMatchObject({
      applied: [],
      conflicts: [{ id: 'two', with: conflicts }],
    });
    expect(await repo.git.forecast(repo.repository, [two])).toMatchObject([{ id: 'two', conflicts }]);
    expect(repo.userState()).toEqual(before);
  });

  test('a child may change the case of a name', async () => {
    const repo = await folding({ 'Readme.md': 'r\n', 'Docs/a.md': 'a\n' });
    const renamed = await workOf(repo, 'one', (at) => {
      at.move('Readme.md', 'README.md');
      at.move('Docs/a.md', 'docs/a.md');
    });
    expect(await repo.git.forecast(repo.repository, [renamed])).toMatchObject([{ clean: true }]);
    expect(await apply(repo, [renamed])).toMatchObject({ applied: ['one'], conflicts: [] });
    expect(Object.keys(allFiles(repo.top)).sort()).toEqual(['README.md', 'docs/a.md']);
  });
});

test('where names may differ in case alone, two children may use both', async () => {
  const repo = await createRepo({ 'a.ts': 'a\n' });
  const works = [
    await workOf(repo, 'one', (at) => at.write('Readme.md', '1\n')),
    await workOf(repo, 'two', (at) => at.write('README.md', '2\n')),
  ];
  expect(await apply(repo, works)).toMatchObject({ applied: ['one', 'two'], conflicts: [] });
  expect([repo.read('Readme.md'), repo.read('README.md')]).toEqual(['1\n', '2\n']);
});

test('on a disk that folds case, git’s own word on what is untracked is taken', async () => {
  const repo = await folding({ 'Readme.md': 'r\n' });
  const worktree = await repo.worktree('one');
  // What such a disk answers, for the names that are asked for.
  symlinkSync('.git', path.join(worktree.path, '.GIT'));
  folderAt(worktree.path).write('README.md', 'r\n');
  expect(await repo.git.changes(worktree)).toEqual([]);
});
