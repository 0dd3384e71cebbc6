import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createGit } from '../../src/supervisor/node/git/index.js';
import type { Worktree } from '../../src/supervisor/ports/git.js';
import { createRepo, testEnvironment, type TestRepo } from './repo.js';

/** A child's worktree with work that is in a snapshot. */
async function worked(): Promise<{
  readonly repo: TestRepo;
  readonly worktree: Worktree;
  readonly commit: string;
}> {
  const repo = await createRepo({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  const worktree = await repo.worktree('one');
  writeFileSync(path.join(worktree.path, 'new.txt'), 'n\n');
  const snapshot = await repo.snapshot(worktree);
  return { repo, worktree, commit: snapshot?.commit ?? '' };
}

/** What a later clean does where nobody knows the worktree any more. */
async function cleanAgain(repo: TestRepo, worktree: Worktree): Promise<void> {
  for (const { path: folder, unsaved } of await repo.git.leftovers(repo.repository, [])) {
    expect([folder, unsaved]).toEqual([worktree.path, false]);
    expect(await repo.git.removeLeftover(repo.repository, folder)).toEqual({ ok: true });
  }
}

function nothingLeft(repo: TestRepo, worktree: Worktree): void {
  expect(readdirSync(path.dirname(worktree.path))).toEqual([]);
  expect(repo.run('worktree', 'list').trim().split('\n').length).toBe(1);
}

describe('a crash in the middle of the removal of a worktree', () => {
  test('leaves no half of one: nobody takes the files that are gone for the child’s deletions', async () => {
    const { repo, worktree, commit } = await worked();
    const dying = path.join(repo.home, 'git');
    const script = `#!/bin/sh\ncase " $* " in *" worktree remove "*) rm -f '${worktree.path}/a.txt'; exit 137;; esac\nexec git "$@"\n`;
    writeFileSync(dying, script);
    chmodSync(dying, 0o755);
    const git = createGit({ git: dying, env: testEnvironment(repo.home) });
    await expect(git.removeWorktree(repo.repository, worktree, commit)).rejects.toThrow('137');
    expect(await repo.git.worktreeState(repo.repository, worktree.path)).toBe('missing');
    await cleanAgain(repo, worktree);
    nothingLeft(repo, worktree);
    expect(repo.run('show', `${commit}:new.txt`)).toBe('n\n');
  });

  const aside = (worktree: Worktree): string => path.join(path.dirname(worktree.path), '_removed-one');
  const steps: readonly (readonly [title: string, crash: (worktree: Worktree, repo: TestRepo) => void])[] = [
    ['it was put aside', (worktree) => renameSync(worktree.path, aside(worktree))],
    [
      'some of its files are gone',
      (worktree) => {
        renameSync(worktree.path, aside(worktree));
        for (const name of ['a.txt', '.git']) rmSync(path.join(aside(worktree), name));
      },
    ],
    [
      'all of its files are gone',
      (worktree) => {
        rmSync(worktree.path, { recursive: true });
        mkdirSync(aside(worktree));
      },
    ],
    [
      'git has forgotten it',
      (worktree, repo) => {
        rmSync(worktree.path, { recursive: true });
        repo.run('worktree', 'remove', '--force', '--force', worktree.path);
      },
    ],
  ];

  test.each(steps)('after %s is ended by the next', async (_, crash) => {
    const { repo, worktree, commit } = await worked();
    const before = repo.userState();
    crash(worktree, repo);
    expect(await repo.git.worktreeState(repo.repository, worktree.path)).toBe('missing');
    await cleanAgain(repo, worktree);
    nothingLeft(repo, worktree);
    expect(repo.userState()).toEqual(before);
    expect(await repo.git.removeWorktree(repo.repository, worktree, commit)).toEqual({ ok: true });
  });

  test.each(steps)(
    'after %s gives the worktree back with its work, where it is wanted again',
    async (_, crash) => {
      const { repo, worktree, commit } = await worked();
      crash(worktree, repo);
      const { path: folder, base } = worktree;
      const request = {
        path: folder,
        base,
        files: null,
        link: 'link',
        setup: [],
        logFile: path.join(repo.home, 'log'),
      } as const;
      expect(await repo.git.restoreWorktree(repo.repository, request, commit)).toEqual(worktree);
      expect(readdirSync(folder).sort()).toEqual(['.git', 'a.txt', 'b.txt', 'new.txt']);
      expect(await repo.git.removeWorktree(repo.repository, worktree, commit)).toEqual({ ok: true });
      expect(existsSync(folder)).toBe(false);
      nothingLeft(repo, worktree);
    },
  );
});
