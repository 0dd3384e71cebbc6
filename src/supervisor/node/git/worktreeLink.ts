import { lstat, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Repository } from '../../ports/git.js';
import { gitDirOf, readMark } from './worktreeFiles.js';

/**
 * A worktree is tied to its repository by one small file, `.git`, which a child may delete, spoil, or replace by a
 * repository of its own. The repository knows the worktree all the same.
 */

/** The git directory that the repository keeps for a finished worktree of ours in this folder; null: none. */
export async function registeredGitDir(repository: Repository, folder: string): Promise<string | null> {
  const list = path.join(repository.commonDir, 'worktrees');
  for (const name of await readdir(list).catch(() => [])) {
    const gitDir = path.join(list, name);
    const place = await readFile(path.join(gitDir, 'gitdir'), 'utf8').catch(() => '');
    if (place.trim() === path.join(folder, '.git') && (await readMark(gitDir))?.ready === true) return gitDir;
  }
  return null;
}

/** The git directory of a worktree, to which it is tied again where it was not. A repository in its place is kept aside. */
export async function tieWorktree(repository: Repository, folder: string): Promise<string | null> {
  const tied = await gitDirOf(folder);
  if (tied !== null && isOfRepository(repository, tied)) return tied;
  const gitDir = await registeredGitDir(repository, folder);
  if (gitDir === null) return tied;
  const link = path.join(folder, '.git');
  const found = await lstat(link).catch(() => null);
  if (found?.isDirectory() === true) await rename(link, path.join(gitDir, await freeName(gitDir)));
  else if (found !== null) await rm(link);
  await writeFile(link, `gitdir: ${gitDir}\n`);
  return gitDir;
}

/** Repositories that stood in place of the link. */
export async function replacedRepositories(gitDir: string): Promise<readonly string[]> {
  const names = await readdir(gitDir);
  return names.filter((name) => name.startsWith(replacedName)).map((name) => path.join(gitDir, name));
}

export function isOfRepository(repository: Repository, gitDir: string): boolean {
  return path.dirname(gitDir) === path.join(repository.commonDir, 'worktrees');
}

const replacedName = 'swarm-replaced-';

async function freeName(gitDir: string): Promise<string> {
  return `${replacedName}${(await replacedRepositories(gitDir)).length + 1}`;
}
