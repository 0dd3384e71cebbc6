import { lstat } from 'node:fs/promises';
import path from 'node:path';
import type { Repository, Skipped } from '../../ports/git.js';
import { literalPaths } from './changes.js';
import { joinNul, type GitRunner } from './runner.js';
import type { TemporaryIndex } from './temporaryIndex.js';
import { untrackedFiles } from './untracked.js';

/** What is in repositories that somebody made inside a tree, which git itself does not look into. */
export interface Embedded {
  /** Untracked files of those that hold nothing but what was made here; each repository's own ignore files count. */
  readonly files: readonly string[];
  /** The folders of those repositories. */
  readonly folders: readonly string[];
  /** Repositories whose files are not ours to take: clones of others, other worktrees. */
  readonly left: readonly Skipped[];
}

/** Looks into untracked repositories (`folders`, as `ls-files` names them: with a slash at the end). */
export async function lookInside(
  runner: GitRunner,
  folder: string,
  index: TemporaryIndex,
  folders: readonly string[],
): Promise<Embedded> {
  const files = new Set<string>();
  const taken: string[] = [];
  const left: Skipped[] = [];
  const probes: string[] = [];
  for (let open = folders; open.length > 0;) {
    const made: string[] = [];
    for (const inner of open) {
      const reason = await whyNotOurs(runner, folder, inner);
      if (reason === null) made.push(inner);
      else left.push({ path: inner, reason });
    }
    taken.push(...made);
    open = [];
    if (made.length === 0) break;
    // git looks into a repository as soon as the index has a file of it.
    const fresh = made.map((inner) => `${inner}${probeName}`);
    await addProbes(runner, folder, index, fresh);
    probes.push(...fresh);
    const known = new Set([...folders, ...taken, ...left.map(({ path: inner }) => inner)]);
    for (const file of await untrackedFiles(runner, folder, { ...index.environment, ...literalPaths }, made))
      if (!file.endsWith('/')) files.add(file);
      else if (!known.has(file)) open = [...open, file];
  }
  if (probes.length > 0)
    await runner.run(folder, ['update-index', '--force-remove', '-z', '--stdin'], {
      environment: index.environment,
      input: joinNul(probes),
    });
  return { files: [...files], folders: taken, left };
}

/** Commits of a repository in or of a worktree get refs of ours, so that they are not lost with it. */
export async function keepHistory(
  runner: GitRunner,
  repository: Repository,
  worktree: string,
  from: string,
): Promise<void> {
  const head = await runner.run(from, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], {
    expect: [0, 1, 128],
  });
  const commits = await runner.text(from, ['for-each-ref', '--count=1', '--format=%(objectname)']);
  const commit = head.exitCode === 0 ? head.stdout.toString().trim() : commits;
  if (commit === '') return;
  const name = `${path.basename(worktree)}-${path.basename(from)}`.replace(/[^A-Za-z0-9_-]+/g, '-');
  const kept = `refs/swarm-kept/${name}-${commit.slice(0, 12)}`;
  const heads = head.exitCode === 0 ? [`+HEAD:${kept}/HEAD`] : [];
  const flags = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules'];
  await runner.run(repository.topLevel, ['fetch', ...flags, '--', from, `+refs/*:${kept}/*`, ...heads]);
}

const probeName = '.swarm-panel-probe';

/** Null where all of it was made here: it was not brought from elsewhere and shares nothing with another repository. */
async function whyNotOurs(runner: GitRunner, folder: string, inner: string): Promise<string | null> {
  const gitDir = path.join(folder, inner, '.git');
  const stats = await lstat(gitDir).catch(() => null);
  if (stats?.isDirectory() !== true) return 'a worktree or submodule of another repository';
  const remotes = await runner.run(
    folder,
    ['config', '--file', path.join(gitDir, 'config'), '--name-only', '--get-regexp', '^remote\\..*\\.url$'],
    { expect: [0, 1, 128] },
  );
  return remotes.exitCode === 0 ? 'a clone of another repository' : null;
}

async function addProbes(
  runner: GitRunner,
  folder: string,
  index: TemporaryIndex,
  probes: readonly string[],
): Promise<void> {
  const empty = await runner.text(folder, ['hash-object', '--stdin'], { input: '' });
  await runner.run(folder, ['update-index', '-z', '--add', '--index-info'], {
    environment: index.environment,
    input: joinNul(probes.map((file) => `100644 ${empty}\t${file}`)),
  });
}
