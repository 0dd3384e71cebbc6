import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ApplyOutcome, Skipped, Snapshot, Worktree } from '../../src/supervisor/ports/git.js';
import { createRepo, testEnvironment, type TestRepo } from './repo.js';

/** git as the agent calls it. */
function git(repo: TestRepo, folder: string, ...args: readonly string[]): string {
  return execFileSync('git', args, {
    cwd: folder,
    env: testEnvironment(repo.home),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), content);
  }
}

async function take(
  repo: TestRepo,
  worktree: Worktree,
  previous: string | null = null,
): Promise<{ readonly snapshot: Snapshot | null; readonly skipped: readonly Skipped[] }> {
  let skipped: readonly Skipped[] = [];
  const snapshot = await repo.snapshot(worktree, {
    ref: `refs/swarm/b1/one/${previous === null ? 1 : 2}`,
    previous,
    onSkipped: (paths) => (skipped = paths),
  });
  return { snapshot, skipped };
}

function applied(repo: TestRepo, worktree: Worktree, snapshot: Snapshot | null): Promise<ApplyOutcome> {
  return repo.git.apply(repo.repository, {
    children: [{ id: 'one', base: worktree.base, commit: snapshot?.commit ?? '' }],
    check: null,
    mode: 'uncommitted',
    label: 'one',
    scratch: path.join(repo.home, 'scratch'),
    beforeWrite: () => Promise.resolve(),
  });
}

const paths = (snapshot: Snapshot | null) => (snapshot?.changes ?? []).map(({ path: file }) => file);

describe('a repository that a child makes in its worktree', () => {
  test('is captured as plain files, by its own ignore lines, also one in another', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const worktree = await repo.worktree('one');
    const inner = path.join(worktree.path, 'in n*r');
    write(inner, {
      'committed.ts': 'c\n',
      'new.ts': 'n\n',
      '.gitignore': '*.log\n',
      'x.log': 'x',
      'node_modules/m/index.js': 'm',
      'deeper/still/d.ts': 'd\n',
    });
    git(repo, inner, 'init', '-q');
    git(repo, inner, 'add', 'committed.ts');
    git(repo, inner, 'commit', '-qm', 'inner');
    git(repo, path.join(inner, 'deeper/still'), 'init', '-q');
    const before = git(repo, worktree.path, 'status', '--porcelain');
    const { snapshot, skipped } = await take(repo, worktree);
    expect(paths(snapshot)).toEqual([
      'in n*r/.gitignore',
      'in n*r/committed.ts',
      'in n*r/deeper/still/d.ts',
      'in n*r/new.ts',
    ]);
    expect(skipped).toEqual([]);
    expect(git(repo, worktree.path, 'status', '--porcelain')).toBe(before);
    expect((await repo.git.changes(worktree)).length).toBe(4);

    write(inner, { 'committed.ts': 'changed\n' });
    const second = await take(repo, worktree, snapshot?.commit ?? null);
    expect(repo.run('show', `${second.snapshot?.commit ?? ''}:in n*r/committed.ts`)).toBe('changed\n');
    expect((await take(repo, worktree, second.snapshot?.commit ?? null)).snapshot).toBeNull();
  });

  test('is applied to the user’s tree as files', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const worktree = await repo.worktree('one');
    write(worktree.path, { 'app/main.ts': 'main\n' });
    git(repo, path.join(worktree.path, 'app'), 'init', '-q');
    const { snapshot } = await take(repo, worktree);
    const outcome = await applied(repo, worktree, snapshot);
    expect(outcome.applied).toEqual(['one']);
    expect(repo.read('app/main.ts')).toBe('main\n');
    expect(repo.exists('app/.git')).toBe(false);
  });

  test('goes with the worktree only when its files are captured, and its commits are kept', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const worktree = await repo.worktree('one');
    const inner = path.join(worktree.path, 'inner');
    write(inner, { x: 'x' });
    git(repo, inner, 'init', '-q');
    git(repo, inner, 'add', '.');
    git(repo, inner, 'commit', '-qm', 'first of it');
    git(repo, inner, 'branch', 'side');
    const commit = git(repo, inner, 'rev-parse', 'HEAD').trim();
    expect(await repo.git.removeWorktree(repo.repository, worktree, null)).toMatchObject({
      ok: false,
      code: 'unsaved',
    });
    const { snapshot } = await take(repo, worktree);
    expect(await repo.git.removeWorktree(repo.repository, worktree, snapshot?.commit ?? null)).toEqual({
      ok: true,
    });
    expect(existsSync(worktree.path)).toBe(false);
    expect(repo.run('show', '-s', '--format=%s', commit)).toBe('first of it\n');
    const kept = repo.run('for-each-ref', '--format=%(refname)', '--points-at', commit);
    expect(kept.split('\n').filter((ref) => ref.startsWith('refs/swarm-kept/one-inner-'))).toHaveLength(3);
    expect(repo.run('branch', '--list', '--all', '--format=%(refname)')).toBe('refs/heads/main\n');
  });

  test('whose commits are in another object format keeps the worktree', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const worktree = await repo.worktree('one');
    const inner = path.join(worktree.path, 'inner');
    write(inner, { x: 'x' });
    git(repo, inner, 'init', '-q', '--object-format=sha256');
    git(repo, inner, 'add', '.');
    git(repo, inner, 'commit', '-qm', 'first of it');
    const { snapshot } = await take(repo, worktree);
    const answer = await repo.git.removeWorktree(repo.repository, worktree, snapshot?.commit ?? null);
    expect(answer).toMatchObject({ ok: false, code: 'unsaved' });
    expect(answer.ok ? '' : answer.message).toContain('inner/.git');
    expect(existsSync(inner)).toBe(true);
  });
});

describe('a repository from elsewhere in a worktree', () => {
  test('is named, also where nothing else changed, and keeps the worktree', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const other = await createRepo({ 'lib.txt': 'l\n' });
    const worktree = await repo.worktree('one');
    git(repo, worktree.path, 'clone', '-q', other.top, 'vendor/lib');
    git(repo, worktree.path, 'worktree', 'add', '-q', 'copy');
    const { snapshot, skipped } = await take(repo, worktree);
    expect(snapshot).toBeNull();
    expect(skipped).toEqual([
      { path: 'copy/', reason: 'a worktree or submodule of another repository' },
      { path: 'vendor/lib/', reason: 'a clone of another repository' },
    ]);
    const answer = await repo.git.removeWorktree(repo.repository, worktree, null);
    expect(answer).toMatchObject({ ok: false, code: 'unsaved' });
    expect(answer.ok ? '' : answer.message).toContain('vendor/lib/');
    rmSync(path.join(worktree.path, 'vendor'), { recursive: true });
    rmSync(path.join(worktree.path, 'copy'), { recursive: true });
    expect(await take(repo, worktree)).toEqual({ snapshot: null, skipped: [] });
    expect(await repo.git.removeWorktree(repo.repository, worktree, null)).toEqual({ ok: true });
  });

  test('of the user’s own is left alone, and nothing is written over it', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const worktree = await repo.worktree('one');
    write(worktree.path, { 'own/x.ts': 'of the child\n' });
    const { snapshot } = await take(repo, worktree);
    write(repo.top, { 'own/x.ts': 'of the user\n' });
    git(repo, path.join(repo.top, 'own'), 'init', '-q');
    const before = repo.userState();
    const outcome = await applied(repo, worktree, snapshot);
    expect(outcome.conflicts).toEqual([{ id: 'one', with: [{ who: 'you', path: 'own/x.ts' }] }]);
    expect(repo.userState()).toEqual(before);
  });
});
