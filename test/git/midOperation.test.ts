import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ApplyRequest, ChildWork } from '../../src/supervisor/ports/git.js';
import { allFiles, createRepo, type TestRepo } from './repo.js';
import { folderAt, reference, share, type Act } from './shared.js';

const lines = (mark = ''): string =>
  Array.from({ length: 30 }, (_, at) => `line ${at + 1}${at === 14 ? mark : ''}\n`).join('');

const first = { 'a.ts': lines(), 'free.ts': 'free\n', 'gone.ts': 'gone\n', 'n.ts': 'n\n' };

interface Middle {
  readonly title: string;
  /** What `operationUnderWay` calls it; null for unmerged paths without an operation. */
  readonly operation: string | null;
  /** Brings the tree, whose branches `main` and `side` conflict, into this state. */
  readonly begin: (repo: TestRepo) => void;
  readonly unmerged: readonly string[];
}

const conflicts = ['a.ts', 'gone.ts'];

const middles: readonly Middle[] = [
  {
    title: 'a merge',
    operation: 'merge',
    begin: (repo) => stops(repo, 'merge', 'side'),
    unmerged: conflicts,
  },
  {
    title: 'a rebase',
    operation: 'rebase',
    begin: (repo) => stops(repo, 'rebase', 'side'),
    unmerged: conflicts,
  },
  {
    title: 'a rebase that applies patches',
    operation: 'rebase',
    begin: (repo) => stops(repo, 'rebase', '--apply', 'side'),
    unmerged: conflicts,
  },
  {
    title: 'a cherry-pick',
    operation: 'cherry-pick',
    begin: (repo) => stops(repo, 'cherry-pick', 'side'),
    unmerged: conflicts,
  },
  {
    title: 'a cherry-pick of several between two of them',
    operation: 'cherry-pick',
    begin: (repo) => {
      stops(repo, 'cherry-pick', 'side', 'late');
      endByHand(repo, ' of both');
    },
    unmerged: [],
  },
  {
    title: 'a revert',
    operation: 'revert',
    begin: (repo) => {
      repo.write('a.ts', lines(' once more'));
      repo.run('commit', '-qam', 'again');
      stops(repo, 'revert', 'HEAD~1');
    },
    unmerged: ['a.ts'],
  },
  {
    title: 'a revert of several between two of them',
    operation: 'revert',
    begin: (repo) => {
      for (const [file, text] of Object.entries({ 'n.ts': 'N\n', 'a.ts': lines(' once more') })) {
        repo.write(file, text);
        repo.run('commit', '-qam', file);
      }
      stops(repo, 'revert', 'HEAD~2', 'HEAD~1');
      endByHand(repo, ' as it was');
    },
    unmerged: [],
  },
  {
    title: 'a series of patches',
    operation: 'patch series',
    begin: (repo) => {
      repo.write('../series', repo.run('format-patch', '--stdout', 'main~1..side'));
      stops(repo, 'am', '--3way', '../series');
    },
    unmerged: conflicts,
  },
  {
    title: 'a bisect',
    operation: 'bisect',
    begin: (repo) => {
      repo.run('bisect', 'start', 'main', 'main~1');
    },
    unmerged: [],
  },
  {
    title: 'a stash that did not come back clean',
    operation: null,
    begin: (repo) => {
      repo.write('a.ts', lines(' stashed'));
      repo.run('stash');
      repo.write('a.ts', lines(' meanwhile'));
      repo.run('commit', '-qam', 'meanwhile');
      stops(repo, 'stash', 'pop');
    },
    unmerged: ['a.ts'],
  },
];

/** A command of git that ends with conflicts. */
function stops(repo: TestRepo, ...args: readonly string[]): void {
  expect(() => repo.run(...args), args.join(' ')).toThrow();
}

/** Ends one of several picks or reverts with a commit, as a person may; the others still wait. */
function endByHand(repo: TestRepo, end: string): void {
  repo.write('a.ts', lines(end));
  repo.run('add', '-A');
  repo.run('commit', '-qm', 'ended by hand');
}

async function inTheMiddle(middle: Middle): Promise<TestRepo> {
  const repo = await createRepo(first);
  repo.run('checkout', '-q', '-b', 'side');
  repo.write('a.ts', lines(' of side'));
  repo.write('gone.ts', 'gone on side\n');
  repo.run('commit', '-qam', 'side');
  repo.run('checkout', '-q', '-b', 'late');
  repo.write('late.ts', 'late\n');
  repo.run('add', '-A');
  repo.run('commit', '-qm', 'late');
  repo.run('checkout', '-q', 'main');
  repo.write('a.ts', lines(' of main'));
  repo.remove('gone.ts');
  repo.run('commit', '-qam', 'main');
  middle.begin(repo);
  const unmerged = new Set(
    repo
      .run('ls-files', '--unmerged')
      .trim()
      .split('\n')
      .map((line) => line.split('\t')[1] ?? ''),
  );
  expect([...unmerged].filter((file) => file !== '')).toEqual(middle.unmerged);
  return repo;
}

