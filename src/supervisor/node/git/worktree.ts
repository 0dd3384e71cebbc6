import { appendFile, mkdir, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { isWithin } from '../../effects/within.js';
import type { Refusal, Repository, Worktree, WorktreeRequest } from '../../ports/git.js';
import { treeDifferences } from './changes.js';
import { runCommand } from './command.js';
import { bringInputs } from './inputs.js';
import { exists, refuse } from './inspect.js';
import { checkOutDifferences } from './materialise.js';
import { GitError, type GitRunner } from './runner.js';
import { coneDirectories, conePatterns } from './sparse.js';
import { copyIndex } from './temporaryIndex.js';
import { dropHalfMade, isHalfMade, mendHalfMade } from './worktreeMending.js';
import { createPlaces, inTurn } from './turns.js';
import { isOfRepository, registeredGitDir, tieWorktree } from './worktreeLink.js';
import {
  gitDirOf,
  lockReasons,
  pristineIndexOf,
  readMark,
  syncWorktree,
  writeMark,
  type WorktreeMark,
} from './worktreeFiles.js';

/** A child's worktree, made, finished or found again. Never falls back to another folder. */
export async function ensureWorktree(
  runner: GitRunner,
  repository: Repository,
  request: WorktreeRequest,
  snapshot: string | null,
): Promise<Worktree | Refusal> {
  if (isWithin(repository.topLevel, request.path))
    return refuse(
      'other',
      `The worktree ${request.path} would be inside the repository.`,
      'Set swarm.worktrees.location to a folder outside of it: tools that walk the repository would walk it too.',
    );
  const state = await worktreeState(repository, request.path);
  if (state === 'foreign')
    return refuse(
      'pathTaken',
      `${request.path} is there already and is not a worktree of this batch.`,
      'Move it away, or set swarm.worktrees.location to another folder.',
    );
  try {
    launches += 1;
    try {
      if (state === 'missing') await addWorktree(runner, repository, request.path, request.base);
      return await finishWorktree(runner, repository, request, snapshot);
    } finally {
      launches -= 1;
    }
  } catch (error) {
    const refusal = refusalOf(error, request.path);
    if (refusal === null) throw error;
    const gitDir = await gitDirOf(request.path);
    if (gitDir !== null && (await readMark(gitDir))?.ready !== true)
      await dropWorktree(runner, repository, request.path).catch(() => undefined);
    return refusal;
  }
}

export async function worktreeState(
  repository: Repository,
  folder: string,
): Promise<'present' | 'missing' | 'foreign'> {
  if (!(await exists(folder))) return 'missing';
  const gitDir = await gitDirOf(folder);
  if (gitDir !== null && isOfRepository(repository, gitDir))
    return (await readMark(gitDir)) !== null ? 'present' : 'foreign';
  if (gitDir === null && ((await isEmptyFolder(folder)) || (await isHalfMade(folder)))) return 'missing';
  return (await registeredGitDir(repository, folder)) === null ? 'foreign' : 'present';
}

/** Registers a worktree without files; also in place of one whose folder was deleted. */
export async function addWorktree(
  runner: GitRunner,
  repository: Repository,
  folder: string,
  base: string,
  kind: WorktreeMark['kind'] = 'child',
): Promise<void> {
  await mkdir(path.dirname(folder), { recursive: true });
  const reason = lockReasons[kind];
  // `git worktree` calls of one repository go one by one: its own bookkeeping is not made for many at once.
  await inTurn(`worktree ${repository.commonDir}`, async () => {
    await dropHalfMade(repository.commonDir, folder);
    // Twice --force: the folder of a locked worktree was deleted by hand.
    const flags = ['--no-checkout', '--detach', '--force', '--force', '--lock', '--reason', reason];
    await runner.run(repository.topLevel, [...unsynced, 'worktree', 'add', ...flags, '--', folder, base]);
  });
  const gitDir = await gitDirOf(folder);
  if (gitDir === null) throw new Error(`git made no worktree in ${folder}`);
  await writeMark(gitDir, { kind, base, ready: false, inputs: [] });
}

/**
 * Removes a worktree with all that is in it. The caller knows that nothing in it is needed. It is put aside first, by
 * one step: whoever looks after a crash finds it whole or not at all, never a half that says the child deleted files.
 */
export async function dropWorktree(runner: GitRunner, repository: Repository, folder: string): Promise<void> {
  const aside = asideOf(folder);
  await emptyFolder(aside);
  // What cannot be moved is removed where it is.
  await rename(folder, aside).catch(() => undefined);
  await emptyFolder(aside);
  await inTurn(`worktree ${repository.commonDir}`, async () => {
    await runner.run(repository.topLevel, ['worktree', 'remove', '--force', '--force', '--', folder]);
  });
  // The last step: while it is there, a later clean knows that something is left to do.
  await rmdir(aside).catch(() => undefined);
}

/** Where a worktree is while it is removed; ids begin with a letter or digit, so no child is called like this. */
export function asideOf(folder: string): string {
  return path.join(path.dirname(folder), `_removed-${path.basename(folder)}`);
}

async function emptyFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => []))
    await rm(path.join(folder, name), { recursive: true, force: true });
}

