import { expect, test } from 'vitest';
import { createRepo, type TestRepo } from './repo.js';

async function problemOf(repo: TestRepo, setup = false): Promise<string | null> {
  const problem = await repo.git.launchProblem(await repo.inspectAgain(), { setup });
  return problem === null ? null : `${problem.code}: ${problem.fix}`;
}

test('files kept with LFS are refused while git has no filter for it', async () => {
  const repo = await createRepo({ '.gitattributes': '*.bin filter=lfs\n', 'a.txt': 'a' });
  repo.run('config', 'filter.lfs.process', '');
  expect(await problemOf(repo)).toBe('filterMissing: Run: git lfs install && git lfs pull');
});

test('a required filter whose program is missing is refused, one that is there is not', async () => {
  const repo = await createRepo({ '.gitattributes': '*.bin filter=gone\n', 'a.txt': 'a' });
  repo.run('config', 'filter.gone.smudge', 'no-such-program-at-all --smudge %f');
  expect(await problemOf(repo)).toBeNull();
  repo.run('config', 'filter.gone.required', 'true');
  expect(await problemOf(repo)).toBe('filterMissing: Install no-such-program-at-all, then launch again.');
  repo.run('config', 'filter.gone.smudge', 'cat');
  expect(await problemOf(repo)).toBeNull();
});

test('submodules that are filled in the user’s tree are refused, unless a setup command fills them', async () => {
  const inner = await createRepo({ 'inner.txt': 'i' });
  const repo = await createRepo({ 'a.txt': 'a' });
  repo.run(
    '-c',
    'protocol.file.allow=always',
    'submodule',
    'add',
    '-q',
    inner.repository.topLevel,
    'lib/inner',
  );
  repo.run('commit', '-qm', 'with a submodule');
  expect(await problemOf(repo)).toMatch(/^submodules: Set swarm\.worktrees\.setup/);
  expect(await problemOf(repo, true)).toBeNull();
  repo.run('submodule', 'deinit', '-q', '-f', 'lib/inner');
  expect(await problemOf(repo)).toBeNull();
});
