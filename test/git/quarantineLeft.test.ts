import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { QuarantinePlan, QuarantineStep } from '../../src/supervisor/ports/sharedTree.js';
import { allFiles, createRepo, testEnvironment } from './repo.js';
import { folderAt, share, type Act, type SharedRepo } from './shared.js';

const lines = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}\n`).join('');

const files = { 'a.ts': lines(1, 30), 'b.ts': 'b\n', 'bin.dat': Buffer.from([0, 1, 2]), 'dir/x.txt': 'x\n' };

async function shared(): Promise<SharedRepo> {
  return share(await createRepo(files));
}

describe('what cannot be told apart is left as it is, with both names', () => {
  const overlaps: readonly (readonly [
    title: string,
    steps: readonly (readonly [string, Act])[],
    path: string,
    who: string,
  ])[] = [
    [
      'one line that both wrote',
      [
        ['child', (at) => at.replace('a.ts', 'line 5\n', 'c\n')],
        ['other', (at) => at.replace('a.ts', 'c\n', 'o\n')],
      ],
      'a.ts',
      'other',
    ],
    [
      'one line that the user wrote after',
      [
        ['child', (at) => at.replace('a.ts', 'line 5\n', 'c\n')],
        ['you', (at) => at.replace('a.ts', 'c\n', 'u\n')],
      ],
      'a.ts',
      'you',
    ],
    [
      'a line on top of another’s line',
      [
        ['other', (at) => at.replace('a.ts', 'line 5\n', 'o\n')],
        ['child', (at) => at.replace('a.ts', 'o\n', 'c\n')],
      ],
      'a.ts',
      'other',
    ],
    [
      'a new file that the user edited',
      [
        ['child', (at) => at.write('new.ts', 'n\n')],
        ['you', (at) => at.write('new.ts', 'n\nu\n')],
      ],
      'new.ts',
      'you',
    ],
    [
      'a deleted file that another made anew',
      [
        ['child', (at) => at.remove('b.ts')],
        ['other', (at) => at.write('b.ts', 'again\n')],
      ],
      'b.ts',
      'other',
    ],
    [
      'an edited file that the user deleted',
      [
        ['child', (at) => at.write('b.ts', 'c\n')],
        ['you', (at) => at.remove('b.ts')],
      ],
      'b.ts',
      'you',
    ],
    [
      'a binary file that both wrote',
      [
        ['child', (at) => at.write('bin.dat', Buffer.from([0, 9]))],
        ['other', (at) => at.write('bin.dat', Buffer.from([0, 8]))],
      ],
      'bin.dat',
      'other',
    ],
    [
      'an edited file that the user made a link',
      [
        ['child', (at) => at.write('b.ts', 'c\n')],
        [
          'you',
          (at) => {
            at.remove('b.ts');
            at.link('a.ts', 'b.ts');
          },
        ],
      ],
      'b.ts',
      'you',
    ],
    [
      'a file in a folder that the user made a link',
      [
        ['child', (at) => at.write('dir/y.txt', 'y\n')],
        [
          'you',
          (at) => {
            at.move('dir', 'elsewhere');
            at.link('elsewhere', 'dir');
          },
        ],
      ],
      'dir/y.txt',
      'you',
    ],
  ];

  test.each(overlaps)('%s', async (_, steps, file, who) => {
    const { repo, act, quarantine } = await shared();
    for (const [writer, step] of steps) await act(writer, step);
    await act('child', (at) => at.write('clear.ts', 'c\n'));
    const before = repo.userState();
    const outcome = await quarantine('child');
    expect(outcome.left.map((left) => [left.path, left.who])).toEqual([[file, [who]]]);
    expect(outcome.moved).toEqual(['clear.ts']);
    const { 'clear.ts': moved, ...others } = before.files;
    expect(moved).toBeDefined();
    expect(repo.userState().files).toEqual(others);
    expect({ ...repo.userState(), files: {}, status: '' }).toEqual({ ...before, files: {}, status: '' });
  });

  test.each(overlaps.filter(([title]) => !title.includes('in a folder')))(
    'and moved as it is when a person says so: %s',
    async (_, steps, file) => {
      const { repo, act, ledgers, quarantine, worktreeOf } = await shared();
      const before = repo.userState();
      for (const [writer, step] of steps) await act(writer, step);
      const whole = allFiles(repo.top)[file];
      await quarantine('child');
      const first = (ledgers.get('child') ?? []).find((edit) => edit.path === file);
      const outcome = await quarantine('child', undefined, [file]);
      expect(outcome).toMatchObject({ moved: [file], left: [] });
      expect(allFiles(worktreeOf('child'))[file]).toBe(whole);
      const kept = (name: string) => Object.entries(allFiles(repo.top)).filter(([path]) => path !== name);
      expect(kept(file)).toEqual(Object.entries(before.files).filter(([path]) => path !== file));
      // As it was before the child wrote it for the first time.
      expect(repo.exists(file) ? repo.run('hash-object', '--no-filters', file).trim() : null).toBe(
        first?.before ?? null,
      );
      const { index, head, headRef, stash } = before;
      expect(repo.userState()).toMatchObject({ index, head, headRef, stash });
    },
  );

  test('what changed while two had a command open', async () => {
    const { repo, tree, take, ledgers, quarantine } = await shared();
    const one = { child: 'one', attempt: 1, tool: 'shell' };
    const two = { child: 'two', attempt: 1, tool: 'shell' };
    take(await tree.shellStarted(one));
    repo.write('b.ts', 'one, surely\n');
    take(await tree.shellStarted(two));
    repo.write('a.ts', 'one or two\n');
    take(await tree.shellEnded(one));
    repo.write('dir/x.txt', 'two, surely\n');
    take(await tree.shellEnded(two));
    const shape = (child: string): readonly unknown[] =>
      (ledgers.get(child) ?? []).map((edit) => [edit.path, edit.confidence, edit.others]);
    expect(shape('one')).toEqual([
      ['b.ts', 'exclusive', []],
      ['a.ts', 'ambiguous', ['two']],
    ]);
    expect(shape('two')).toEqual([
      ['a.ts', 'ambiguous', ['one']],
      ['dir/x.txt', 'exclusive', []],
    ]);
    const outcome = await quarantine('one');
    expect(outcome).toMatchObject({
      moved: ['b.ts'],
      left: [{ path: 'a.ts', who: ['two'], why: 'ambiguous' }],
    });
    expect([repo.read('a.ts'), repo.read('b.ts'), repo.read('dir/x.txt')]).toEqual([
      'one or two\n',
      'b\n',
      'two, surely\n',
    ]);
  });

  test('but a tool’s write is its own, whoever has a command open', async () => {
    const { repo, tree, take, tool, ledgers } = await shared();
    const one = { child: 'one', attempt: 1, tool: 'shell' };
    take(await tree.shellStarted(one));
    await tool('two', 'b.ts', () => repo.write('b.ts', 'two\n'));
    take(await tree.shellEnded(one));
    expect(ledgers.get('two')).toMatchObject([{ path: 'b.ts', confidence: 'exact' }]);
    expect(ledgers.get('one')).toBeUndefined();
  });

  test('the user’s edit before a tool’s write is the user’s', async () => {
    const { repo, tool, ledgers } = await shared();
    repo.write('a.ts', lines(1, 30).replace('line 25\n', 'user\n'));
    await tool('one', 'a.ts', (at) => at.replace('a.ts', 'line 2\n', 'one\n'));
    expect(ledgers.get('you')).toMatchObject([{ path: 'a.ts' }]);
    expect(ledgers.get('one')).toMatchObject([{ path: 'a.ts', before: ledgers.get('you')?.[0]?.after }]);
  });
});

describe('what changes between capture and restore stays as it is', () => {
  const meanwhile: readonly (readonly [title: string, act: Act, content: string | null])[] = [
    ['an edit', (at) => at.write('b.ts', 'user\n'), 'user\n'],
    ['a deletion', (at) => at.remove('b.ts'), null],
    [
      'a folder in its place',
      (at) => {
        at.remove('b.ts');
        at.write('b.ts/inside', 'i\n');
      },
      null,
    ],
  ];

  test.each(meanwhile)('%s', async (_, act, content) => {
    const { repo, act: does, quarantine, worktreeOf } = await shared();
    await does('child', (at) => {
      at.write('b.ts', 'child\n');
      at.write('new.ts', 'n\n');
    });
    const outcome = await quarantine('child', ({ step }) => {
      if (step === 'captured') act(folderAt(repo.top));
    });
    expect(outcome).toMatchObject({
      moved: ['new.ts'],
      left: [{ path: 'b.ts', who: ['you'], why: 'changed' }],
    });
    if (content !== null) expect(repo.read('b.ts')).toBe(content);
    expect(repo.run('show', 'refs/swarm/b1/child/q1:b.ts')).toBe('child\n');
    expect(readFileSync(path.join(worktreeOf('child'), 'new.ts'), 'utf8')).toBe('n\n');
  });
});

describe('a crash', () => {
  const steps: readonly QuarantineStep['step'][] = ['intent', 'captured', 'restored', 'given'];

  test.each(steps)('after the step %s is mended', async (at) => {
    const { repo, act, quarantine, tree, worktreeOf } = await shared();
    const before = repo.userState();
    await act('child', (folder) => {
      folder.replace('a.ts', 'line 3\n', 'c\n');
      folder.write('new/n.ts', 'n\n');
      folder.remove('b.ts');
    });
    let plan: QuarantinePlan | null = null;
    await expect(
      quarantine('child', (step) => {
        if (step.step === 'intent') plan = JSON.parse(JSON.stringify(step.plan)) as QuarantinePlan;
        if (step.step === at) throw new Error('crash');
      }),
    ).rejects.toThrow('crash');
    if (plan === null) throw new Error('no plan');
    const outcome = await tree.repair(plan);
    expect([...outcome.moved].sort()).toEqual(['a.ts', 'b.ts', 'new/n.ts']);
    expect(repo.userState()).toEqual(before);
    expect(Object.keys(allFiles(worktreeOf('child')))).toEqual(['a.ts', 'bin.dat', 'dir/x.txt', 'new/n.ts']);
    const { moved, left, commit } = outcome;
    expect(await tree.repair(plan)).toMatchObject({ moved, left, commit });
    expect(repo.userState()).toEqual(before);
  });

  test('after any number of restored paths is mended, also where the user edits on', async () => {
    const { repo, act, quarantine, tree } = await shared();
    await act('child', (folder) => {
      for (const name of ['b.ts', 'c.ts', 'd.ts']) folder.write(name, `child ${name}\n`);
    });
    let plan: QuarantinePlan | null = null;
    await expect(
      quarantine('child', (step) => {
        if (step.step === 'intent') plan = step.plan;
        if (step.step === 'captured') throw new Error('crash');
      }),
    ).rejects.toThrow('crash');
    if (plan === null) throw new Error('no plan');
    repo.write('b.ts', 'b\n');
    repo.write('c.ts', 'user\n');
    const outcome = await tree.repair(plan);
    expect(outcome).toMatchObject({ moved: ['b.ts', 'd.ts'], left: [{ path: 'c.ts', why: 'changed' }] });
    expect([repo.read('b.ts'), repo.read('c.ts'), repo.exists('d.ts')]).toEqual(['b\n', 'user\n', false]);
  });

  test('of the supervisor while commands ran leaves their edits to those who ran them', async () => {
    const first = await shared();
    const { repo, tree } = first;
    await tree.shellStarted({ child: 'one', attempt: 1, tool: 'shell' });
    repo.write('b.ts', 'while nobody looked\n');
    const second = await share(repo);
    expect(second.ledgers.get('you')).toMatchObject([{ path: 'b.ts' }]);
    repo.write('a.ts', 'again\n');
    const { createSharedTree } = await import('../../src/supervisor/node/git/sharedTree.js');
    const third = createSharedTree(await repo.inspectAgain(), { env: testEnvironment(repo.home) });
    const lines = await third.start([{ child: 'one', attempt: 1, tool: 'shell' }]);
    expect(lines).toMatchObject([{ child: 'one', edit: { path: 'a.ts', confidence: 'exclusive' } }]);
  });
});

describe('a crash of a give back', () => {
  const all = ['a.ts', 'b.ts', 'dir/x.txt', 'new/n.ts'];

  test.each([0, 1, 2, 3, 4])('after %i of four paths is mended by doing it again', async (written) => {
    const { repo, act, quarantine, tree } = await shared();
    await act('you', (at) => at.replace('a.ts', 'line 20\n', 'u\n'));
    await act('child', (at) => {
      at.replace('a.ts', 'line 3\n', 'c\nadded\nadded\n');
      at.write('new/n.ts', 'n\n');
      at.write('dir/x.txt', 'x\nadded\n');
      at.remove('b.ts');
    });
    const whole = repo.userState();
    const { plan } = await quarantine('child');
    if (plan === null) throw new Error('no plan');
    expect(plan.moves.map(({ path: file }) => file).sort()).toEqual(all);
    // It notes nothing between two paths, so this is what a crash leaves.
    await tree.giveBack({ ...plan, moves: plan.moves.slice(0, written) });
    const again = await tree.giveBack(plan);
    expect([[...again.moved].sort(), again.left]).toEqual([all, []]);
    expect(repo.userState()).toEqual(whole);
  });
});

describe('after a quarantine', () => {
  test('what the child still writes to the user’s tree is taken out too, on top of its own worktree', async () => {
    const { repo, act, tool, quarantine, worktreeOf } = await shared();
    await act('child', (at) => at.replace('a.ts', 'line 3\n', 'first\n'));
    await quarantine('child');
    const own = path.join(worktreeOf('child'), 'a.ts');
    writeFileSync(own, readFileSync(own, 'utf8').replace('line 28\n', 'in the worktree\n'));
    await tool('child', 'a.ts', (at) => at.replace('a.ts', 'line 15\n', 'astray\n'));
    const outcome = await quarantine('child');
    expect(outcome).toMatchObject({ moved: ['a.ts'], left: [] });
    expect(repo.read('a.ts')).toBe(lines(1, 30));
    expect(readFileSync(own, 'utf8')).toBe(
      lines(1, 30)
        .replace('line 3\n', 'first\n')
        .replace('line 15\n', 'astray\n')
        .replace('line 28\n', 'in the worktree\n'),
    );
  });

  test('what was given back and then taken back by the child goes from its worktree too', async () => {
    const { repo, act, quarantine, tree, take, worktreeOf } = await shared();
    await act('child', (at) => at.write('n.ts', 'n\n'));
    const { plan } = await quarantine('child');
    if (plan === null) throw new Error('no plan');
    take((await tree.giveBack(plan)).lines.map((edit) => ({ child: 'child', edit })));
    expect(repo.read('n.ts')).toBe('n\n');
    await act('child', (at) => at.remove('n.ts'));
    await act('child', (at) => at.write('m.ts', 'm\n'));
    expect(await quarantine('child')).toMatchObject({ left: [] });
    expect(Object.keys(allFiles(worktreeOf('child')))).toEqual([
      'a.ts',
      'b.ts',
      'bin.dat',
      'dir/x.txt',
      'm.ts',
    ]);
  });

  test('a second one with nothing new does nothing', async () => {
    const { repo, act, quarantine } = await shared();
    await act('child', (at) => at.write('n.ts', 'n\n'));
    await quarantine('child');
    const before = repo.userState();
    expect(await quarantine('child')).toMatchObject({ moved: [], left: [], commit: null });
    expect(repo.userState()).toEqual(before);
  });

  test('the restored files are nobody’s edit, also while another’s command is open', async () => {
    const { act, tree, take, ledgers, quarantine } = await shared();
    await act('child', (at) => at.write('b.ts', 'child\n'));
    const other = { child: 'other', attempt: 1, tool: 'shell' };
    take(await tree.shellStarted(other));
    await quarantine('child');
    take(await tree.shellEnded(other));
    expect(ledgers.get('other')).toBeUndefined();
  });

  test('an ordinary snapshot of the worktree has the work', async () => {
    const { repo, act, quarantine } = await shared();
    await act('child', (at) => at.write('n.ts', 'n\n'));
    const outcome = await quarantine('child');
    if (outcome.worktree?.ok !== true) throw new Error('no worktree');
    const snapshot = await repo.git.snapshot({
      repository: repo.repository,
      worktree: outcome.worktree,
      ref: 'refs/swarm/b1/child/1',
      message: 'm',
      previous: null,
    });
    expect(snapshot?.changes).toMatchObject([{ path: 'n.ts', kind: 'A' }]);
  });

  test('a worktree that cannot be made costs nothing: the tree is clean and the work is in the commit', async () => {
    const { repo, act, quarantine, worktreeOf } = await shared();
    const before = repo.userState();
    await act('child', (at) => at.write('n.ts', 'n\n'));
    mkdirSync(worktreeOf('child'), { recursive: true });
    writeFileSync(path.join(worktreeOf('child'), 'in the way'), '');
    const outcome = await quarantine('child');
    expect(outcome).toMatchObject({ moved: ['n.ts'], worktree: { ok: false, code: 'pathTaken' } });
    expect(repo.run('show', `${outcome.commit ?? ''}:n.ts`)).toBe('n\n');
    expect(repo.userState()).toEqual(before);
    rmSync(worktreeOf('child'), { recursive: true });
    if (outcome.plan === null) throw new Error('no plan');
    expect((await (await share(repo)).tree.repair(outcome.plan)).worktree).toMatchObject({ ok: true });
    expect(readFileSync(path.join(worktreeOf('child'), 'n.ts'), 'utf8')).toBe('n\n');
  });
});

describe('repositories of other kinds', () => {
  test('with autocrlf the user’s bytes come back exactly, and the worktree has its own line ends', async () => {
    const repo = await createRepo({ 'a.txt': 'a\nb\nc\n', 'mixed.txt': 'a\r\nb\n' });
    repo.run('config', 'core.autocrlf', 'true');
    repo.write('a.txt', 'a\r\nb\r\nc\r\n');
    const before = repo.userState();
    const { act, quarantine, worktreeOf } = await share(repo);
    await act('child', (at) => at.write('a.txt', 'a\r\nchild\r\nc\r\n'));
    await act('child', (at) => at.write('mixed.txt', 'a\nchild\r\n'));
    expect(await quarantine('child')).toMatchObject({ left: [] });
    expect(repo.userState()).toEqual(before);
    expect(readFileSync(path.join(worktreeOf('child'), 'a.txt'), 'utf8')).toBe('a\r\nchild\r\nc\r\n');
    expect(readFileSync(path.join(worktreeOf('child'), 'mixed.txt'), 'utf8')).toBe('a\nchild\r\n');
  });

  test('with a filter the bytes on disk are what counts', async () => {
    const repo = await createRepo({ '.gitattributes': '*.up filter=up\n', seed: '' });
    repo.run('config', 'filter.up.clean', 'tr a-z A-Z');
    repo.run('config', 'filter.up.smudge', 'tr A-Z a-z');
    repo.write('x.up', 'abc\n');
    repo.run('add', '-A');
    repo.run('commit', '-qm', 'up');
    const before = repo.userState();
    const { act, quarantine, worktreeOf } = await share(repo);
    await act('child', (at) => at.write('x.up', 'abc\ndef\n'));
    expect(await quarantine('child')).toMatchObject({ moved: ['x.up'], left: [] });
    expect(repo.userState()).toEqual(before);
    expect(readFileSync(path.join(worktreeOf('child'), 'x.up'), 'utf8')).toBe('abc\ndef\n');
  });

  test('a worktree as the user’s own tree', async () => {
    const repo = await createRepo(files);
    const other = path.join(repo.home, 'second');
    repo.run('worktree', 'add', '-q', '-b', 'second', other);
    const { createSharedTree } = await import('../../src/supervisor/node/git/sharedTree.js');
    const repository = await repo.git.inspect(other);
    if (!repository.ok) throw new Error(repository.message);
    const tree = createSharedTree(repository, { env: testEnvironment(repo.home) });
    await tree.start([]);
    const writer = { child: 'c', attempt: 1, tool: 'shell' };
    await tree.shellStarted(writer);
    writeFileSync(path.join(other, 'b.ts'), 'child\n');
    const edits = (await tree.shellEnded(writer)).map(({ edit }) => edit);
    const main = repo.userState();
    const outcome = await tree.quarantine({
      child: 'c',
      edits,
      others: [],
      ref: 'refs/swarm/b1/c/q1',
      worktree: {
        path: path.join(repo.home, 'w', 'c'),
        base: repository.head,
        files: null,
        link: 'none',
        setup: [],
        logFile: path.join(repo.home, 'log'),
      },
      noteStep: () => Promise.resolve(),
    });
    expect(outcome.moved).toEqual(['b.ts']);
    expect(readFileSync(path.join(other, 'b.ts'), 'utf8')).toBe('b\n');
    expect(repo.userState()).toEqual(main);
  });

  test('a sparse tree', async () => {
    const repo = await createRepo({ 'in/a.txt': 'a\n', 'out/b.txt': 'b\n', 'top.txt': 't\n' });
    repo.run('sparse-checkout', 'set', 'in');
    const before = repo.userState();
    const { act, quarantine } = await share(repo);
    await act('child', (at) => {
      at.write('in/a.txt', 'child\n');
      at.write('in/new.txt', 'n\n');
    });
    expect(await quarantine('child')).toMatchObject({ moved: ['in/a.txt', 'in/new.txt'], left: [] });
    expect(repo.userState()).toEqual(before);
  });

  test('with repositories inside: what a command made is its child’s, what was there is nobody’s', async () => {
    const repo = await createRepo(files);
    const git = (folder: string, ...args: readonly string[]) =>
      execFileSync('git', args, { cwd: path.join(repo.top, folder), env: testEnvironment(repo.home) });
    repo.write('old/o.ts', 'o\n');
    git('old', 'init', '-q');
    const { act, quarantine, worktreeOf, ledgers } = await share(repo);
    const plainFiles = () => Object.keys(allFiles(repo.top)).filter((file) => !file.includes('.git/'));
    const before = plainFiles();
    await act('child', (at) => {
      at.write('app/main.ts', 'export const half = \n');
      git('app', 'init', '-q');
      at.write('old/o.ts', 'mine\n');
    });
    expect(ledgers.get('child')?.map((edit) => edit.path)).toEqual(['app/main.ts']);
    expect(await quarantine('child')).toMatchObject({ moved: ['app/main.ts'], left: [] });
    expect(plainFiles()).toEqual(before);
    expect(repo.read('old/o.ts')).toBe('mine\n');
    expect(readFileSync(path.join(worktreeOf('child'), 'app/main.ts'), 'utf8')).toBe(
      'export const half = \n',
    );
  });

  test('a submodule is nobody’s edit, and its files are not touched', async () => {
    const library = await createRepo({ 'lib.txt': 'l\n' });
    const repo = await createRepo(files);
    repo.run('submodule', 'add', '-q', library.top, 'lib');
    repo.run('commit', '-qm', 'submodule');
    const { act, quarantine } = await share(repo);
    await act('child', (at) => {
      at.write('lib/lib.txt', 'child\n');
      at.write('b.ts', 'child\n');
    });
    expect(await quarantine('child')).toMatchObject({ moved: ['b.ts'], left: [] });
    expect(repo.read('lib/lib.txt')).toBe('child\n');
    expect(execFileSync('git', ['ls-files', '-s', 'lib'], { cwd: repo.top, encoding: 'utf8' })).toContain(
      '160000',
    );
  });

  test('the middle of a merge', async () => {
    const repo = await createRepo(files);
    repo.run('checkout', '-q', '-b', 'side');
    repo.write('b.ts', 'side\n');
    repo.run('commit', '-qam', 'side');
    repo.run('checkout', '-q', 'main');
    repo.write('b.ts', 'main\n');
    repo.run('commit', '-qam', 'main');
    expect(() => repo.run('merge', 'side')).toThrow();
    const before = repo.userState();
    const { act, quarantine } = await share(repo);
    await act('child', (at) => at.write('dir/x.txt', 'child\n'));
    expect(await quarantine('child')).toMatchObject({ moved: ['dir/x.txt'], left: [] });
    expect(repo.userState()).toEqual(before);
  });
});
