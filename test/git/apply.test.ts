import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { defaultCheck, parseErrors } from '../../src/supervisor/node/git/index.js';
import type { ApplyOutcome, ApplyPlan, ApplyRequest, ChildWork } from '../../src/supervisor/ports/git.js';
import { createRepo, type TestRepo } from './repo.js';

type Edits = Readonly<Record<string, string | null>>;

/** A child that made these edits (null: deleted). */
async function child(repo: TestRepo, id: string, edits: Edits): Promise<ChildWork> {
  const worktree = await repo.worktree(id);
  for (const [file, content] of Object.entries(edits)) {
    const target = path.join(worktree.path, file);
    if (content === null) rmSync(target, { recursive: true });
    else {
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, content);
    }
  }
  return snapshotOf(repo, id);
}

async function snapshotOf(repo: TestRepo, id: string): Promise<ChildWork> {
  const worktree = await repo.worktree(id);
  const ref = `refs/swarm/b1/${id}/1`;
  const snapshot = await repo.git.snapshot({
    repository: repo.repository,
    worktree,
    ref,
    message: id,
    previous: null,
  });
  return { id, base: worktree.base, commit: snapshot?.commit ?? worktree.base };
}

async function apply(
  repo: TestRepo,
  children: readonly ChildWork[],
  request: Partial<ApplyRequest> = {},
): Promise<ApplyOutcome & { readonly plans: readonly ApplyPlan[] }> {
  const plans: ApplyPlan[] = [];
  const outcome = await repo.git.apply(repo.repository, {
    children,
    check: null,
    mode: 'uncommitted',
    label: 'swarm: work',
    scratch: path.join(repo.home, 'project.worktrees', '.scratch'),
    beforeWrite: (plan) => {
      plans.push(plan);
      return Promise.resolve();
    },
    ...request,
  });
  return { ...outcome, plans };
}

/** A check in JavaScript: red with one tsc-like error for each file that says BROKEN. */
const noBroken = {
  command: [
    process.execPath,
    '-e',
    `const fs=require('fs');let bad=0;for(const f of fs.readdirSync('.').sort()){if(!f.endsWith('.ts'))continue;
     if(fs.readFileSync(f,'utf8').includes('BROKEN')){bad++;console.log(f+'(1,7): error TS1: broken');}}
     if(fs.existsSync('need.ts')&&!fs.existsSync('given.ts')){bad++;console.log('need.ts(1,1): error TS2: needs given');}
     process.exit(bad?2:0)`,
  ],
  folder: '.',
} as const;