async function finishWorktree(
  runner: GitRunner,
  repository: Repository,
  request: WorktreeRequest,
  snapshot: string | null,
): Promise<Worktree | Refusal> {
  const folder = request.path;
  const gitDir = await tieWorktree(repository, folder);
  if (gitDir === null) throw new Error(`${folder} is no worktree`);
  const mark = await readMark(gitDir);
  if (mark?.ready === true) return { ok: true, path: folder, base: mark.base, inputs: mark.inputs };

  await mendHalfMade(folder, gitDir, request.base);
  await checkOut(runner, folder, gitDir, request);
  if (snapshot !== null) {
    const differences = await treeDifferences(runner, folder, request.base, snapshot, 'pathsOnly');
    await checkOutDifferences(runner, folder, gitDir, differences);
  }
  const inputs = await bringInputs(runner, repository, folder, request.link);
  await writeMark(gitDir, { kind: 'child', base: request.base, ready: false, inputs });
  const failed = await runSetup(runner, folder, request);
  if (failed !== null) return failed;
  await writeMark(gitDir, { kind: 'child', base: request.base, ready: true, inputs });
  // Before its child starts: without the mark a restart would check out anew over what was not captured yet.
  await syncWorktree(gitDir);
  return { ok: true, path: folder, base: request.base, inputs };
}

/** A checkout can be had again from git: a sync would only wait until all of it is on the disk. */
const unsynced: readonly string[] = ['-c', 'core.fsync=none'];

const processors = availableParallelism();
const oneOfFew = createPlaces(processors);
/** How many worktrees are being made. */
let launches = 0;

/** One process for each of several checkouts at a time costs less than all processors for one after the other. */
function workers(): readonly string[] {
  return ['-c', `checkout.workers=${Math.max(1, Math.floor(processors / launches))}`];
}

async function checkOut(
  runner: GitRunner,
  folder: string,
  gitDir: string,
  request: WorktreeRequest,
): Promise<void> {
  const cone = request.files === null ? null : coneDirectories(request.files);
  const settings: string[] = [];
  if (cone !== null) {
    await mkdir(path.join(gitDir, 'info'), { recursive: true });
    await writeFile(path.join(gitDir, 'info', 'sparse-checkout'), conePatterns(cone));
    settings.push('-c', 'core.sparseCheckout=true', '-c', 'core.sparseCheckoutCone=true');
  }
  const result = await oneOfFew(() =>
    runner.run(folder, [...unsynced, ...settings, ...workers(), 'read-tree', '--reset', '-u', request.base]),
  );
  await log(request.logFile, result.stderr);
  await copyIndex(path.join(gitDir, 'index'), pristineIndexOf(gitDir));
}

async function runSetup(
  runner: GitRunner,
  folder: string,
  request: WorktreeRequest,
): Promise<Refusal | null> {
  if (request.setup.length === 0) return null;
  const line = request.setup.join(' ');
  await log(request.logFile, `$ ${line}\n`);
  // As it comes: an installation takes its time, and somebody may want to look.
  let written: Promise<void> = Promise.resolve();
  const result = await runCommand(request.setup, folder, runner.environment, (_stream, chunk) => {
    written = written.then(() => appendFile(request.logFile, chunk, { mode: 0o600 }));
    written.catch(() => undefined);
  });
  await written;
  if (result.notRun !== null) await log(request.logFile, `${result.notRun}\n`);
  if (result.exitCode === 0) return null;
  const why = result.notRun ?? `it ended with ${result.exitCode}: ${result.output.trim().slice(-500)}`;
  return refuse(
    'setupFailed',
    `The setup command "${line}" failed in ${folder}: ${why}`,
    `Mend swarm.worktrees.setup, then retry. The whole output is in ${request.logFile}.`,
  );
}

/** A refusal for what the machine or a filter would not do; null for what is a bug. */
export function refusalOf(error: unknown, folder: string): Refusal | null {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return refuse('noSpace', `There is no space left for ${folder}.`, 'Free some space, then retry.');
  if (code === 'EIO')
    return refuse(
      'noSpace',
      `The disk under ${folder} gave an error: ${error instanceof Error ? error.message : ''}`,
      'Look at the disk, then retry.',
    );
  if (code === 'ENAMETOOLONG')
    return refuse(
      'pathTooLong',
      `A path below ${shortened(folder)} is longer than this system takes.`,
      'Set swarm.worktrees.location to a folder with a shorter path, or shorten the names in the repository.',
    );
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM')
    return refuse(
      'readOnly',
      `${folder} cannot be written.`,
      'Change its permissions, or choose another folder.',
    );
  if (error instanceof GitError && /smudge filter|external filter|clean filter/.test(error.stderr))
    return refuse(
      'filterMissing',
      `A filter of this repository failed: ${error.stderr.trim().slice(-300)}`,
      'Install the filter program (for LFS: git lfs install), then retry.',
    );
  return null;
}

/** For a message: a path may be longer than anybody reads. */
export function shortened(file: string): string {
  return file.length <= 200 ? file : `${file.slice(0, 100)}…${file.slice(-60)}`;
}

async function log(file: string, text: string): Promise<void> {
  if (text === '') return;
  await mkdir(path.dirname(file), { recursive: true });
  await appendFile(file, text, { mode: 0o600 });
}

async function isEmptyFolder(folder: string): Promise<boolean> {
  return readdir(folder).then(
    (entries) => entries.length === 0,
    () => false,
  );
}
