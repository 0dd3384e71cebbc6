import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { isWithin } from '../../effects/within.js';
import type { Refusal, Repository } from '../../ports/git.js';
import { bringInputs } from './inputs.js';
import { refuse } from './inspect.js';
import type { GitRunner } from './runner.js';
import { inTurn } from './turns.js';
import { addWorktree, dropWorktree, refusalOf, worktreeState } from './worktree.js';
import { readMark, writeMark } from './worktreeFiles.js';
import { tieWorktree } from './worktreeLink.js';
import { mendHalfMade } from './worktreeMending.js';

/** What stays in a scratch tree between two checks, so that incremental tools stay incremental. */
const keptFiles: readonly string[] = ['*.tsbuildinfo', 'node_modules'];

/**
 * Brings the scratch tree to `tree`, writing only what differs from what it had before, and gives `use` its folder.
 * Calls for one folder go one after the other.
 */
export async function withScratch<Result>(
  runner: GitRunner,
  repository: Repository,
  folder: string,
  use: (moveTo: (tree: string) => Promise<void>) => Promise<Result>,
): Promise<Result | Refusal> {
  return inTurn(`scratch ${folder}`, async () => {
    const refusal = await ensureScratch(runner, repository, folder);
    if (refusal !== null) return refusal;
    return use((tree) => moveScratch(runner, repository, folder, tree));
  });
}

async function ensureScratch(
  runner: GitRunner,
  repository: Repository,
  folder: string,
): Promise<Refusal | null> {
  if (isWithin(repository.topLevel, folder))
    return refuse(
      'other',
      `The scratch tree ${folder} would be inside the repository.`,
      'Set swarm.worktrees.location to a folder outside of it.',
    );
  try {
    const state = await worktreeState(repository, folder);
    if (state === 'foreign')
      return refuse('pathTaken', `${folder} is there already and is not ours.`, 'Move it away, then retry.');
    if (state === 'missing') await addWorktree(runner, repository, folder, repository.head, 'scratch');
    return null;
  } catch (error) {
    const refusal = refusalOf(error, folder);
    if (refusal === null) throw error;
    return refusal;
  }
}

async function moveScratch(
  runner: GitRunner,
  repository: Repository,
  folder: string,
  tree: string,
): Promise<void> {
  const gitDir = await tieWorktree(repository, folder);
  if (gitDir === null) throw new Error(`${folder} is no worktree`);
  if ((await readMark(gitDir))?.ready !== true) await mendHalfMade(folder, gitDir, repository.head);
  if (repository.sparse) await takeSparsePatterns(repository, gitDir);
  await runner.run(folder, ['-c', 'core.fsync=none', 'read-tree', '--reset', '-u', tree]);
  const mark = await readMark(gitDir);
  const kept = [...keptFiles, ...(mark?.inputs ?? []).map((file) => `/${file}`)];
  await runner.run(folder, ['clean', '-ffdq', ...kept.flatMap((pattern) => ['-e', pattern])]);
  const inputs = await bringInputs(runner, repository, folder, 'link');
  await writeMark(gitDir, { kind: 'scratch', base: repository.head, ready: true, inputs });
}

async function takeSparsePatterns(repository: Repository, gitDir: string): Promise<void> {
  await mkdir(path.join(gitDir, 'info'), { recursive: true });
  await copyFile(
    path.join(repository.gitDir, 'info', 'sparse-checkout'),
    path.join(gitDir, 'info', 'sparse-checkout'),
  ).catch(() => undefined);
}

/** Removes a scratch tree; it holds nothing that cannot be made again. */
export async function dropScratch(runner: GitRunner, repository: Repository, folder: string): Promise<void> {
  if ((await worktreeState(repository, folder)) === 'present') await dropWorktree(runner, repository, folder);
}
