import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Snapshot, Worktree } from '../../src/supervisor/ports/git.js';
import { createRepo, testEnvironment, type TestRepo } from './repo.js';

async function take(
  repo: TestRepo,
  worktree: Worktree,
  number = 1,
  previous: string | null = null,
): Promise<Snapshot | null> {
  return repo.git.snapshot({
    repository: repo.repository,
    worktree,
    ref: `refs/swarm/b1/one/${number}`,
    message: `Snapshot ${number}`,
    previous,
  });
}

function lines(snapshot: Snapshot | null): readonly string[] {
  return (snapshot?.changes ?? []).map(
    ({ kind, path: file, added, removed }) => `${kind} ${file} ${added ?? 'bin'} ${removed ?? 'bin'}`,
  );
}

function treeOf(repo: TestRepo, commit: string): readonly string[] {
  return repo
    .run('ls-tree', '-r', '-z', commit)
    .split('\0')
    .filter((line) => line !== '');
}

describe('a snapshot', () => {
  test('has edits, new files, deletions, renames, modes, links and binary files, and nothing else', async () => {
    const repo = await createRepo({
      'edit.txt': '1\n2\n',
      'gone.txt': 'g\n',
      'old name.txt': 'moved\n',
      'run.sh': '#!/bin/sh\n',
      'same.txt': 's\n',
      file: 'f\n',
      'dir/x': 'x\n',
    });
    const before = repo.userState();
    const worktree = await repo.worktree('one');
    const at = (file: string): string => path.join(worktree.path, file);
    writeFileSync(at('edit.txt'), '1\n3\n4\n');
    rmSync(at('gone.txt'));
    renameSync(at('old name.txt'), at('new\n"näme".txt'));
    chmodSync(at('run.sh'), 0o755);
    symlinkSync('same.txt', at('link'));
    writeFileSync(at('data.bin'), Buffer.from([0, 1, 2, 255]));
    rmSync(at('file'));
    mkdirSync(at('file'));
    writeFileSync(at('file/inside'), 'i\n');
    rmSync(at('dir'), { recursive: true });
    writeFileSync(at('dir'), 'd\n');
    const snapshot = await take(repo, worktree);
    expect([...lines(snapshot)].sort()).toEqual(
      [
        'A data.bin bin bin',
        'A dir 1 0',
        'A file/inside 1 0',
        'A link 1 0',
        'A new\n"näme".txt 1 0',
        'D dir/x 0 1',
        'D file 0 1',
        'D gone.txt 0 1',
        'D old name.txt 0 1',
        'M edit.txt 2 1',
        'M run.sh 0 0',
      ].sort(),
    );
    expect(
      repo.run('rev-parse', 'refs/swarm/b1/one/1', 'refs/swarm/b1/one/1^').split('\n').slice(0, 2),
    ).toEqual([snapshot?.commit, worktree.base]);
    expect(repo.userState()).toEqual(before);
  });

  test('leaves the worktree’s own index, HEAD and status as they are, even while its index is locked', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const worktree = await repo.worktree('one');
    const run = (...args: string[]): string =>
      execFileSync('git', ['--no-optional-locks', ...args], {
        cwd: worktree.path,
        env: testEnvironment(repo.home),
        encoding: 'utf8',
      });
    writeFileSync(path.join(worktree.path, 'a.txt'), 'b\n');
    writeFileSync(path.join(worktree.path, 'staged.txt'), 's\n');
    run('add', 'staged.txt');
    const gitDir = run('rev-parse', '--absolute-git-dir').trim();
    writeFileSync(path.join(gitDir, 'index.lock'), '');
    const index = readFileSync(path.join(gitDir, 'index'));
    const status = run('status', '--porcelain');
    const snapshot = await take(repo, worktree);
    expect(lines(snapshot)).toEqual(['M a.txt 1 1', 'A staged.txt 1 0']);
    expect(readFileSync(path.join(gitDir, 'index')).equals(index)).toBe(true);
    expect(run('status', '--porcelain')).toBe(status);
  });

  test('has all work also where the agent committed or switched the branch', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const worktree = await repo.worktree('one');
    const run = (...args: string[]): string =>
      execFileSync('git', args, {
        cwd: worktree.path,
        env: testEnvironment(repo.home),
        encoding: 'utf8',
        stdio: 'pipe',
      });
    writeFileSync(path.join(worktree.path, 'a.txt'), 'b\n');
    run('checkout', '-q', '-b', 'agent-branch');
    run('commit', '-qam', 'agent');
    writeFileSync(path.join(worktree.path, 'c.txt'), 'c\n');
    const snapshot = await take(repo, worktree);
    expect(lines(snapshot)).toEqual(['M a.txt 1 1', 'A c.txt 1 0']);
  });

  test('is null where nothing changed since the last one, and new where something did', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const worktree = await repo.worktree('one');
    expect(await take(repo, worktree)).toBeNull();
    writeFileSync(path.join(worktree.path, 'a.txt'), 'b\n');
    const first = await take(repo, worktree);
    expect(first).not.toBeNull();
    expect(await take(repo, worktree, 2, first?.commit ?? null)).toBeNull();
    writeFileSync(path.join(worktree.path, 'a.txt'), 'a\n');
    const back = await take(repo, worktree, 2, first?.commit ?? null);
    expect(back?.changes).toEqual([]);
  });

  test('taken twice under one ref is one snapshot', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const worktree = await repo.worktree('one');
    writeFileSync(path.join(worktree.path, 'a.txt'), 'b\n');
    const first = await take(repo, worktree);
    expect(await take(repo, worktree)).toEqual(first);
    writeFileSync(path.join(worktree.path, 'a.txt'), 'c\n');
    const later = await take(repo, worktree);
    expect(repo.run('show', 'refs/swarm/b1/one/1:a.txt')).toBe('c\n');
    expect(later?.commit).not.toBe(first?.commit);
  });

  test('leaves ignored files out, but not those that the agent added by force', async () => {
    const repo = await createRepo({ '.gitignore': '*.log\n.env\n', 'kept.log.txt': '' });
    const worktree = await repo.worktree('one');
    for (const file of ['.env', 'a.log', 'forced.log']) writeFileSync(path.join(worktree.path, file), 'x\n');
    execFileSync('git', ['add', '-f', 'forced.log'], { cwd: worktree.path, env: testEnvironment(repo.home) });
    expect(lines(await take(repo, worktree))).toEqual(['A forced.log 1 0']);
  });

  test('sees an edit that kept size and time', async () => {
    const repo = await createRepo({ 'a.txt': 'aaaa\n' });
    const worktree = await repo.worktree('one');
    const file = path.join(worktree.path, 'a.txt');
    const stats = statSync(file);
    writeFileSync(file, 'bbbb\n');
    utimesSync(file, stats.atime, stats.mtime);
    expect(lines(await take(repo, worktree))).toEqual(['M a.txt 1 1']);
  });

  test('keeps a submodule’s entry', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const library = await createRepo({ 'lib.txt': 'l\n' });
    repo.run('submodule', 'add', '-q', library.top, 'lib');
    repo.run('commit', '-qm', 'submodule');
    const worktree = await repo.worktree('one');
    writeFileSync(path.join(worktree.path, 'lib', 'stray.txt'), 'x');
    writeFileSync(path.join(worktree.path, 'a.txt'), 'b\n');
    const snapshot = await take(repo, worktree);
    expect(lines(snapshot)).toEqual(['M a.txt 1 1']);
    expect(treeOf(repo, snapshot?.commit ?? '').some((line) => line.startsWith('160000'))).toBe(true);
  });

  test('takes a file whose required clean filter is missing as it is', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const worktree = await repo.worktree('one');
    repo.run('config', 'filter.gone.clean', 'no-such-program-at-all');
    repo.run('config', 'filter.gone.required', 'true');
    writeFileSync(path.join(worktree.path, '.gitattributes'), '*.bin filter=gone\n');
    writeFileSync(path.join(worktree.path, 'x.bin'), 'bytes\r\n');
    writeFileSync(path.join(worktree.path, 'a.txt'), 'b\n');
    const snapshot = await take(repo, worktree);
    expect(lines(snapshot)).toEqual(['A .gitattributes 1 0', 'M a.txt 1 1', 'A x.bin 1 0']);
    expect(repo.run('show', `${snapshot?.commit ?? ''}:x.bin`)).toBe('bytes\r\n');
  });

  test('of SHA-256 objects works too', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n', 'b.txt': 'b\n' }, { init: ['--object-format=sha256'] });
    const worktree = await repo.worktree('one');
    rmSync(path.join(worktree.path, 'b.txt'));
    expect(lines(await take(repo, worktree))).toEqual(['D b.txt 0 1']);
  });

  test('gives files and diffs back', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const worktree = await repo.worktree('one');
    writeFileSync(path.join(worktree.path, 'a.txt'), Buffer.from([0, 255]));
    const snapshot = await take(repo, worktree);
    const commit = snapshot?.commit ?? '';
    expect(await repo.git.fileAt(repo.repository, commit, 'a.txt')).toEqual(new Uint8Array([0, 255]));
    expect(await repo.git.fileAt(repo.repository, commit, 'none.txt')).toBeNull();
    expect(await repo.git.diff(repo.repository, worktree.base, commit)).toContain('a/a.txt');
    expect(await repo.git.diskUse(worktree.path)).toBeGreaterThan(0);
  });
});

