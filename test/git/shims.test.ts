import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { installShims, withShims } from '../../src/supervisor/node/git/sharedTree.js';
import { createRepo, testEnvironment, type TestRepo } from './repo.js';

const realGit = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();

async function shimmed(): Promise<{
  readonly repo: TestRepo;
  readonly run: (
    program: string,
    args: readonly string[],
    more?: Readonly<Record<string, string>>,
  ) => { readonly code: number | null; readonly out: string; readonly err: string };
}> {
  const repo = await createRepo({ 'a.ts': 'a\n', '.gitignore': 'node_modules\n' });
  const folder = path.join(repo.home, "shi'ms");
  const check = [
    process.execPath,
    '-e',
    'console.log("checked", process.argv.slice(1).join("|"));process.exit(4)',
    '--',
  ];
  const { topLevel: tree, commonDir } = repo.repository;
  const install = () => installShims({ folder, git: realGit, tree, commonDir, check });
  await Promise.all([install(), install(), install()]);
  const environment = withShims(testEnvironment(repo.home) as Record<string, string>, folder);
  return {
    repo,
    run(program, args, more = {}) {
      const result = spawnSync(program, args, {
        cwd: repo.top,
        env: { ...environment, ...more },
        encoding: 'utf8',
      });
      return { code: result.status, out: result.stdout, err: result.stderr };
    },
  };
}

