import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { ApplyRequest, ChildWork } from '../../src/supervisor/ports/git.js';
import { createRepo as create, type TestRepo } from './repo.js';
import { share } from './shared.js';

const homes: string[] = [];

// Node cannot remove what it cannot name.
afterEach(() => void execFileSync('rm', ['-rf', ...homes.splice(0).map((home) => `${home}/`)]));

async function createRepo(files?: Readonly<Record<string, string>>): Promise<TestRepo> {
  const repo = await create(files);
  homes.push(repo.home);
  return repo;
}

/** As long as a name may be on most file systems. */
const longName = 'n'.repeat(255);

/** A path of so many bytes, in folders. */
function pathOf(bytes: number): string {
  const folder = `${'d'.repeat(199)}/`;
  const folders = folder.repeat(Math.floor((bytes - 8) / folder.length));
  return `${folders}${'f'.repeat(bytes - folders.length)}`;
}

/** By programs that go down folder by folder: what is longer than a system call takes can be written and read too. */
function deep(top: string, file: string, script: string): string {
  const folders = path.posix.dirname(file).split('/');
  const walk = folders.map((name) => `mkdir -p ${name} && cd -P ${name}`).join(' && ');
  return execFileSync('bash', ['-c', `${walk} && f=${path.posix.basename(file)} && ${script}`], {
    cwd: top,
    encoding: 'utf8',
  });
}

const write = (top: string, file: string, text: string) => deep(top, file, `printf '${text}' > "$f"`);
const read = (top: string, file: string) => deep(top, file, 'if [ -e "$f" ]; then cat "$f"; fi');

/** git takes a long `commit:path` for the name of a file. */
function blobAt(repo: TestRepo, commit: string, file: string): string {
  const line = repo
    .run('ls-tree', '-r', commit)
    .split('\n')
    .find((each) => each.endsWith(`\t${file}`));
  return repo.run('cat-file', 'blob', /blob (\S+)/.exec(line ?? '')?.[1] ?? '');
}

const request = (repo: TestRepo, children: readonly ChildWork[]): ApplyRequest => ({
  children,
  check: null,
  mode: 'uncommitted',
  label: 'work',
  scratch: path.join(repo.home, 'project.worktrees', '.scratch'),
  beforeWrite: () => Promise.resolve(),
});

describe('a file whose path is 4,000 bytes long', () => {
  const file = pathOf(4000);

  test('is captured, keeps its worktree from being removed, and comes back with it', async () => {
    const repo = await createRepo({ 'a.ts': 'a\n' });
    const worktree = await repo.worktree('one');
    write(worktree.path, file, 'far down');
    expect(await repo.git.changes(worktree)).toMatchObject([{ path: file, kind: 'A' }]);
    expect(await repo.git.removeWorktree(repo.repository, worktree, null)).toMatchObject({ code: 'unsaved' });
    const snapshot = await repo.snapshot(worktree);
    if (snapshot === null) throw new Error('no snapshot');
    expect(blobAt(repo, snapshot.commit, file)).toBe('far down');
    expect(await repo.git.removeWorktree(repo.repository, worktree, snapshot.commit)).toEqual({ ok: true });
    expect(await repo.restore(worktree, snapshot.commit)).toMatchObject({ ok: true });
    expect(read(worktree.path, file)).toBe('far down');
  });

  test('is moved out of a shared tree', async () => {
    const repo = await createRepo({ 'a.ts': 'a\n' });
    const shared = await share(repo);
    await shared.act('child', (at) => {
      write(at.top, file, 'far down');
      at.write('a.ts', 'child\n');
    });
    const outcome = await shared.quarantine('child');
    expect([...outcome.moved].sort()).toEqual(['a.ts', file]);
    expect(read(repo.top, file)).toBe('');
    expect(read(shared.worktreeOf('child'), file)).toBe('far down');
  });

  test('is not applied by its name, with nothing written', async () => {
    const repo = await createRepo({ 'a.ts': 'a\n' });
    const worktree = await repo.worktree('one');
    write(worktree.path, file, 'far down');
    write(worktree.path, 'x/a.ts', 'a');
    const snapshot = await repo.snapshot(worktree);
    const one = { id: 'one', base: worktree.base, commit: snapshot?.commit ?? '' };
    expect(await repo.git.forecast(repo.repository, [one])).toMatchObject([{ clean: true }]);
    const { refusal } = await repo.git.apply(repo.repository, request(repo, [one]));
    // It is put ready in the git folder first, whose path is longer.
    expect(refusal).toMatchObject({ code: 'pathTooLong' });
    expect(refusal?.message).toContain(file.slice(0, 50));
    expect(repo.run('status', '--porcelain')).toBe('');
  });

  test('is in the base of a launch', async () => {
    const repo = await createRepo({ 'a.ts': 'a\n' });
    write(repo.top, file, 'far down');
    await repo.git.treeMark(repo.repository);
    const ref = 'refs/swarm/b1/base';
    const base = await repo.git.baseCommit(repo.repository, { uncommitted: true, ref });
    const worktree = await repo.worktree('one', { base });
    expect(read(worktree.path, file)).toBe('far down');
    expect(await repo.git.changes(worktree)).toEqual([]);
    write(worktree.path, file, 'changed');
    expect(await repo.git.changes(worktree)).toMatchObject([{ path: file, kind: 'M' }]);
  });
});