describe('the base of a batch', () => {
  test('is HEAD, or HEAD with the user’s uncommitted work, and touches nothing', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n', 'b.txt': 'b\n', '.gitignore': 'ignored\n' });
    repo.write('a.txt', 'staged\n');
    repo.run('add', 'a.txt');
    repo.write('a.txt', 'edited\n');
    repo.write('new.txt', 'n\n');
    repo.write('ignored', 'i\n');
    repo.remove('b.txt');
    const before = repo.userState();
    const ref = 'refs/swarm/b1/base/1';
    expect(await repo.git.baseCommit(repo.repository, { uncommitted: false, ref })).toBe(
      repo.repository.head,
    );
    const commit = await repo.git.baseCommit(repo.repository, { uncommitted: true, ref });
    expect(await repo.git.baseCommit(repo.repository, { uncommitted: true, ref })).toBe(commit);
    expect(repo.run('ls-tree', '-r', '--name-only', commit)).toBe('.gitignore\na.txt\nnew.txt\n');
    expect(repo.run('show', `${commit}:a.txt`)).toBe('edited\n');
    expect(repo.userState()).toEqual(before);
    expect(existsSync(path.join(repo.top, '.git', 'refs', 'stash'))).toBe(false);
  });

  test('is HEAD where nothing is uncommitted', async () => {
    const repo = await createRepo();
    const commit = await repo.git.baseCommit(repo.repository, {
      uncommitted: true,
      ref: 'refs/swarm/b1/base/1',
    });
    expect(commit).toBe(repo.repository.head);
  });
});
