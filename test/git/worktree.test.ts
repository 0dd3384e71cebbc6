import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { allFiles, createRepo, testEnvironment } from './repo.js';

describe('a worktree', () => {
  test('has the files of its base, is detached and locked, and leaves the user’s tree as it is', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n', 'b/c.txt': 'c\n' });
    repo.write('a.txt', 'edited\n');
    repo.write('new.txt', 'n\n');
    const before = repo.userState();
    const worktree = await repo.worktree('one');
    expect(allFiles(worktree.path)).toEqual(allFiles(execCheckout(repo.top, repo.home)));
    expect(repo.run('worktree', 'list', '--porcelain')).toMatch(
      /worktree .*one\nHEAD .*\ndetached\nlocked Swarm Panel/,
    );
    expect(repo.userState()).toEqual(before);
  });

  test('is found again by a second call, with the agent’s edits in it', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const worktree = await repo.worktree('one');
    writeFileSync(path.join(worktree.path, 'a.txt'), 'work\n');
    expect(await repo.worktree('one')).toEqual(worktree);
    expect(readFileSync(path.join(worktree.path, 'a.txt'), 'utf8')).toBe('work\n');
    expect(await repo.git.worktreeState(repo.repository, worktree.path)).toBe('present');
  });

  test('is made anew where its folder was deleted by hand', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const worktree = await repo.worktree('one');
    rmSync(worktree.path, { recursive: true });
    expect(await repo.git.worktreeState(repo.repository, worktree.path)).toBe('missing');
    await repo.worktree('one');
    expect(readFileSync(path.join(worktree.path, 'a.txt'), 'utf8')).toBe('a\n');
  });

  test('is not made where something else is, nor inside the repository', async () => {
    const repo = await createRepo();
    const taken = path.join(repo.home, 'taken');
    mkdirSync(taken);
    writeFileSync(path.join(taken, 'mine'), 'x');
    const request = {
      base: repo.repository.head,
      files: null,
      link: 'none',
      setup: [],
      logFile: path.join(repo.home, 'log'),
    } as const;
    const before = repo.userState();
    expect(await repo.git.ensureWorktree(repo.repository, { ...request, path: taken })).toMatchObject({
      ok: false,
      code: 'pathTaken',
    });
    expect(await repo.git.worktreeState(repo.repository, taken)).toBe('foreign');
    expect(readFileSync(path.join(taken, 'mine'), 'utf8')).toBe('x');
    expect(
      await repo.git.ensureWorktree(repo.repository, { ...request, path: path.join(repo.top, 'in') }),
    ).toMatchObject({ ok: false });
    expect(repo.userState()).toEqual(before);
  });

  test('of eight children at once all are made', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const all = await Promise.all(
      ['1', '2', '3', '4', '5', '6', '7', '8'].map((name) => repo.worktree(`t${name}`)),
    );
    for (const { path: folder } of all) expect(readFileSync(path.join(folder, 'a.txt'), 'utf8')).toBe('a\n');
  });

  test('runs no hook of the user', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const mark = path.join(repo.home, 'hook-ran');
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change'])
      repo.write(`.git/hooks/${hook}`, `#!/bin/sh\ntouch ${mark}\n`, 0o755);
    const worktree = await repo.worktree('one');
    writeFileSync(path.join(worktree.path, 'a.txt'), 'work\n');
    await repo.snapshot(worktree);
    expect(existsSync(mark)).toBe(false);
  });

  test('with files of its task has only those folders and the files at the top', async () => {
    const repo = await createRepo({
      'top.txt': '',
      'src/a/x.ts': '',
      'src/a/deep/y.ts': '',
      'src/b/z.ts': '',
      'src/beside.ts': '',
      'docs/d.md': '',
    });
    const config = repo.userState().config;
    const worktree = await repo.worktree('one', { files: ['src/a/**/*.ts'] });
    expect(Object.keys(allFiles(worktree.path))).toEqual([
      'src/a/deep/y.ts',
      'src/a/x.ts',
      'src/beside.ts',
      'top.txt',
    ]);
    expect(repo.userState().config).toBe(config);
  });

  test('with files: a write outside of them is seen', async () => {
    const repo = await createRepo({ 'src/a/x.ts': 'x', 'docs/d.md': 'old\n', 'docs/e.md': 'e\n' });
    const worktree = await repo.worktree('one', { files: ['src/a/*'] });
    mkdirSync(path.join(worktree.path, 'docs'));
    writeFileSync(path.join(worktree.path, 'docs/d.md'), 'new\n');
    writeFileSync(path.join(worktree.path, 'docs/f.md'), 'f\n');
    const changes = await repo.git.changes(worktree);
    expect(changes.map(({ path: file, kind }) => `${kind} ${file}`)).toEqual(['M docs/d.md', 'A docs/f.md']);
  });

  test('whose setup fails is refused with the reason, and tried again', async () => {
    const repo = await createRepo();
    const logFile = path.join(repo.home, 'logs', 'setup.log');
    const request = {
      path: path.join(repo.home, 'w', 'one'),
      base: repo.repository.head,
      files: null,
      link: 'none',
      logFile,
    } as const;
    const script =
      'const fs=require("fs");console.log("setting up");process.exit(fs.existsSync("../ok")?0:3)';
    const setup = [process.execPath, '-e', script];
    const refusal = await repo.git.ensureWorktree(repo.repository, { ...request, setup });
    expect(refusal).toMatchObject({ ok: false, code: 'setupFailed' });
    expect(readFileSync(logFile, 'utf8')).toContain('setting up');
    writeFileSync(path.join(repo.home, 'w', 'ok'), '');
    expect(await repo.git.ensureWorktree(repo.repository, { ...request, setup })).toMatchObject({ ok: true });
  });

  test('whose checkout needs a filter that is missing is refused', async () => {
    const repo = await createRepo({ '.gitattributes': '*.bin filter=gone\n', 'a.bin': 'x' });
    repo.run('config', 'filter.gone.smudge', 'no-such-program-at-all');
    repo.run('config', 'filter.gone.required', 'true');
    await expect(repo.worktree('one')).rejects.toThrow(/filter/);
    expect(existsSync(path.join(repo.home, 'project.worktrees/b1/one'))).toBe(false);
  });
});

