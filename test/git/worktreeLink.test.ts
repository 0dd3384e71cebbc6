import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Worktree } from '../../src/supervisor/ports/git.js';
import { createRepo, testEnvironment, type TestRepo } from './repo.js';

async function edited(): Promise<{ readonly repo: TestRepo; readonly worktree: Worktree; link: string }> {
  const repo = await createRepo({ 'a.txt': 'a\n' });
  const worktree = await repo.worktree('one');
  writeFileSync(path.join(worktree.path, 'a.txt'), 'work\n');
  return { repo, worktree, link: path.join(worktree.path, '.git') };
}

const spoiled: Readonly<Record<string, (link: string) => void>> = {
  deleted: (link) => rmSync(link),
  emptied: (link) => writeFileSync(link, ''),
  'turned elsewhere': (link) => writeFileSync(link, 'gitdir: /nowhere/.git/worktrees/one\n'),
  'turned to the repository itself': (link) =>
    writeFileSync(link, `gitdir: ${path.resolve(link, '../../../../project/.git')}\n`),
  'made a link to nothing': (link) => {
    rmSync(link);
    symlinkSync('/nowhere', link);
  },
};

describe('a worktree whose .git file was', () => {
  for (const [how, spoil] of Object.entries(spoiled))
    test(`${how} is its child’s all the same, and is tied to the repository again`, async () => {
      const { repo, worktree, link } = await edited();
      const before = readFileSync(link, 'utf8');
      spoil(link);
      expect(await repo.git.worktreeState(repo.repository, worktree.path)).toBe('present');
      expect(await repo.git.removeWorktree(repo.repository, worktree, null)).toMatchObject({
        code: 'unsaved',
      });
      spoil(link);
      const snapshot = await repo.snapshot(worktree);
      expect(snapshot?.changes.map(({ path: file }) => file)).toEqual(['a.txt']);
      expect(readFileSync(link, 'utf8')).toBe(before);
      spoil(link);
      const [left] = await repo.git.leftovers(repo.repository, []);
      expect(left).toMatchObject({ path: worktree.path, unsaved: false });
      spoil(link);
      expect(await repo.worktree('one')).toEqual(worktree);
      expect(readFileSync(path.join(worktree.path, 'a.txt'), 'utf8')).toBe('work\n');
      spoil(link);
      expect(await repo.git.removeWorktree(repo.repository, worktree, snapshot?.commit ?? null)).toEqual({
        ok: true,
      });
      expect(existsSync(worktree.path)).toBe(false);
    });

  test('replaced by a repository of the child’s own: its files are captured and its commits kept', async () => {
    const { repo, worktree, link } = await edited();
    const git = (...args: readonly string[]) =>
      execFileSync('git', args, { cwd: worktree.path, env: testEnvironment(repo.home), encoding: 'utf8' });
    rmSync(link);
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'of its own');
    const commit = git('rev-parse', 'HEAD').trim();
    const snapshot = await repo.snapshot(worktree);
    expect(snapshot?.changes.map(({ path: file }) => file)).toEqual(['a.txt']);
    expect(git('rev-parse', 'HEAD').trim()).toBe(worktree.base);
    expect(await repo.git.removeWorktree(repo.repository, worktree, snapshot?.commit ?? null)).toEqual({
      ok: true,
    });
    expect(repo.run('show', '-s', '--format=%s', commit)).toBe('of its own\n');
    expect(repo.run('for-each-ref', '--contains', commit)).toContain('refs/swarm-kept/one-');
  });

  test('lost together with what the repository knows of it is not removed, nor taken for empty', async () => {
    const { repo, worktree, link } = await edited();
    rmSync(path.resolve(worktree.path, readFileSync(link, 'utf8').slice('gitdir: '.length).trim()), {
      recursive: true,
    });
    expect(await repo.git.worktreeState(repo.repository, worktree.path)).toBe('foreign');
    await expect(repo.snapshot(worktree)).rejects.toThrow('is no worktree');
    expect(await repo.git.removeWorktree(repo.repository, worktree, null)).toMatchObject({ ok: false });
    expect(readFileSync(path.join(worktree.path, 'a.txt'), 'utf8')).toBe('work\n');
  });
});
