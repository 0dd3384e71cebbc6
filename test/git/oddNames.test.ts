import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createRepo } from './repo.js';

/** Far beyond the 260 characters that some systems stop at. */
const deep = Array.from({ length: 12 }, (_, at) => `folder-${at}-${'x'.repeat(60)}`).join('/');

test.each([
  ['of a great length', `${deep}/file.txt`, `${deep}/new.txt`],
  ['that differ by case alone', 'src/Name.txt', 'src/name.txt'],
])('paths %s are in a worktree, its snapshot and its removal as any others', async (_, file, added) => {
  const repo = await createRepo({ [file]: 'first\n' });
  const worktree = await repo.worktree('one');
  expect(readFileSync(path.join(worktree.path, file), 'utf8')).toBe('first\n');
  writeFileSync(path.join(worktree.path, added), 'new\n');
  const snapshot = await repo.snapshot(worktree);
  expect(snapshot?.changes).toEqual([{ path: added, kind: 'A', added: 1, removed: 0 }]);
  expect(await repo.git.removeWorktree(repo.repository, worktree, snapshot?.commit ?? null)).toEqual({
    ok: true,
  });
});
