import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createGit } from '../../src/supervisor/node/git/index.js';
import { createRepo, temporaryFolder, testEnvironment } from './repo.js';

describe('what cannot be used is refused with what to do', () => {
  test('a folder without a repository', async () => {
    const folder = temporaryFolder();
    const answer = await createGit({ env: testEnvironment(folder) }).inspect(folder);
    expect(answer).toMatchObject({ ok: false, code: 'noRepository' });
    expect(!answer.ok && answer.fix).toContain('git init');
  });

  test('a folder that is not there', async () => {
    const folder = temporaryFolder();
    expect(await createGit().inspect(path.join(folder, 'none'))).toMatchObject({ code: 'noRepository' });
  });

  test('a file in place of a folder', async () => {
    const file = path.join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    const answer = await createGit().inspect(file);
    expect(answer).toMatchObject({ code: 'noRepository', message: `${file} is a file, not a folder.` });
  });

  test('a repository without a commit', async () => {
    const folder = temporaryFolder();
    const env = testEnvironment(folder);
    execFileSync('git', ['init', '-q'], { cwd: folder, env });
    expect(await createGit({ env }).inspect(folder)).toMatchObject({ ok: false, code: 'noCommit' });
  });

  test('a bare repository', async () => {
    const folder = temporaryFolder();
    const env = testEnvironment(folder);
    execFileSync('git', ['init', '-q', '--bare'], { cwd: folder, env });
    expect(await createGit({ env }).inspect(folder)).toMatchObject({ ok: false, code: 'bareRepository' });
  });

  test('the inside of a .git folder', async () => {
    const repo = await createRepo();
    expect(await repo.git.inspect(path.join(repo.top, '.git'))).toMatchObject({ code: 'noRepository' });
  });

  test('no git at all', async () => {
    const folder = temporaryFolder();
    const answer = await createGit({ git: 'no-such-git' }).inspect(folder);
    expect(answer).toMatchObject({ ok: false, code: 'gitMissing' });
  });

  test('a git that is too old', async () => {
    const folder = temporaryFolder();
    const old = path.join(folder, 'git');
    writeFileSync(old, '#!/bin/sh\necho git version 2.37.4\n');
    chmodSync(old, 0o755);
    const answer = await createGit({ git: old }).inspect(folder);
    expect(answer).toMatchObject({ ok: false, code: 'gitTooOld' });
    expect(!answer.ok && answer.message).toContain('2.37.4');
  });
});

describe('what can be used is described', () => {
  test('from any folder of it, through a link, without writing', async () => {
    const repo = await createRepo({
      'a/b.txt': 'x',
      '.gitattributes': '*.bin filter=lfs\n# *.x filter=no\n',
    });
    const before = repo.userState();
    symlinkSync(repo.top, path.join(repo.home, 'link'));
    const answer = await repo.git.inspect(path.join(repo.home, 'link', 'a'));
    expect(answer).toMatchObject({
      ok: true,
      topLevel: repo.top,
      commonDir: path.join(repo.top, '.git'),
      objectFormat: 'sha1',
      sparse: false,
      submodules: [],
      filters: ['lfs'],
      midOperation: null,
    });
    expect(repo.userState()).toEqual(before);
  });

  test('a worktree as the user’s own tree', async () => {
    const repo = await createRepo();
    const other = path.join(repo.home, 'other');
    repo.run('worktree', 'add', '-q', other);
    expect(await repo.git.inspect(other)).toMatchObject({
      topLevel: other,
      commonDir: path.join(repo.top, '.git'),
      gitDir: path.join(repo.top, '.git', 'worktrees', 'other'),
    });
  });

  test('SHA-256 objects', async () => {
    const repo = await createRepo({ a: 'a' }, { init: ['--object-format=sha256'] });
    expect(repo.repository.objectFormat).toBe('sha256');
    expect(repo.repository.head).toHaveLength(64);
  });

  test('a merge that is under way', async () => {
    const repo = await createRepo({ a: 'a' });
    repo.run('checkout', '-q', '-b', 'side');
    repo.write('a', 'side');
    repo.run('commit', '-qam', 'side');
    repo.run('checkout', '-q', 'main');
    repo.write('a', 'main');
    repo.run('commit', '-qam', 'main');
    expect(() => repo.run('merge', 'side')).toThrow();
    expect((await repo.inspectAgain()).midOperation).toBe('merge');
  });

  test('the caller’s GIT_ variables do not lead elsewhere', async () => {
    const repo = await createRepo();
    const other = path.join(repo.home, 'decoy');
    mkdirSync(other);
    execFileSync('git', ['init', '-q'], { cwd: other, env: testEnvironment(repo.home) });
    const git = createGit({ env: { ...testEnvironment(repo.home), GIT_DIR: path.join(other, '.git') } });
    expect(await git.inspect(repo.top)).toMatchObject({ ok: true, topLevel: repo.top });
  });
});