/** All of git's own files but objects and what is ours: index, HEAD, sequencer, stash, logs, branches, settings. */
function gitFiles(repo: TestRepo): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const ours = ['objects', 'refs/swarm', 'swarm-panel', 'worktrees'];
  const walk = (folder: string): void => {
    for (const name of readdirSync(path.join(repo.top, '.git', folder)).sort()) {
      const file = path.posix.join(folder, name);
      const place = path.join(repo.top, '.git', file);
      if (ours.includes(file)) continue;
      if (lstatSync(place).isDirectory()) walk(file);
      else found[file] = createHash('sha256').update(readFileSync(place)).digest('hex');
    }
  };
  walk('');
  return found;
}

async function workOf(repo: TestRepo, id: string, act: Act): Promise<ChildWork> {
  const worktree = await repo.worktree(id);
  act(folderAt(worktree.path));
  const snapshot = await repo.snapshot(worktree, { ref: `refs/swarm/b1/${id}/1` });
  return { id, base: worktree.base, commit: snapshot?.commit ?? worktree.base };
}

const request = (repo: TestRepo, children: readonly ChildWork[]): ApplyRequest => ({
  children,
  check: null,
  mode: 'uncommitted',
  label: 'swarm/work',
  scratch: path.join(repo.home, 'project.worktrees', '.scratch'),
  beforeWrite: () => Promise.resolve(),
});

describe('in the middle of an operation of the user’s, nothing of it is touched', () => {
  test.each(middles)('by a launch: $title', async (middle) => {
    const repo = await inTheMiddle(middle);
    const before = { git: gitFiles(repo), user: repo.userState() };
    const repository = await repo.inspectAgain();
    expect(repository.midOperation).toBe(middle.operation);
    expect(await repo.git.launchProblem(repository, { setup: false })).toBe(null);
    const plain = await repo.git.baseCommit(repository, { uncommitted: false, ref: 'refs/swarm/b1/base' });
    expect(plain).toBe(repository.head);
    const base = await repo.git.baseCommit(repository, { uncommitted: true, ref: 'refs/swarm/b1/base' });
    const worktree = await repo.worktree('one', { base });
    expect(allFiles(worktree.path), 'the files as they lie there').toEqual(allFiles(repo.top));
    await repo.git.treeMark(repository);
    expect({ git: gitFiles(repo), user: repo.userState() }).toEqual(before);
  });

  test.each(middles)('by a quarantine and a check: $title', async (middle) => {
    const repo = await inTheMiddle(middle);
    const now = Object.fromEntries(
      Object.keys(allFiles(repo.top)).map((file) => [file, readFileSync(path.join(repo.top, file))]),
    );
    const { head } = await repo.inspectAgain();
    const shared = await share(repo, head);
    const before = gitFiles(repo);
    const user: Act = (at) => at.write('free.ts', 'free, said the user\n');
    // Far from the marks of a conflict, in a file that has them.
    const child: readonly Act[] = [
      (at) => at.replace('a.ts', 'line 3\n', 'the child’s\n'),
      (at) => at.write('new/x.ts', 'x\n'),
      (at) => at.remove('n.ts'),
    ];
    for (const act of child) await shared.act('child', act);
    await shared.act('you', user);
    await shared.act('other', (at) => at.write('other.ts', 'o\n'));
    const edits = shared.ledgers.get('child') ?? [];

    const check = { command: ['git', 'ls-files', '--others', '--cached'], folder: '.' };
    const scratch = path.join(repo.home, 'project.worktrees', '.scratch');
    const composite = await shared.tree.checkComposite({
      check,
      folder: scratch,
      half: [{ child: 'child', edits }],
      others: [],
      onOutput: null,
    });
    expect(composite).toMatchObject({ exitCode: 0, left: [] });
    const without = reference(repo.home, now, [user, (at) => at.write('other.ts', 'o\n')]);
    expect(allFiles(scratch)).toEqual(allFiles(without));

    const outcome = await shared.quarantine('child');
    expect(outcome.left).toEqual([]);
    expect(allFiles(repo.top)).toEqual(allFiles(without));
    const whole = await repo.git.check(await repo.inspectAgain(), {
      check,
      on: { kind: 'tree' },
      onOutput: null,
    });
    expect(whole.exitCode).toBe(0);
    expect(gitFiles(repo)).toEqual(before);

    if (outcome.plan === null) throw new Error('no plan');
    expect(await shared.tree.giveBack(outcome.plan)).toMatchObject({ left: [] });
    expect(gitFiles(repo)).toEqual(before);
  });

  test.each(middles.filter(({ operation }) => operation !== null))(
    'by an apply, which is refused and names it: $title',
    async (middle) => {
      const repo = await inTheMiddle(middle);
      const one = await workOf(repo, 'one', (at) => at.write('one.ts', '1\n'));
      const before = { git: gitFiles(repo), user: repo.userState() };
      const repository = await repo.inspectAgain();
      for (const mode of ['uncommitted', 'commit'] as const) {
        const { applied, refusal } = await repo.git.apply(repository, { ...request(repo, [one]), mode });
        expect(applied).toEqual([]);
        expect(refusal).toMatchObject({ code: 'midOperation' });
        expect(`${refusal?.message} ${refusal?.fix}`).toContain(`${middle.operation}`);
      }
      await repo.git.forecast(repository, [one]);
      expect({ git: gitFiles(repo), user: repo.userState() }).toEqual(before);
      // A branch of its own touches nothing of it.
      const branch = await repo.git.apply(repository, { ...request(repo, [one]), mode: 'branch' });
      expect(branch).toMatchObject({ applied: ['one'], refusal: null });
      expect(allFiles(repo.top)).toEqual(before.user.files);
      const { 'refs/heads/swarm/work': made, 'logs/refs/heads/swarm/work': log, ...rest } = gitFiles(repo);
      expect([made, log]).not.toContain(undefined);
      expect(rest).toEqual(before.git);
    },
  );
});