describe('apply', () => {
  test('writes the merged files as uncommitted edits; index, HEAD, stash and other edits stay', async () => {
    const repo = await createRepo({
      'a.txt': '1\n2\n3\n4\n5\n',
      'b.txt': 'b\n',
      'gone/x.txt': 'x\n',
      'mine.txt': 'm\n',
    });
    const one = await child(repo, 'one', {
      'a.txt': '1\n2\n3\n4\nfive\n',
      'new/n.txt': 'n\n',
      'gone/x.txt': null,
    });
    repo.write('a.txt', 'one\n2\n3\n4\n5\n');
    repo.write('mine.txt', 'staged\n');
    repo.run('add', 'mine.txt');
    repo.write('mine.txt', 'edited\n');
    repo.write('untracked.txt', 'u\n');
    const before = repo.userState();
    const outcome = await apply(repo, [one]);
    expect(outcome).toMatchObject({ applied: ['one'], conflicts: [], red: [], refusal: null });
    expect(repo.read('a.txt')).toBe('one\n2\n3\n4\nfive\n');
    expect(repo.read('new/n.txt')).toBe('n\n');
    expect(repo.exists('gone')).toBe(false);
    const after = repo.userState();
    expect({ ...after, status: '', files: {} }).toEqual({ ...before, status: '', files: {} });
    expect(repo.run('status', '--porcelain', '-uall')).toBe(
      ' M a.txt\n D gone/x.txt\nMM mine.txt\n?? new/n.txt\n?? untracked.txt\n',
    );
    expect(outcome.plans).toMatchObject([{ children: ['one'], paths: ['a.txt', 'gone/x.txt', 'new/n.txt'] }]);
  });

  test('of a conflict with the user’s edit leaves the tree as it was', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const one = await child(repo, 'one', { 'a.txt': 'child\n', 'other.txt': 'o\n' });
    repo.write('a.txt', 'user\n');
    const before = repo.userState();
    const outcome = await apply(repo, [one]);
    expect(outcome).toMatchObject({
      applied: [],
      conflicts: [{ id: 'one', with: [{ who: 'you', path: 'a.txt' }] }],
    });
    expect(repo.userState()).toEqual(before);
  });

  test('of two that conflict takes the one that conflicts with fewest, whole, and names the other', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    const both = await child(repo, 'both', { 'a.txt': 'both\n', 'b.txt': 'both\n' });
    const left = await child(repo, 'left', { 'a.txt': 'left\n' });
    const right = await child(repo, 'right', { 'b.txt': 'right\n' });
    const outcome = await apply(repo, [both, left, right]);
    expect([...outcome.applied].sort()).toEqual(['left', 'right']);
    expect(outcome.conflicts).toEqual([
      {
        id: 'both',
        with: [
          { who: 'left', path: 'a.txt' },
          { who: 'right', path: 'b.txt' },
        ],
      },
    ]);
    expect([repo.read('a.txt'), repo.read('b.txt')]).toEqual(['left\n', 'right\n']);
  });

  test('never writes over a file that git ignores', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const one = await child(repo, 'one', { 'secret.env': 'child\n' });
    const two = await child(repo, 'two', { 'folder/x.txt': 'child\n' });
    repo.write('.git/info/exclude', '*.env\n/folder\n');
    repo.write('secret.env', 'mine\n');
    repo.write('folder', 'mine\n');
    const before = repo.userState();
    const outcome = await apply(repo, [one, two]);
    expect(outcome.conflicts).toEqual([
      { id: 'one', with: [{ who: 'you', path: 'secret.env' }] },
      { id: 'two', with: [{ who: 'you', path: 'folder' }] },
    ]);
    expect(repo.userState()).toEqual(before);
  });

  test('turns files into folders and back, and brings links, modes and bytes', async () => {
    const repo = await createRepo({
      file: 'f\n',
      'dir/x': 'x\n',
      'run.sh': 'r\n',
      'private.txt': 'p\n',
      'old.txt': 'a\nb\nc\nd\n',
    });
    chmodSync(path.join(repo.top, 'private.txt'), 0o600);
    const worktree = await repo.worktree('one');
    const at = (file: string): string => path.join(worktree.path, file);
    rmSync(at('file'));
    rmSync(at('dir'), { recursive: true });
    mkdirSync(at('file'));
    writeFileSync(at('file/inside'), Buffer.from([0, 200]));
    writeFileSync(at('dir'), 'd\n');
    chmodSync(at('run.sh'), 0o755);
    writeFileSync(at('private.txt'), 'changed\n');
    symlinkSync('dir', at('link'));
    renameSync(at('old.txt'), at('renamed.txt'));
    repo.write('old.txt', 'a\nb\nc\nuser\n');
    const outcome = await apply(repo, [await snapshotOf(repo, 'one')]);
    expect(outcome.applied).toEqual(['one']);
    expect(readFileSync(path.join(repo.top, 'file/inside'))).toEqual(Buffer.from([0, 200]));
    expect(repo.read('dir')).toBe('d\n');
    expect(statSync(path.join(repo.top, 'run.sh')).mode & 0o100).toBe(0o100);
    expect(statSync(path.join(repo.top, 'private.txt')).mode & 0o777).toBe(0o600);
    expect(repo.read('link')).toBe('d\n');
    expect([repo.exists('old.txt'), repo.read('renamed.txt')]).toEqual([false, 'a\nb\nc\nuser\n']);
  });

  test('begins again when the user edits a file while it merges, and refuses when that does not end', async () => {
    const repo = await createRepo({ 'a.txt': '1\n2\n3\n4\n5\n' });
    const one = await child(repo, 'one', { 'a.txt': '1\n2\n3\n4\nfive\n' });
    let edits = 0;
    const once = await apply(repo, [one], {
      beforeWrite: () => {
        edits += 1;
        if (edits === 1) repo.write('a.txt', 'user\n2\n3\n4\n5\n');
        return Promise.resolve();
      },
    });
    expect(once.applied).toEqual(['one']);
    expect(repo.read('a.txt')).toBe('user\n2\n3\n4\nfive\n');
    repo.write('a.txt', '1\n2\n3\n4\n5\n');
    const never = await apply(repo, [one], {
      beforeWrite: () => {
        edits += 1;
        repo.write('a.txt', `user ${edits}\n2\n3\n4\n5\n`);
        return Promise.resolve();
      },
    });
    expect(never).toMatchObject({ applied: [], refusal: { code: 'other' } });
    expect(repo.read('a.txt')).toBe(`user ${edits}\n2\n3\n4\n5\n`);
  });

  test('is refused in the middle of a merge', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const one = await child(repo, 'one', { 'b.txt': 'b\n' });
    repo.write('.git/MERGE_HEAD', `${repo.repository.head}\n`);
    expect(await apply(repo, [one])).toMatchObject({ applied: [], refusal: { code: 'midOperation' } });
    expect(repo.exists('b.txt')).toBe(false);
  });

  test('of nothing new is done at once, and twice does no harm', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const one = await child(repo, 'one', { 'a.txt': 'b\n' });
    expect((await apply(repo, [one])).applied).toEqual(['one']);
    const before = repo.userState();
    expect((await apply(repo, [one])).applied).toEqual(['one']);
    expect(repo.userState()).toEqual(before);
  });

  test('that a crash cut is finished: what is done stays, what somebody changed since is left', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
    const one = await child(repo, 'one', { 'a.txt': 'A\n', 'b.txt': 'B\n', 'c.txt': 'C\n', 'd.txt': 'D\n' });
    let plan: ApplyPlan | null = null;
    await expect(
      apply(repo, [one], {
        beforeWrite: (noted) => {
          plan = noted;
          return Promise.reject(new Error('crash'));
        },
      }),
    ).rejects.toThrow('crash');
    if (plan === null) throw new Error('no plan');
    repo.write('a.txt', 'A\n');
    repo.write('b.txt', 'user\n');
    expect(await repo.git.finishApply(repo.repository, plan)).toEqual({
      written: ['c.txt', 'd.txt'],
      left: ['b.txt'],
    });
    expect(['a', 'b', 'c', 'd'].map((name) => repo.read(`${name}.txt`))).toEqual([
      'A\n',
      'user\n',
      'C\n',
      'D\n',
    ]);
    expect(await repo.git.finishApply(repo.repository, plan)).toEqual({ written: [], left: ['b.txt'] });
  });
});

