import { lstat, readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * Top level of the repository around a folder, found by looking for `.git` upwards; null outside of one. It starts
 * no program, so that a window without batches costs nothing. The supervisor looks closer before it does anything.
 */
export async function findTopLevel(folder: string): Promise<string | null> {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    if (await isGit(path.join(at, '.git'))) return at;
    if (path.dirname(at) === at) return null;
  }
}

/**
 * The top levels of these folders, each repository once: also where two folders lead to it by different ways. Each is
 * as the first of its folders spells it.
 */
export async function findTopLevels(folders: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(folders.map(findTopLevel));
  const spelled = new Map<string, string>();
  for (const topLevel of found) {
    if (topLevel === null) continue;
    const real = await realpath(topLevel).catch(() => topLevel);
    if (!spelled.has(real)) spelled.set(real, topLevel);
  }
  return [...spelled.values()];
}

/** The innermost of these repositories that a file is in: one may lie inside another. */
export function repositoryOf(file: string, topLevels: readonly string[]): string | undefined {
  const around = topLevels.filter((one) => file === one || file.startsWith(one + path.sep));
  return around.sort((one, other) => other.length - one.length)[0];
}

/** Whether something has ever been launched there. A link or a file in its place counts: the supervisor says what is wrong with it. */
export async function hasSwarmFolder(topLevel: string): Promise<boolean> {
  return exists(path.join(topLevel, '.swarm'));
}

/** The version of Swarm that made `.swarm`, as far as it says. */
export async function writerOf(topLevel: string): Promise<string | null> {
  try {
    const said: unknown = JSON.parse(await readFile(path.join(topLevel, '.swarm', 'VERSION'), 'utf8'));
    const by = typeof said === 'object' && said !== null && 'createdBy' in said ? said.createdBy : null;
    return typeof by === 'string' ? by.slice(0, 40) : null;
  } catch {
    return null;
  }
}

/** A git folder, or the file that stands for one in worktrees and submodules. */
async function isGit(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile() || (await exists(path.join(file, 'HEAD')));
  } catch {
    return false;
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch {
    return false;
  }
}
