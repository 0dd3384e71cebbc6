import type { ApplyPlan, Repository } from '../../ports/git.js';
import { writeDifferences } from './apply.js';
import { captureUserTree } from './capture.js';
import { treeDifferences } from './changes.js';
import { commitOnHead } from './commit.js';
import { operationUnderWay } from './inspect.js';
import type { GitRunner } from './runner.js';

/**
 * Ends an apply that a crash cut in the middle: paths that still are what they were get what they should be, paths
 * that are done stay, and paths that somebody changed since are left and named.
 */
export async function finishApply(
  runner: GitRunner,
  repository: Repository,
  plan: ApplyPlan,
): Promise<{ readonly written: readonly string[]; readonly left: readonly string[] }> {
  const top = repository.topLevel;
  const now = (await captureUserTree(runner, repository)).tree;
  const planned = new Set(plan.paths);
  const [wanted, moved, missing] = await Promise.all([
    treeDifferences(runner, top, plan.from, plan.to, 'pathsOnly'),
    treeDifferences(runner, top, plan.from, now, 'pathsOnly'),
    treeDifferences(runner, top, now, plan.to, 'pathsOnly'),
  ]);
  const movedPaths = new Set(moved.map(({ path }) => path));
  const missingPaths = new Set(missing.map(({ path }) => path));
  const ours = wanted.filter(({ path }) => planned.has(path));
  const write = ours.filter(({ path }) => !movedPaths.has(path));
  const left = ours.filter(({ path }) => movedPaths.has(path) && missingPaths.has(path));
  await writeDifferences(runner, repository, now, write, () => Promise.resolve());
  // A commit would end an operation that the user has begun since; the work is then in the files, uncommitted.
  const operation = await operationUnderWay(repository.gitDir);
  if (plan.commit !== undefined && left.length === 0 && operation === null) {
    const head = await runner.text(top, ['rev-parse', '--verify', 'HEAD^{commit}']);
    if (head === plan.commit.from) await commitOnHead(runner, repository, plan.commit.from, plan.commit.to);
  }
  return { written: write.map(({ path }) => path), left: left.map(({ path }) => path) };
}