describe('beside unmerged paths without an operation', () => {
  const middle = middles.filter(({ operation }) => operation === null);

  test.each(middle)('work on other paths is applied: $title', async (given) => {
    const repo = await inTheMiddle(given);
    const one = await workOf(repo, 'one', (at) => {
      at.write('one.ts', '1\n');
      at.write('free.ts', 'child\n');
    });
    const before = { git: gitFiles(repo), files: allFiles(repo.top) };
    const outcome = await repo.git.apply(await repo.inspectAgain(), request(repo, [one]));
    expect(outcome).toMatchObject({ applied: ['one'], conflicts: [], refusal: null });
    expect(gitFiles(repo)).toEqual(before.git);
    expect(repo.read('one.ts')).toBe('1\n');
    expect(repo.read('free.ts')).toBe('child\n');
    expect(allFiles(repo.top)['a.ts']).toBe(before.files['a.ts']);
  });

  test.each(middle)('work on an unmerged path is a conflict with the user: $title', async (given) => {
    const repo = await inTheMiddle(given);
    const one = await workOf(repo, 'one', (at) => at.replace('a.ts', 'line 28\n', 'child\n'));
    const before = { git: gitFiles(repo), user: repo.userState() };
    const repository = await repo.inspectAgain();
    const conflict = [{ who: 'you', path: 'a.ts' }];
    for (const mode of ['uncommitted', 'commit'] as const)
      expect(await repo.git.apply(repository, { ...request(repo, [one]), mode })).toMatchObject({
        applied: [],
        conflicts: [{ id: 'one', with: conflict }],
      });
    expect(await repo.git.forecast(repository, [one])).toEqual([
      { id: 'one', clean: false, conflicts: conflict },
    ]);
    expect({ git: gitFiles(repo), user: repo.userState() }).toEqual(before);
  });

  test.each(middle)('a commit of other paths leaves the stages: $title', async (given) => {
    const repo = await inTheMiddle(given);
    const one = await workOf(repo, 'one', (at) => at.write('one.ts', '1\n'));
    const stages = repo.run('ls-files', '--unmerged');
    const outcome = await repo.git.apply(await repo.inspectAgain(), {
      ...request(repo, [one]),
      mode: 'commit',
    });
    expect(outcome).toMatchObject({ applied: ['one'], refusal: null });
    expect(repo.run('ls-files', '--unmerged')).toBe(stages);
    expect(repo.run('show', '--format=', '--name-only', 'HEAD')).toBe('one.ts\n');
  });
});

test('an apply that a crash cut does not commit into a merge that was begun since', async () => {
  const [merge] = middles;
  if (merge === undefined) throw new Error('no merge');
  const repo = await inTheMiddle({ ...merge, begin: () => undefined, unmerged: [] });
  const one = await workOf(repo, 'one', (at) => at.write('one.ts', '1\n'));
  let noted: Parameters<ApplyRequest['beforeWrite']>[0] | null = null;
  const cut = repo.git.apply(await repo.inspectAgain(), {
    ...request(repo, [one]),
    mode: 'commit',
    beforeWrite: (plan) => {
      noted = plan;
      return Promise.reject(new Error('crash'));
    },
  });
  await expect(cut).rejects.toThrow('crash');
  merge.begin(repo);
  const before = gitFiles(repo);
  if (noted === null) throw new Error('no plan');
  await repo.git.finishApply(await repo.inspectAgain(), noted);
  expect(gitFiles(repo)).toEqual(before);
  expect(repo.read('one.ts')).toBe('1\n');
});
