import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createRepo } from './repo.js';

test('a worktree whose maker was killed before it was marked is finished, not taken for a stranger’s', async () => {
  const repo = await createRepo({ 'a.txt': 'a\n' });
  const worktree = await repo.worktree('one');
  const gitDir = /gitdir: (.*)/.exec(readFileSync(path.join(worktree.path, '.git'), 'utf8'))?.[1] ?? '';
  rmSync(path.join(gitDir, 'swarm-panel.json'));
  rmSync(path.join(worktree.path, 'a.txt'));
  expect(await repo.git.worktreeState(repo.repository, worktree.path)).toBe('present');
  expect(await repo.worktree('one')).toEqual(worktree);
  expect(readFileSync(path.join(worktree.path, 'a.txt'), 'utf8')).toBe('a\n');
});