describe('apply with a check', () => {
  test('checks the merged tree in the scratch tree first; a red child stays out, the green ones apply', async () => {
    const repo = await createRepo({ 'a.ts': 'a', 'b.ts': 'b', 'c.ts': 'c' });
    const good = await child(repo, 'good', { 'a.ts': 'better' });
    const bad = await child(repo, 'bad', { 'b.ts': 'BROKEN' });
    const fine = await child(repo, 'fine', { 'c.ts': 'better' });
    const before = repo.userState();
    const outcome = await apply(repo, [good, bad, fine], { check: noBroken });
    expect(outcome).toMatchObject({
      applied: ['good', 'fine'],
      red: [{ id: 'bad', errors: 1 }],
      check: { exitCode: 0 },
    });
    expect(outcome.red[0]?.output).toContain('b.ts(1,7)');
    expect(outcome.red[0]?.tree).not.toBe(outcome.check?.tree);
    expect([repo.read('a.ts'), repo.read('b.ts'), repo.read('c.ts')]).toEqual(['better', 'b', 'better']);
    expect(repo.userState().index).toBe(before.index);
  });

  test('a red child has an error though the check says nothing', async () => {
    const repo = await createRepo({ 'a.ts': 'a' });
    const bad = await child(repo, 'bad', { 'silent.ts': 'x' });
    const silent = { command: ['test', '!', '-e', 'silent.ts'], folder: '.' };
    const outcome = await apply(repo, [bad], { check: silent });
    expect(outcome).toMatchObject({ applied: [], red: [{ id: 'bad', errors: 1 }] });
  });

  test('takes two that are green only together', async () => {
    const repo = await createRepo({ 'a.ts': 'a' });
    const needs = await child(repo, 'needs', { 'need.ts': 'n' });
    const bad = await child(repo, 'bad', { 'a.ts': 'BROKEN' });
    const gives = await child(repo, 'gives', { 'given.ts': 'g' });
    const outcome = await apply(repo, [needs, bad, gives], { check: noBroken });
    expect([...outcome.applied].sort()).toEqual(['gives', 'needs']);
    expect(outcome.red.map(({ id }) => id)).toEqual(['bad']);
  });

  test('does not blame a child for what was broken before', async () => {
    const repo = await createRepo({ 'a.ts': 'BROKEN', 'b.ts': 'b' });
    const one = await child(repo, 'one', { 'b.ts': 'better' });
    const two = await child(repo, 'two', { 'c.ts': 'BROKEN' });
    const outcome = await apply(repo, [one, two], { check: noBroken });
    expect(outcome).toMatchObject({ applied: ['one'], red: [{ id: 'two', errors: 1 }] });
  });

  test('that cannot run applies nothing', async () => {
    const repo = await createRepo({ 'a.ts': 'a' });
    const one = await child(repo, 'one', { 'a.ts': 'b' });
    const before = repo.userState();
    const outcome = await apply(repo, [one], { check: { command: ['no-such-check-program'], folder: '.' } });
    expect(outcome).toMatchObject({ applied: [], refusal: { ok: false }, check: { exitCode: 125 } });
    expect(repo.userState()).toEqual(before);
  });

  test('keeps the scratch tree warm and clean', async () => {
    const repo = await createRepo({
      'a.ts': 'a',
      'package.json': '{}',
      '.gitignore': 'node_modules\nout/\n',
    });
    repo.write('node_modules/dep/x', 'x');
    const litter = {
      command: [
        process.execPath,
        '-e',
        "const fs=require('fs');fs.readFileSync('node_modules/dep/x');fs.mkdirSync('out',{recursive:true});fs.appendFileSync('out/runs','x');fs.writeFileSync('a.ts','rewritten');fs.writeFileSync('litter','');fs.writeFileSync('p.tsbuildinfo','');console.log(fs.readFileSync('out/runs','utf8').length)",
      ],
      folder: '.',
    };
    const scratch = path.join(repo.home, 'project.worktrees', '.scratch');
    const one = await child(repo, 'one', { 'a.ts': 'b' });
    const on = { kind: 'scratch', folder: scratch, children: [one] } as const;
    expect((await repo.git.check(repo.repository, { check: litter, on, onOutput: null })).output).toBe('1\n');
    const second = await repo.git.check(repo.repository, {
      check: {
        ...litter,
        command: [
          process.execPath,
          '-e',
          "const fs=require('fs');console.log(fs.readFileSync('a.ts','utf8'),fs.existsSync('litter'),fs.existsSync('p.tsbuildinfo'),fs.readFileSync('out/runs','utf8'))",
        ],
      },
      on,
      onOutput: null,
    });
    expect(second.output).toBe('b false true x\n');
    expect(
      await repo.git.leftovers(repo.repository, [path.join(repo.home, 'project.worktrees/b1/one')]),
    ).toMatchObject([{ path: scratch, unsaved: false }]);
  });
});

