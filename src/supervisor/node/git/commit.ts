import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Refusal, Repository } from '../../ports/git.js';
import { treeDifferences } from './changes.js';
import { exists, refuse } from './inspect.js';
import { joinNul, splitNul, GitError, type GitRunner } from './runner.js';
import { ourIdentity } from './snapshot.js';

/** A commit on `parent` in the user's name, or in ours where git knows no name. */
export async function branchCommit(
  runner: GitRunner,
  top: string,
  tree: string,
  parent: string,
  message: string,
): Promise<string> {
  const args = ['commit-tree', tree, '-p', parent, '-F', '-'];
  try {
    return await runner.text(top, ['-c', 'user.useConfigOnly=true', ...args], { input: message });
  } catch (error) {
    if (!(error instanceof GitError) || !/identity|user\.(name|email)|useConfigOnly/.test(error.stderr))
      throw error;
    return runner.text(top, args, { input: message, environment: ourIdentity });
  }
}

/** Paths whose staged content differs from HEAD. */
export async function stagedPaths(runner: GitRunner, top: string): Promise<readonly string[]> {
  const staged = await runner.run(
    top,
    ['diff-index', '-z', '--cached', '--name-only', '--no-renames', 'HEAD'],
    { expect: [0, 1] },
  );
  return splitNul(staged.stdout);
}

/**
 * Moves HEAD to `to` and the index entries of just the paths in that commit with it, so that other staged edits stay
 * staged. The files are there already.
 */
export async function commitOnHead(
  runner: GitRunner,
  repository: Repository,
  from: string,
  to: string,
): Promise<Refusal | null> {
  const top = repository.topLevel;
  const differences = await treeDifferences(runner, top, from, to, 'pathsOnly');
  const zero = '0'.repeat(from.length);
  await runner.run(top, ['update-ref', '-m', 'swarm: apply', 'HEAD', to, from]);
  const input = joinNul(
    differences.map(({ kind, toMode, to: id, path: file }) =>
      kind === 'D' ? `0 ${zero}\t${file}` : `${toMode} ${id}\t${file}`,
    ),
  );
  for (let tries = 0; ; tries += 1)
    try {
      await runner.run(top, ['update-index', '-z', '--add', '--replace', '--index-info'], { input });
      await runner.run(top, ['update-index', '-q', '--refresh'], { expect: [0, 1] });
      return null;
    } catch (error) {
      const locked = await exists(path.join(repository.gitDir, 'index.lock'));
      if (!locked || !(error instanceof GitError)) throw error;
      if (tries >= 50)
        return refuse(
          'other',
          `The work is in your files and committed, but the index is locked (${repository.gitDir}/index.lock).`,
          'When no other git runs, remove that file and run: git reset --mixed',
        );
      await delay(100);
    }
}