describe('git in a shared tree', () => {
  test('refuses what would change what belongs to all, with the reason, and changes nothing', async () => {
    const { repo, run } = await shimmed();
    repo.write('a.ts', 'edited\n');
    const before = repo.userState();
    const refused: readonly (readonly string[])[] = [
      ['checkout', '.'],
      ['checkout', '-b', 'x'],
      ['reset', '--hard'],
      ['stash'],
      ['stash', 'pop'],
      ['clean', '-fd'],
      ['switch', 'main'],
      ['commit', '-am', 'x'],
      ['add', '-A'],
      ['restore', '.'],
      ['rm', 'a.ts'],
      ['mv', 'a.ts', 'b.ts'],
      ['merge', 'x'],
      ['rebase', 'x'],
      ['pull'],
      ['cherry-pick', 'x'],
      ['apply', 'x'],
      ['am', 'x'],
      ['restore', '--staged', '.'],
      ['checkout-index', '-af'],
      ['bisect', 'start'],
      ['submodule', 'update'],
      ['sparse-checkout', 'set', 'x'],
      ['symbolic-ref', 'HEAD', 'refs/heads/x'],
      ['worktree', 'add', '../x'],
      ['branch', 'x'],
      ['branch', '-D', 'main'],
      ['tag', 'x'],
      ['config', 'user.name', 'x'],
      ['update-ref', 'refs/heads/x', 'HEAD'],
      ['gc'],
      ['read-tree', 'HEAD'],
      ['alias-of-mine'],
      ['-C', '.', 'status'],
      ['--git-dir=.git', 'status'],
      ['--work-tree', '.', 'status'],
      ['-c', 'x.y=z', 'reset', '--hard'],
      ['--no-pager', 'stash'],
    ];
    for (const args of refused) {
      const { code, err } = run('git', args);
      expect([args, code, err.includes('others work in this folder too')]).toEqual([args, 1, true]);
    }
    expect(run('git', ['status'], { GIT_DIR: path.join(repo.top, '.git') }).code).toBe(1);
    expect(run('git', ['status'], { GIT_INDEX_FILE: '/tmp/x' }).code).toBe(1);
    expect(repo.userState()).toEqual(before);
  });

  test('also in a shell that makes its PATH anew, as agents run their commands', async () => {
    const { repo, run } = await shimmed();
    repo.write('a.ts', 'edited\n');
    const before = repo.userState();
    const profile = path.join(repo.home, '.bash_profile');
    writeFileSync(profile, `export PATH=${path.dirname(realGit)}:/usr/bin:/bin\n`);
    const own = path.join(repo.home, 'own-env');
    writeFileSync(own, 'export OWN=heard\n');
    for (const more of [{}, { SWARM_OWN_BASH_ENV: own }]) {
      const { code, out, err } = run('bash', ['-lc', 'echo "${OWN-}"; git stash'], more);
      expect([code, out, err]).toEqual([
        1,
        'SWARM_OWN_BASH_ENV' in more ? 'heard\n' : '\n',
        expect.stringContaining('others work in this folder too'),
      ]);
    }
    expect(run('bash', ['-lc', 'bash -c "git reset --hard"']).code).toBe(1);
    expect(repo.userState()).toEqual(before);
  });

  test('also in a login shell that is no bash', async () => {
    const { repo, run } = await shimmed();
    repo.write('a.ts', 'edited\n');
    const before = repo.userState();
    writeFileSync(path.join(repo.home, '.profile'), `PATH=${path.dirname(realGit)}:/usr/bin:/bin\n`);
    const refused = { code: 1, err: expect.stringContaining('others work in this folder too') as string };
    for (const args of [['-lc'], ['-cl'], ['-l', '-c'], ['--login', '-c']])
      expect(run('sh', [...args, 'git stash']), args.join(' ')).toMatchObject(refused);
    // All else of such a call is as without us.
    expect(run('sh', ['-lc', 'echo "$0 $1 $#"; exit 3', 'zero', 'a b'])).toEqual({
      code: 3,
      out: 'zero a b 1\n',
      err: '',
    });
    expect(run('sh', ['-c', 'echo "$0 $1"', 'zero', 'one']).out).toBe('zero one\n');
    repo.write('x.sh', 'echo "$0 $1"\n');
    expect(run('sh', ['x.sh', 'a b']).out).toBe('x.sh a b\n');
    expect(run('sh', ['-lc']).code).toBe(run('/bin/sh', ['-lc']).code);
    expect(repo.userState()).toMatchObject({ index: before.index, head: before.head, stash: before.stash });
  });

  test('also in a zsh, which reads the person’s own files first', async () => {
    const { repo, run } = await shimmed();
    const own = path.join(repo.home, 'config');
    mkdirSync(own);
    writeFileSync(path.join(repo.home, '.zshenv'), `ZDOTDIR='${own}'\n`);
    const profile = `PATH=${path.dirname(realGit)}:/usr/bin:/bin\n`;
    writeFileSync(path.join(own, '.zprofile'), `${profile}echo "profile in $ZDOTDIR"\n`);
    // What zsh does at the start of `zsh -lc`, in its order; the files are written for any shell.
    const asZsh = ['.zshenv', '.zprofile', '.zlogin'].map((name) => `. "$ZDOTDIR/${name}"`).join('; ');
    const { code, out, err } = run('/bin/sh', ['-c', `${asZsh}; git stash`]);
    expect([code, out]).toEqual([1, `profile in ${own}\n`]);
    expect(err).toContain('others work in this folder too');
    const kept = run('/bin/sh', ['-c', `${asZsh}; echo "$SWARM_OWN_ZDOTDIR"`], { SWARM_OWN_ZDOTDIR: own });
    expect(kept.out).toBe(`profile in ${own}\n${own}\n`);
  });

  test('lets looks through, with their output and exit code', async () => {
    const { repo, run } = await shimmed();
    repo.write('a.ts', 'edited\n');
    const before = repo.userState();
    expect(run('git', ['status', '--porcelain'])).toEqual({ code: 0, out: ' M a.ts\n', err: '' });
    expect(run('git', ['-c', 'core.pager=cat', '--no-pager', 'diff', '--stat']).out).toContain('a.ts');
    expect(run('git', ['log', '--format=%s', '--', 'a.ts']).out).toBe('first\n');
    expect(run('git', ['diff', '--quiet']).code).toBe(1);
    expect(run('git', ['branch', '--show-current']).out).toBe('main\n');
    expect(run('git', ['config', '--get', 'user.name']).out).toBe('User\n');
    expect(run('git', ['stash', 'list']).code).toBe(0);
    expect(run('git', ['--version']).out).toContain('git version');
    expect(repo.userState()).toEqual(before);
  });

  test('elsewhere git is free, but not for this repository', async () => {
    const { repo, run } = await shimmed();
    const before = repo.userState();
    const elsewhere = path.join(repo.home, 'elsewhere');
    mkdirSync(elsewhere);
    const at = (folder: string, ...args: string[]) =>
      run('sh', ['-c', 'cd "$0" && git "$@"', folder, ...args]);
    expect(at(elsewhere, 'init', '-q').code).toBe(0);
    expect(at(elsewhere, 'stash').err).not.toContain('others work');
    expect(run('git', ['-C', elsewhere, 'status', '--porcelain'])).toEqual({ code: 0, out: '', err: '' });
    expect(run('git', ['-C', elsewhere, '-C', repo.top, 'stash']).code).toBe(1);
    expect(at(elsewhere, '-C', repo.top, 'reset', '--hard').code).toBe(1);
    expect(at(elsewhere, `--work-tree=${repo.top}`, 'checkout', '.').code).toBe(1);
    expect(run('sh', ['-c', `cd '${elsewhere}' && GIT_DIR='${repo.top}/.git' git stash`]).code).toBe(1);
    expect(at(elsewhere, '-c', `core.worktree=${repo.top}`, 'clean', '-fd').code).toBe(1);
    expect(at(elsewhere, 'config', 'core.worktree', repo.top).code).toBe(0);
    expect(at(elsewhere, 'clean', '-fdx').err).toContain('others work in this folder too');
    expect(repo.userState()).toEqual(before);
  });
});