describe('inputs', () => {
  const packages = {
    'package.json': '{"workspaces":["packages/*"]}',
    '.gitignore': 'node_modules/\n.env*\n',
    'packages/a/package.json': '{}',
    'packages/b/package.json': '{}',
  };

  test('node_modules of the root and of packages are linked, and no change or snapshot has them', async () => {
    const repo = await createRepo(packages);
    repo.write('node_modules/dep/index.js', 'dep');
    repo.write('packages/a/node_modules/own/index.js', 'own');
    const worktree = await repo.worktree('one');
    expect(worktree.inputs).toEqual(['node_modules', 'packages/a/node_modules']);
    expect(lstatSync(path.join(worktree.path, 'node_modules')).isSymbolicLink()).toBe(true);
    expect(readFileSync(path.join(worktree.path, 'packages/a/node_modules/own/index.js'), 'utf8')).toBe(
      'own',
    );
    expect(await repo.git.changes(worktree)).toEqual([]);
  });

  test('links between workspace packages lead to the worktree’s own packages', async () => {
    const repo = await createRepo(packages);
    repo.write('node_modules/dep/index.js', 'dep');
    repo.link('../packages/a', 'node_modules/a');
    repo.link('../../packages/b', 'node_modules/@scope/b');
    const worktree = await repo.worktree('one');
    const at = (file: string): string => realpathSync(path.join(worktree.path, file));
    expect(at('node_modules/a')).toBe(path.join(worktree.path, 'packages/a'));
    expect(at('node_modules/@scope/b')).toBe(path.join(worktree.path, 'packages/b'));
    expect(at('node_modules/dep')).toBe(path.join(repo.top, 'node_modules/dep'));
    expect(await repo.git.changes(worktree)).toEqual([]);
  });

  test('copied node_modules are the worktree’s own', async () => {
    const repo = await createRepo(packages);
    repo.write('node_modules/dep/index.js', 'dep');
    const worktree = await repo.worktree('one', { link: 'copy' });
    writeFileSync(path.join(worktree.path, 'node_modules/dep/index.js'), 'changed');
    expect(repo.read('node_modules/dep/index.js')).toBe('dep');
    expect(await repo.git.changes(worktree)).toEqual([]);
  });

  test('.worktreeinclude brings ignored files, and only ignored ones', async () => {
    const repo = await createRepo({ ...packages, '.worktreeinclude': '.env*\nnotes.txt\n' });
    repo.write('.env', 'SECRET=1');
    repo.write('packages/a/.env.local', 'x');
    repo.write('notes.txt', 'untracked but not ignored');
    const worktree = await repo.worktree('one');
    expect([...worktree.inputs].sort()).toEqual(['.env', 'packages/a/.env.local']);
    expect(readFileSync(path.join(worktree.path, '.env'), 'utf8')).toBe('SECRET=1');
    expect(existsSync(path.join(worktree.path, 'notes.txt'))).toBe(false);
  });

  test('a tracked node_modules is left to git', async () => {
    const repo = await createRepo({ 'package.json': '{}', 'node_modules/dep/index.js': 'tracked' });
    const worktree = await repo.worktree('one');
    expect(worktree.inputs).toEqual([]);
    writeFileSync(path.join(worktree.path, 'node_modules/dep/index.js'), 'edited');
    expect(await repo.git.changes(worktree)).toMatchObject([
      { path: 'node_modules/dep/index.js', kind: 'M' },
    ]);
  });
});