describe('apply as a commit or branch', () => {
  test('commits only the children’s part; the user’s edits and staged files stay as they are', async () => {
    const repo = await createRepo({ 'a.txt': '1\n2\n3\n4\n5\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
    const one = await child(repo, 'one', { 'a.txt': '1\n2\n3\n4\nfive\n', 'c.txt': null, 'n.txt': 'n\n' });
    repo.write('a.txt', 'one\n2\n3\n4\n5\n');
    repo.write('b.txt', 'staged\n');
    repo.run('add', 'b.txt');
    const outcome = await apply(repo, [one], { mode: 'commit', label: 'feat: work of one' });
    expect(outcome).toMatchObject({ applied: ['one'], refusal: null });
    expect(repo.run('log', '-1', '--format=%s %an')).toBe('feat: work of one User\n');
    expect(repo.run('show', 'HEAD:a.txt')).toBe('1\n2\n3\n4\nfive\n');
    expect(repo.run('diff-tree', '-r', '--name-only', 'HEAD^', 'HEAD')).toBe('a.txt\nc.txt\nn.txt\n');
    expect(repo.read('a.txt')).toBe('one\n2\n3\n4\nfive\n');
    expect(repo.run('status', '--porcelain')).toBe(' M a.txt\nM  b.txt\n');
    expect(repo.run('symbolic-ref', 'HEAD')).toBe('refs/heads/main\n');
    expect(outcome.plans[0]?.commit?.to).toBe(repo.run('rev-parse', 'HEAD').trim());
  });

  test('does not commit into a file that the user has staged', async () => {
    const repo = await createRepo({ 'a.txt': '1\n2\n3\n4\n5\n' });
    const one = await child(repo, 'one', { 'a.txt': '1\n2\n3\n4\nfive\n' });
    repo.write('a.txt', 'one\n2\n3\n4\n5\n');
    repo.run('add', 'a.txt');
    const before = repo.userState();
    const outcome = await apply(repo, [one], { mode: 'commit' });
    expect(outcome).toMatchObject({
      applied: [],
      conflicts: [{ id: 'one', with: [{ who: 'you', path: 'a.txt' }] }],
    });
    expect(repo.userState()).toEqual(before);
  });

  test('makes a branch and touches nothing else', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const one = await child(repo, 'one', { 'a.txt': 'child\n' });
    repo.write('a.txt', 'user\n');
    const before = repo.userState();
    const outcome = await apply(repo, [one], { mode: 'branch', label: 'swarm/one' });
    expect(outcome.applied).toEqual(['one']);
    expect(repo.run('show', 'swarm/one:a.txt')).toBe('child\n');
    expect({ ...repo.userState(), refs: '' }).toEqual({ ...before, refs: '' });
    expect(await apply(repo, [one], { mode: 'branch', label: 'swarm/one' })).toMatchObject({
      refusal: { code: 'pathTaken' },
    });
    expect(await apply(repo, [one], { mode: 'branch', label: '../x' })).toMatchObject({
      refusal: { code: 'other' },
    });
  });
});

describe('a forecast', () => {
  test('names each child’s conflicts with the user and the others, and writes nothing', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
    const one = await child(repo, 'one', { 'a.txt': 'one\n', dir: 'file\n' });
    const two = await child(repo, 'two', { 'a.txt': 'two\n', 'b.txt': 'two\n' });
    const three = await child(repo, 'three', { 'c.txt': 'three\n' });
    repo.write('b.txt', 'user\n');
    const before = repo.userState();
    const refs = repo.run('for-each-ref');
    expect(await repo.git.forecast(repo.repository, [one, two, three])).toEqual([
      { id: 'one', clean: false, conflicts: [{ who: 'two', path: 'a.txt' }] },
      {
        id: 'two',
        clean: false,
        conflicts: [
          { who: 'you', path: 'b.txt' },
          { who: 'one', path: 'a.txt' },
        ],
      },
      { id: 'three', clean: true, conflicts: [] },
    ]);
    expect(repo.userState()).toEqual(before);
    expect(repo.run('for-each-ref')).toBe(refs);
  });

  test('knows that a child’s uncommitted base is the user’s own edit', async () => {
    const repo = await createRepo({ 'a.txt': '1\n2\n3\n' });
    repo.write('a.txt', 'user\n2\n3\n');
    const base = await repo.git.baseCommit(repo.repository, {
      uncommitted: true,
      ref: 'refs/swarm/b1/base/1',
    });
    const worktree = await repo.worktree('one', { base });
    writeFileSync(path.join(worktree.path, 'a.txt'), 'user, bettered\n2\n3\n');
    const one = await snapshotOf(repo, 'one');
    expect(await repo.git.forecast(repo.repository, [one])).toEqual([
      { id: 'one', clean: true, conflicts: [] },
    ]);
    expect((await apply(repo, [one])).applied).toEqual(['one']);
    expect(repo.read('a.txt')).toBe('user, bettered\n2\n3\n');
  });
});