describe('a type check in a shared tree', () => {
  test('goes through the check, arguments and exit code included, also by npx', async () => {
    const { run } = await shimmed();
    expect(run('tsc', ['--noEmit', '-p', 'a b'])).toEqual({
      code: 4,
      out: 'checked tsc|--noEmit|-p|a b\n',
      err: '',
    });
    expect(run('npx', ['--no-install', 'tsc', '--noEmit'])).toEqual({
      code: 4,
      out: 'checked tsc|--noEmit\n',
      err: '',
    });
  });

  test('a build, a watch and a question of tsc are none of a check’s business', async () => {
    const { repo, run } = await shimmed();
    repo.write('node_modules/.bin/tsc', '#!/bin/sh\necho real "$@"\n', 0o755);
    repo.write('package.json', '{}');
    for (const args of [['--version'], ['-b'], ['--noEmit', '--watch']])
      expect(run('tsc', args).out).toBe(`real ${args.join(' ')}\n`);
  });

  test('goes through the check also from an npm script, npm exec and npx with a package', async () => {
    const { repo, run } = await shimmed();
    repo.write('node_modules/.bin/tsc', '#!/bin/sh\necho real "$@"\n', 0o755);
    repo.write(
      'package.json',
      JSON.stringify({ scripts: { types: 'tsc --noEmit', all: 'npm run -s types' } }),
    );
    const checked = { code: 4, out: 'checked tsc|--noEmit\n' };
    expect(run('npm', ['run', '-s', 'types'])).toMatchObject(checked);
    expect(run('npm', ['run', '-s', 'all'])).toMatchObject(checked);
    expect(run('npm', ['exec', '--no', '-s', '--', 'tsc', '--noEmit'])).toMatchObject(checked);
    expect(run('npx', ['--no', '-c', 'tsc --noEmit'])).toMatchObject(checked);
    expect(run('npm', ['run', '-s', 'types', '--', '--watch']).out).toBe('real --noEmit --watch\n');
  });

  test('goes through the check also from yarn and pnpm, but for a script of that name', async () => {
    const { repo, run } = await shimmed();
    for (const name of ['yarn', 'pnpm'])
      repo.write(`../bin/${name}`, `#!/bin/sh\necho real ${name} "$@"\n`, 0o755);
    const PATH = `${path.join(repo.home, "shi'ms")}:${path.join(repo.home, 'bin')}:${process.env['PATH']}`;
    repo.write('package.json', '{ "scripts": { "build": "tsc" } }');
    const checked = { code: 4, out: 'checked tsc|--noEmit|-p|a b\n' };
    for (const name of ['yarn', 'pnpm']) {
      for (const before of [[], ['run'], ['exec'], ['-s'], ['--silent', 'run', '--']])
        expect(run(name, [...before, 'tsc', '--noEmit', '-p', 'a b'], { PATH })).toMatchObject(checked);
      expect(run(name, ['add', 'tsc'], { PATH }).out).toBe(`real ${name} add tsc\n`);
      expect(run(name, ['build'], { PATH }).out).toBe(`real ${name} build\n`);
    }
    repo.write('package.json', '{ "scripts": { "tsc" : "tsc -p x" } }');
    expect(run('yarn', ['tsc'], { PATH }).out).toBe('real yarn tsc\n');
  });

  test('other programs reach npx itself', async () => {
    const { repo, run } = await shimmed();
    repo.write('node_modules/.bin/other', '#!/bin/sh\necho other "$@"\n', 0o755);
    repo.write('package.json', '{}');
    expect(run('npx', ['--no-install', 'other', 'x']).out).toBe('other x\n');
  });
});