describe('a file that only git can reach', () => {
  const file = pathOf(4090);

  test('is captured; a worktree that cannot be removed with it says so', async () => {
    const repo = await createRepo({ 'a.ts': 'a\n' });
    const worktree = await repo.worktree('one');
    write(worktree.path, file, 'far down');
    const snapshot = await repo.snapshot(worktree);
    expect(blobAt(repo, snapshot?.commit ?? '', file)).toBe('far down');
    const removed = await repo.git.removeWorktree(repo.repository, worktree, snapshot?.commit ?? null);
    expect(removed).toMatchObject({ ok: false, code: 'pathTooLong' });
  });

  test('stays in a shared tree, and hides nothing else of it', async () => {
    const repo = await createRepo({ 'a.ts': 'a\n' });
    const shared = await share(repo);
    await shared.act('child', (at) => {
      write(at.top, file, 'far down');
      at.write('a.ts', 'child\n');
    });
    expect(await shared.quarantine('child')).toMatchObject({ moved: ['a.ts'], left: [] });
    expect(read(repo.top, file)).toBe('far down');
    await repo.git.treeMark(repo.repository);
  });

  test('is not applied, with nothing written', async () => {
    const repo = await createRepo({ 'a.ts': 'a\n' });
    const worktree = await repo.worktree('one');
    write(worktree.path, file, 'far down');
    write(worktree.path, 'x/a.ts', 'a');
    const snapshot = await repo.snapshot(worktree);
    const one = { id: 'one', base: worktree.base, commit: snapshot?.commit ?? '' };
    const outcome = await repo.git.apply(repo.repository, request(repo, [one]));
    expect(outcome).toMatchObject({ applied: [], refusal: { code: 'pathTooLong' } });
    expect(repo.run('status', '--porcelain')).toBe('');
    const branch = await repo.git.apply(repo.repository, { ...request(repo, [one]), mode: 'branch' });
    expect(branch).toMatchObject({ applied: ['one'] });
  });
});

describe('a worktree', () => {
  test('with the longest ids there are is made', async () => {
    const repo = await createRepo();
    const name = `${'b'.repeat(64)}/${'c'.repeat(64)}`;
    const worktree = await repo.worktree(name);
    const ref = `refs/swarm/${name}/1`;
    write(worktree.path, 'x/new.ts', 'n');
    expect(await repo.snapshot(worktree, { ref })).toMatchObject({ ref });
  });

  test.each([
    ['a name', path.join('/tmp', `${longName}x`, 'one')],
    ['a path', path.join('/tmp', pathOf(4100), 'one')],
  ])('at %s that no system call takes is refused with the reason', async (_, folder) => {
    const repo = await createRepo();
    const refusal = await repo.git.ensureWorktree(repo.repository, {
      path: folder,
      base: repo.repository.head,
      files: null,
      link: 'link',
      setup: [],
      logFile: path.join(repo.home, 'log'),
    });
    expect(refusal).toMatchObject({ ok: false, code: 'pathTooLong' });
    expect(repo.run('worktree', 'list').trim().split('\n')).toHaveLength(1);
  });

  test('far from the root is made and captured where its paths can be had, else refused', async () => {
    const file = pathOf(2000);
    const repo = await createRepo({ 'a.ts': 'a\n' });
    write(repo.top, file, 'far down');
    repo.run('add', '-A');
    repo.run('commit', '-qm', 'deep');
    for (const bytes of [1500, 2500, 3900]) {
      const folder = path.join(repo.home, pathOf(bytes), 'one');
      const made = await repo.git.ensureWorktree(await repo.inspectAgain(), {
        path: folder,
        base: repo.run('rev-parse', 'HEAD').trim(),
        files: null,
        link: 'link',
        setup: [],
        logFile: path.join(repo.home, 'log'),
      });
      if (made.ok) expect(await repo.git.changes(made)).toEqual([]);
      else expect(made).toMatchObject({ code: 'pathTooLong' });
    }
  });
});
