import { constants, type Dirent } from 'node:fs';
import { copyFile, cp, lstat, mkdir, readdir, readlink, realpath, symlink } from 'node:fs/promises';
import path from 'node:path';
import { isWithin } from '../../effects/within.js';
import type { Repository, WorktreeRequest } from '../../ports/git.js';
import { ignoredPaths } from './changes.js';
import { exists } from './inspect.js';
import { splitNul, type GitRunner } from './runner.js';

/**
 * Brings in what git does not: `node_modules` of the root and of each package, and the ignored files that
 * `.worktreeinclude` names. Gives back all of their paths, also those that were there from an earlier call.
 */
export async function bringInputs(
  runner: GitRunner,
  repository: Repository,
  worktree: string,
  mode: WorktreeRequest['link'],
): Promise<readonly string[]> {
  if (mode === 'none') return includeFiles(runner, repository, worktree);
  const inputs: string[] = [];
  for (const folder of await dependencyFolders(runner, repository, worktree)) {
    const from = path.join(repository.topLevel, folder);
    const to = path.join(worktree, folder);
    if (mode === 'copy') await copyFolder(from, to);
    else await linkFolder(repository.topLevel, worktree, from, to);
    inputs.push(folder);
  }
  return [...inputs, ...(await includeFiles(runner, repository, worktree))];
}

/** The untracked `node_modules` beside each package.json that both trees have. */
async function dependencyFolders(
  runner: GitRunner,
  repository: Repository,
  worktree: string,
): Promise<readonly string[]> {
  const listed = await runner.run(worktree, [
    'ls-files',
    '-z',
    '--',
    ':(glob)**/package.json',
    ':(glob)**/node_modules/**',
  ]);
  const files = splitNul(listed.stdout);
  const trackedFiles = files.filter((file) => file.split('/').slice(0, -1).includes('node_modules'));
  const packages = files.filter((file) => path.posix.basename(file) === 'package.json');
  const homes = new Set(['.', ...packages.map((file) => path.posix.dirname(file))]);
  const folders: string[] = [];
  for (const home of homes) {
    const folder = path.posix.join(home, 'node_modules');
    if (trackedFiles.some((file) => file.startsWith(`${folder}/`))) continue;
    if (!(await exists(path.join(repository.topLevel, folder)))) continue;
    if (!(await exists(path.join(worktree, home)))) continue;
    folders.push(folder);
  }
  return folders;
}

/**
 * Links a `node_modules`. Where it holds links into the repository (workspace packages), it is rebuilt as a folder
 * of links, so that those lead to the worktree's own packages and not to the user's.
 */
async function linkFolder(topLevel: string, worktree: string, from: string, to: string): Promise<void> {
  if (await present(to)) {
    if ((await lstat(to)).isSymbolicLink()) return;
  } else if (!(await hasWorkspaceLinks(topLevel, from))) {
    await symlink(from, to, 'junction');
    return;
  }
  await mkdir(to, { recursive: true });
  await linkEntries(topLevel, worktree, from, to);
}

async function linkEntries(topLevel: string, worktree: string, from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name);
    const target = path.join(to, entry.name);
    if (entry.isDirectory() && entry.name.startsWith('@')) {
      await mkdir(target, { recursive: true });
      await linkEntries(topLevel, worktree, source, target);
      continue;
    }
    if (await present(target)) continue;
    const workspace = await workspaceTarget(topLevel, source, entry);
    if (workspace !== null) await symlink(path.join(worktree, workspace), target, 'junction');
    else await symlink(source, target, entry.isDirectory() ? 'junction' : 'file');
  }
}

async function hasWorkspaceLinks(topLevel: string, folder: string): Promise<boolean> {
  if ((await lstat(folder)).isSymbolicLink()) return false;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const source = path.join(folder, entry.name);
    if (entry.isDirectory() && entry.name.startsWith('@')) {
      if (await hasWorkspaceLinks(topLevel, source)) return true;
    } else if ((await workspaceTarget(topLevel, source, entry)) !== null) return true;
  }
  return false;
}

/** The path in the repository that a link of `node_modules` leads to, if it is a workspace package. */
async function workspaceTarget(topLevel: string, source: string, entry: Dirent): Promise<string | null> {
  if (!entry.isSymbolicLink()) return null;
  const target = await realpath(source).catch(async () =>
    path.resolve(path.dirname(source), await readlink(source)),
  );
  if (!isWithin(topLevel, target)) return null;
  const inside = path.relative(topLevel, target);
  return inside.split(path.sep).includes('node_modules') ? null : inside;
}

async function copyFolder(from: string, to: string): Promise<void> {
  if (await present(to)) return;
  await cp(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    mode: constants.COPYFILE_FICLONE,
  });
}

/** Copies the ignored files that `.worktreeinclude` names (patterns as in .gitignore). */
async function includeFiles(
  runner: GitRunner,
  repository: Repository,
  worktree: string,
): Promise<readonly string[]> {
  const { topLevel } = repository;
  const patterns = path.join(topLevel, '.worktreeinclude');
  if (!(await exists(patterns))) return [];
  const matching = await runner.run(topLevel, [
    'ls-files',
    '-z',
    '--others',
    '--ignored',
    `--exclude-from=${patterns}`,
  ]);
  const candidates = splitNul(matching.stdout).filter((file) => !file.endsWith('/'));
  const ignored = await ignoredPaths(runner, repository, candidates);
  const files = candidates.filter((file) => ignored.has(file) && !file.split('/').includes('node_modules'));
  for (const file of files) {
    const target = path.join(worktree, file);
    if (await present(target)) continue;
    await mkdir(path.dirname(target), { recursive: true });
    const source = path.join(topLevel, file);
    const stats = await lstat(source);
    if (stats.isSymbolicLink()) await symlink(await readlink(source), target);
    else await copyFile(source, target, constants.COPYFILE_FICLONE);
  }
  return files;
}

async function present(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}