describe('removing', () => {
  test('a worktree with unsaved work is refused, and the work named', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const worktree = await repo.worktree('one');
    writeFileSync(path.join(worktree.path, 'new.txt'), 'n');
    const refusal = await repo.git.removeWorktree(repo.repository, worktree, null);
    expect(refusal).toMatchObject({ ok: false, code: 'unsaved' });
    expect(!refusal.ok && refusal.message).toContain('new.txt');
    expect(existsSync(path.join(worktree.path, 'new.txt'))).toBe(true);
  });

  test('a worktree whose work is in a snapshot goes, its linked inputs stay, and it comes back as it was', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n', 'package.json': '{}', '.gitignore': 'node_modules\n' });
    repo.write('node_modules/dep/index.js', 'dep');
    const worktree = await repo.worktree('one');
    writeFileSync(path.join(worktree.path, 'new.txt'), 'n');
    rmSync(path.join(worktree.path, 'a.txt'));
    const snapshot = await repo.snapshot(worktree);
    const files = allFiles(worktree.path);
    expect(await repo.git.removeWorktree(repo.repository, worktree, snapshot?.commit ?? null)).toEqual({
      ok: true,
    });
    expect(existsSync(worktree.path)).toBe(false);
    expect(repo.read('node_modules/dep/index.js')).toBe('dep');
    expect(await repo.restore(worktree, snapshot?.commit ?? '')).toEqual(worktree);
    expect(allFiles(worktree.path)).toEqual(files);
    expect(
      execFileSync('git', ['status', '--porcelain'], {
        cwd: worktree.path,
        env: testEnvironment(repo.home),
        encoding: 'utf8',
      }),
    ).toBe(' D a.txt\n?? new.txt\n');
  });

  test('a worktree with a repository inside is refused', async () => {
    const repo = await createRepo();
    const worktree = await repo.worktree('one');
    mkdirSync(path.join(worktree.path, 'inner'));
    execFileSync('git', ['init', '-q'], {
      cwd: path.join(worktree.path, 'inner'),
      env: testEnvironment(repo.home),
    });
    writeFileSync(path.join(worktree.path, 'inner/x'), 'x');
    expect(await repo.git.removeWorktree(repo.repository, worktree, null)).toMatchObject({
      ok: false,
      code: 'unsaved',
    });
  });

  test('keeps a ref on commits that only the worktree’s HEAD holds', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const worktree = await repo.worktree('one');
    writeFileSync(path.join(worktree.path, 'a.txt'), 'b\n');
    execFileSync('git', ['commit', '-qam', 'agent'], { cwd: worktree.path, env: testEnvironment(repo.home) });
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd: worktree.path,
      encoding: 'utf8',
    }).trim();
    const snapshot = await repo.snapshot(worktree);
    expect(await repo.git.removeWorktree(repo.repository, worktree, snapshot?.commit ?? null)).toEqual({
      ok: true,
    });
    expect(repo.run('for-each-ref', '--contains', commit)).toContain('refs/swarm-kept/');
  });

  test('leftovers are found, with what is unsaved in them', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n' });
    const known = await repo.worktree('known');
    const clean = await repo.worktree('clean');
    const dirty = await repo.worktree('dirty');
    writeFileSync(path.join(dirty.path, 'a.txt'), 'dirty\n');
    repo.run('worktree', 'add', '-q', path.join(repo.home, 'users-own'));
    const found = await repo.git.leftovers(repo.repository, [known.path]);
    expect(found.map(({ path: folder, unsaved }) => [folder, unsaved])).toEqual([
      [clean.path, false],
      [dirty.path, true],
    ]);
    expect(found[0]?.bytes).toBeGreaterThan(0);
  });

  test('a leftover goes where a snapshot holds its work, also after HEAD has moved; any other stays', async () => {
    const repo = await createRepo({ 'a.txt': 'a\n', 'node_modules/x.js': 'x\n' });
    const saved = await repo.worktree('saved');
    writeFileSync(path.join(saved.path, 'new.txt'), 'new\n');
    await repo.snapshot(saved);
    const untouched = await repo.worktree('untouched');
    const dirty = await repo.worktree('dirty');
    writeFileSync(path.join(dirty.path, 'a.txt'), 'dirty\n');
    repo.run('commit', '-q', '--allow-empty', '-m', 'on');
    writeFileSync(path.join(repo.top, 'a.txt'), 'moved\n');
    repo.run('commit', '-q', '-a', '-m', 'moved');
    const now = await repo.git.inspect(repo.top);
    if (!now.ok) throw new Error(now.message);
    const answers: (readonly [folder: string, unsaved: boolean, removed: boolean])[] = [];
    for (const { path: folder, unsaved } of await repo.git.leftovers(now, []))
      answers.push([folder, unsaved, (await repo.git.removeLeftover(now, folder)).ok]);
    expect(answers.sort()).toEqual([
      [dirty.path, true, false],
      [saved.path, false, true],
      [untouched.path, false, true],
    ]);
    expect(existsSync(path.join(dirty.path, 'a.txt'))).toBe(true);
  });

  test('refs of a batch go, others stay', async () => {
    const repo = await createRepo();
    repo.run('update-ref', 'refs/swarm/b1/one/1', 'HEAD');
    repo.run('update-ref', 'refs/swarm/b10/one/1', 'HEAD');
    await repo.git.removeRefs(repo.repository, 'refs/swarm/b1/');
    expect(repo.run('for-each-ref', '--format=%(refname)', 'refs/swarm')).toBe('refs/swarm/b10/one/1\n');
    await expect(repo.git.removeRefs(repo.repository, 'refs/heads/')).rejects.toThrow();
  });
});

/** What git itself would check out of HEAD. */
function execCheckout(top: string, home: string): string {
  const folder = path.join(home, 'reference');
  execFileSync('git', ['clone', '-q', top, folder], { env: testEnvironment(home), stdio: 'ignore' });
  return folder;
}