describe('on a branch that has no commit yet', () => {
  test('a forecast is true, and an apply is refused and touches nothing', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    const one = await child(repo, 'one', { 'a.txt': 'one\n' });
    const two = await child(repo, 'two', { 'b.txt': 'two\n' });
    repo.run('checkout', '-q', '--orphan', 'unborn');
    repo.write('b.txt', 'user\n');
    const mark = await repo.git.treeMark(repo.repository);
    expect(await repo.git.forecast(repo.repository, [one, two])).toEqual([
      { id: 'one', clean: true, conflicts: [] },
      { id: 'two', clean: false, conflicts: [{ who: 'you', path: 'b.txt' }] },
    ]);
    const before = repo.userState();
    for (const mode of ['uncommitted', 'commit', 'branch'] as const)
      expect(await apply(repo, [one, two], { mode })).toMatchObject({
        applied: [],
        refusal: { code: 'noCommit' },
      });
    expect(repo.userState()).toEqual(before);
    expect(await repo.git.treeMark(repo.repository)).toBe(mark);
  });
});

describe('between children of different bases a forecast', () => {
  test('names what both have changed, and nothing that only lies between the bases', async () => {
    const repo = await createRepo({ 'a.txt': '1\n2\n3\n4\n5\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
    const one = await child(repo, 'one', {
      'a.txt': '1\n2\n3\n4\nfive\n',
      'b.txt': 'one\n',
      'c.txt': 'one\n',
    });
    repo.write('c.txt', 'committed meanwhile\n');
    repo.run('commit', '-qam', 'more');
    const two = await child(repo, 'two', { 'a.txt': 'one\n2\n3\n4\n5\n', 'b.txt': 'two\n' });
    expect(two.base).not.toBe(one.base);
    expect(await repo.git.forecast(repo.repository, [one, two])).toEqual([
      {
        id: 'one',
        clean: false,
        conflicts: [
          { who: 'you', path: 'c.txt' },
          { who: 'two', path: 'b.txt' },
        ],
      },
      { id: 'two', clean: false, conflicts: [{ who: 'one', path: 'b.txt' }] },
    ]);
  });

  test('is as true the second time, when the tree, a child or nobody has changed', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    const one = await child(repo, 'one', { 'a.txt': 'one\n' });
    const two = await child(repo, 'two', { 'b.txt': 'two\n' });
    const foreseen = async (works: readonly ChildWork[]) =>
      (await repo.git.forecast(repo.repository, works)).map(({ conflicts }) =>
        conflicts.map(({ who }) => who),
      );
    expect(await foreseen([one, two])).toEqual([[], []]);
    expect(await foreseen([one, two])).toEqual([[], []]);
    repo.write('b.txt', 'user\n');
    expect(await foreseen([one, two])).toEqual([[], ['you']]);
    const changed = await child(repo, 'three', { 'a.txt': 'three\n' });
    expect(await foreseen([one, { ...changed, id: 'two' }])).toEqual([['two'], ['one']]);
    repo.write('b.txt', 'b\n');
    expect(await foreseen([one, two])).toEqual([[], []]);
  });
});

describe('the mark of the tree', () => {
  test('is another after every edit and commit, and the same without; nothing is written', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n', 'dir/b.txt': 'b\n' });
    const marks: string[] = [];
    const mark = async (): Promise<string> => {
      const before = repo.userState();
      const found = await repo.git.treeMark(repo.repository);
      expect(repo.userState()).toEqual(before);
      return found;
    };
    const edits: readonly (() => unknown)[] = [
      () => undefined,
      () => repo.write('a.txt', 'edited\n'),
      () => repo.write('a.txt', 'edited again\n'),
      () => repo.write('new folder/ä b.txt', 'new\n'),
      () => repo.write('new folder/ä b.txt', 'new!\n'),
      () => repo.remove('dir/b.txt'),
      () => repo.run('commit', '-qam', 'more'),
    ];
    for (const edit of edits) {
      edit();
      marks.push(await mark());
      expect(await mark()).toBe(marks.at(-1));
    }
    expect(new Set(marks).size).toBe(edits.length);
    repo.write('node_modules/x/index.js', 'x\n');
    repo.write('.swarm/journal', 'x\n');
    expect(await mark()).toBe(marks.at(-1));
  });
});

