import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach } from 'vitest';
import { createGit } from '../../src/supervisor/node/git/index.js';
import type {
  Git,
  Repository,
  Snapshot,
  SnapshotRequest,
  Worktree,
  WorktreeRequest,
} from '../../src/supervisor/ports/git.js';

/** A real repository in a temporary folder, with what tests do to it. */
export interface TestRepo {
  readonly home: string;
  readonly top: string;
  readonly git: Git;
  readonly repository: Repository;
  run(...args: readonly string[]): string;
  write(file: string, content: string | Uint8Array, mode?: number): void;
  read(file: string): string;
  remove(file: string): void;
  link(target: string, file: string): void;
  exists(file: string): boolean;
  worktree(name: string, request?: Partial<WorktreeRequest>): Promise<Worktree>;
  /** A worktree that was removed, made again with what a snapshot of it holds. */
  restore(worktree: Worktree, snapshot: string): ReturnType<Git['restoreWorktree']>;
  /** The work of a child's worktree, captured. */
  snapshot(worktree: Worktree, request?: Partial<SnapshotRequest>): Promise<Snapshot | null>;
  /** Everything of the user's that an operation must leave alone. */
  userState(): UserState;
  inspectAgain(): Promise<Repository>;
}

export interface UserState {
  readonly index: string;
  readonly head: string;
  readonly headRef: string;
  readonly stash: string;
  readonly status: string;
  readonly refs: string;
  readonly config: string;
  readonly files: Readonly<Record<string, string>>;
}

const homes: string[] = [];

afterEach(() => {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});

export function temporaryFolder(): string {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'swarm-git-')));
  homes.push(home);
  return home;
}

export function testEnvironment(home: string): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [key, value] of Object.entries(process.env)) if (!key.startsWith('GIT_')) env[key] = value;
  return {
    ...env,
    HOME: home,
    XDG_CONFIG_HOME: path.join(home, '.config'),
    GIT_CONFIG_NOSYSTEM: '1',
    LC_ALL: 'C',
  };
}

export async function createRepo(
  files: Readonly<Record<string, string | Uint8Array>> = { 'README.md': 'hello\n' },
  options: {
    readonly init?: readonly string[];
    readonly before?: (repo: Omit<TestRepo, 'repository'>) => void;
  } = {},
): Promise<TestRepo> {
  const home = temporaryFolder();
  const top = path.join(home, 'project');
  mkdirSync(top);
  const env = testEnvironment(home);
  writeFileSync(
    path.join(home, '.gitconfig'),
    '[user]\n\tname = User\n\temail = user@example.com\n[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n',
  );
  const run = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: top, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  run('init', '-q', ...(options.init ?? []));
  const git = createGit({ env });
  const at = (file: string): string => path.join(top, file);
  const base: Omit<TestRepo, 'repository'> = {
    home,
    top,
    git,
    run,
    write(file, content, mode) {
      mkdirSync(path.dirname(at(file)), { recursive: true });
      writeFileSync(at(file), content);
      if (mode !== undefined) chmodSync(at(file), mode);
    },
    read: (file) => readFileSync(at(file), 'utf8'),
    remove: (file) => {
      rmSync(at(file), { recursive: true, force: true });
    },
    link(target, file) {
      mkdirSync(path.dirname(at(file)), { recursive: true });
      symlinkSync(target, at(file));
    },
    exists: (file) => existsSync(at(file)),
    async worktree(name, request = {}) {
      const folder = path.join(home, 'project.worktrees', 'b1', name);
      const base = run('rev-parse', 'HEAD').trim();
      const worktree = await git.ensureWorktree(
        await inspectAgain(),
        requestOf({ path: folder, base, ...request }),
      );
      if (!worktree.ok) throw new Error(worktree.message);
      return worktree;
    },
    async restore({ path: folder, base }, snapshot) {
      return git.restoreWorktree(await inspectAgain(), requestOf({ path: folder, base }), snapshot);
    },
    async snapshot(worktree, request = {}) {
      return git.snapshot({
        repository: await inspectAgain(),
        worktree,
        ref: 'refs/swarm/b1/one/1',
        message: 'm',
        previous: null,
        ...request,
      });
    },
    userState: () => userState(top, env),
    inspectAgain,
  };
  function requestOf(
    request: Pick<WorktreeRequest, 'path' | 'base'> & Partial<WorktreeRequest>,
  ): WorktreeRequest {
    const logFile = path.join(home, 'logs', `${path.basename(request.path)}.log`);
    return { files: null, link: 'link', setup: [], logFile, ...request };
  }
  async function inspectAgain(): Promise<Repository> {
    const repository = await git.inspect(top);
    if (!repository.ok) throw new Error(repository.message);
    return repository;
  }
  for (const [file, content] of Object.entries(files)) base.write(file, content);
  options.before?.(base);
  run('add', '-A');
  run('commit', '-q', '--allow-empty', '-m', 'first');
  return { ...base, repository: await inspectAgain() };
}

/** Every file of a folder (without .git): its kind, mode and bytes. */
export function allFiles(top: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const walk = (folder: string): void => {
    for (const name of readdirSync(path.join(top, folder)).sort()) {
      const file = path.join(folder, name);
      if (file === '.git') continue;
      const stats = lstatSync(path.join(top, file));
      if (stats.isSymbolicLink()) found[file] = `link ${readlinkSync(path.join(top, file))}`;
      else if (stats.isDirectory()) walk(file);
      else found[file] = `${(stats.mode & 0o777).toString(8)} ${hash(path.join(top, file))}`;
    }
  };
  walk('');
  return found;
}

function userState(top: string, env: NodeJS.ProcessEnv): UserState {
  const run = (...args: readonly string[]): string => {
    try {
      return execFileSync('git', ['--no-optional-locks', ...args], {
        cwd: top,
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    } catch {
      return '';
    }
  };
  const gitDir = run('rev-parse', '--absolute-git-dir').trim();
  const commonDir = path.resolve(top, run('rev-parse', '--git-common-dir').trim());
  const index = path.join(gitDir, 'index');
  return {
    index: existsSync(index) ? hash(index) : '',
    head: run('rev-parse', 'HEAD'),
    headRef: readFileSync(path.join(gitDir, 'HEAD'), 'utf8'),
    stash: run('stash', 'list'),
    status: run('status', '--porcelain=v2', '-z'),
    refs: run('for-each-ref', 'refs/heads', 'refs/tags', 'refs/remotes', 'refs/stash'),
    config: hash(path.join(commonDir, 'config')),
    files: allFiles(top),
  };
}

function hash(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 16);
}
