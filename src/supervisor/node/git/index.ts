import type { Git } from '../../ports/git.js';
import { diskUse } from '../diskUse.js';
import { applyChildren } from './apply.js';
import { changesBetween, fileAt } from './changes.js';
import { runCheck } from './check.js';
import { inspectRepository, isTracked, simpleGitOf } from './inspect.js';
import { clearKeptPacks, ourKeptPacks } from './keptPacks.js';
import { clearStaleLocks, staleLocks } from './locks.js';
import { launchProblem } from './launchProblem.js';
import { createForecast } from './merge.js';
import { finishApply } from './repairApply.js';
import { createRunner } from './runner.js';
import { baseCommit, takeSnapshot, worktreeChanges } from './snapshot.js';
import { findLeftovers, removeLeftover, removeRefs, removeWorktree } from './tidy.js';
import { treeMark } from './treeMark.js';
import { ensureWorktree, worktreeState } from './worktree.js';

export { defaultCheck, parseErrors } from './check.js';

export interface GitOptions {
  /** The git program; default: `git` on PATH. */
  readonly git?: string;
  /** The caller's environment; default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/** git by its plumbing: 2.38 or newer, no hooks, and nothing of the user's touched but by `apply`. */
export function createGit(options: GitOptions = {}): Git {
  const runner = createRunner(options.git ?? 'git', options.env ?? process.env);
  return {
    inspect: (folder) => inspectRepository(runner, folder),
    tracks: (repository, path) => isTracked(runner, repository, path),
    launchProblem: (repository, options) => launchProblem(runner, repository, options),
    baseCommit: (repository, wanted) => baseCommit(runner, repository, wanted),
    ensureWorktree: (repository, request) => ensureWorktree(runner, repository, request, null),
    worktreeState,
    restoreWorktree: (repository, request, snapshot) => ensureWorktree(runner, repository, request, snapshot),
    snapshot: (request) => takeSnapshot(runner, request),
    changes: (worktree) => worktreeChanges(runner, worktree),
    changesBetween: (repository, from, to) => changesBetween(runner, repository.topLevel, from, to),
    diff: (repository, from, to) =>
      simpleGitOf(runner, repository.topLevel).diff(['--no-color', '--no-ext-diff', from, to]),
    fileAt: (repository, commit, path) => fileAt(runner, repository.topLevel, commit, path),
    treeMark: (repository) => treeMark(runner, repository),
    forecast: createForecast(runner),
    apply: (repository, request) => applyChildren(runner, repository, request),
    finishApply: (repository, plan) => finishApply(runner, repository, plan),
    check: (repository, request) => runCheck(runner, repository, request),
    diskUse,
    removeWorktree: (repository, worktree, snapshot) =>
      removeWorktree(runner, repository, worktree, snapshot),
    removeRefs: (repository, prefix) => removeRefs(runner, repository, prefix),
    clearStaleLocks: async (repository) => [
      ...(await clearStaleLocks(repository)),
      ...(await clearKeptPacks(runner, repository)),
    ],
    staleLocks: async (repository) => [
      ...(await staleLocks(repository)),
      ...(await ourKeptPacks(runner, repository, Date.now())),
    ],
    leftovers: (repository, known) => findLeftovers(runner, repository, known),
    removeLeftover: (repository, folder) => removeLeftover(runner, repository, folder),
  };
}