describe('a check', () => {
  test('of the tree as it is passes exit code and output through and finds the errors', async () => {
    const repo = await createRepo({ 'sub/a.ts': 'BROKEN' });
    const seen: string[] = [];
    const outcome = await repo.git.check(repo.repository, {
      check: { ...noBroken, folder: 'sub' },
      on: { kind: 'tree' },
      onOutput: (stream, chunk) => seen.push(`${stream} ${Buffer.from(chunk).toString()}`),
    });
    expect(outcome).toMatchObject({
      exitCode: 2,
      errors: [{ path: 'sub/a.ts', line: 1, column: 7, message: 'TS1: broken' }],
    });
    expect(seen).toEqual(['stdout a.ts(1,7): error TS1: broken\n']);
    expect(outcome.tree).toBe(repo.run('rev-parse', 'HEAD^{tree}').trim());
  });

  test('finds programs of node_modules', async () => {
    const repo = await createRepo({ 'package.json': '{}', '.gitignore': 'node_modules' });
    repo.write('node_modules/.bin/tool', '#!/bin/sh\necho from tool $1\nexit 7\n', 0o755);
    const outcome = await repo.git.check(repo.repository, {
      check: { command: ['tool', 'a b'], folder: '.' },
      on: { kind: 'tree' },
      onOutput: null,
    });
    expect(outcome).toMatchObject({ exitCode: 7, output: 'from tool a b\n' });
  });

  test('of a TypeScript project is tsc', async () => {
    const repo = await createRepo({ 'a.ts': '' });
    expect(await defaultCheck(repo.top)).toBeNull();
    repo.write('tsconfig.json', '{}');
    expect((await defaultCheck(repo.top))?.command.slice(0, 2)).toEqual(['npx', '--no-install']);
    repo.write('node_modules/.bin/tsc', '', 0o755);
    expect((await defaultCheck(repo.top))?.command.slice(0, 2)).toEqual(['tsc', '--noEmit']);
  });

  test('errors are read in the forms of tsc and of compilers', () => {
    const output = [
      'src/a b.ts(3,5): error TS2322: Type x.',
      '\u001b[96msrc/b.ts\u001b[0m:\u001b[93m4\u001b[0m:\u001b[93m1\u001b[0m - \u001b[91merror\u001b[0m TS1005: ; expected.',
      'main.c:7:2: error: no',
      '/top/pkg/abs.ts(1,1): error TS1: abs',
      'Found 3 errors.',
      'http://localhost:3000:1',
    ].join('\n');
    expect(
      parseErrors(output, '/top', 'pkg').map(({ path: file, line, column, message }) => [
        file,
        line,
        column,
        message,
      ]),
    ).toEqual([
      ['pkg/src/a b.ts', 3, 5, 'TS2322: Type x.'],
      ['pkg/src/b.ts', 4, 1, 'TS1005: ; expected.'],
      ['pkg/main.c', 7, 2, 'error: no'],
      ['pkg/abs.ts', 1, 1, 'TS1: abs'],
    ]);
  });
});
