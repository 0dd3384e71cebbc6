import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { splitNul, type GitRunner } from './runner.js';

const known = new WeakMap<GitRunner, Map<string, Promise<boolean>>>();

/**
 * Whether git takes two cases of a name for one here, which it looked up on the disk when the repository was made.
 * Asked once for each tree.
 */
export function foldsCase(runner: GitRunner, top: string): Promise<boolean> {
  const answers = known.get(runner) ?? new Map<string, Promise<boolean>>();
  known.set(runner, answers);
  const answer = answers.get(top) ?? askFoldsCase(runner, top);
  answers.set(top, answer);
  answer.catch(() => answers.delete(top));
  return answer;
}

async function askFoldsCase(runner: GitRunner, top: string): Promise<boolean> {
  const setting = await runner.run(top, ['config', '--type=bool', '--get', 'core.ignorecase'], {
    expect: [0, 1],
  });
  return setting.stdout.toString().trim() === 'true';
}

/** Whether the disk does so, whatever the setting says: a repository may have been made elsewhere. */
export async function diskFoldsCase(top: string): Promise<boolean> {
  return lstat(path.join(top, '.GIT')).then(
    () => true,
    () => false,
  );
}

/** Names that a disk which folds case takes for one are equal. */
export function folded(file: string): string {
  return file.normalize('NFC').toLowerCase();
}

/** Files, found by what a disk that folds case makes of their names. */
export interface FoldedNames {
  /**
   * What stands in the way of a new file of this name: the same name in another spelling, a file in place of one of its
   * folders, a folder in its place. What is `gone` does not.
   */
  clashOf(file: string, gone?: ReadonlySet<string>): string | null;
}

export function foldNames(files: Iterable<string>): FoldedNames {
  const names = new Map<string, string[]>();
  const below = new Map<string, string[]>();
  for (const file of files) {
    const name = folded(file);
    addTo(names, name, file);
    for (const folder of foldersAbove(name)) addTo(below, folder, file);
  }
  return {
    clashOf(file, gone = new Set()) {
      const name = folded(file);
      const isThere = (found: string): boolean => found !== file && !gone.has(found);
      const inPlaces = [name, ...foldersAbove(name)].flatMap((place) => names.get(place) ?? []);
      return [...inPlaces, ...(below.get(name) ?? [])].find(isThere) ?? null;
    },
  };
}

/** The files of a tree. */
export async function filesOf(runner: GitRunner, top: string, tree: string): Promise<readonly string[]> {
  const listed = await runner.run(top, ['ls-tree', '-r', '-z', '--name-only', '--full-tree', tree]);
  return splitNul(listed.stdout);
}

function addTo(lists: Map<string, string[]>, key: string, file: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [file]);
  else list.push(file);
}

function foldersAbove(file: string): string[] {
  const found: string[] = [];
  for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1))
    found.push(file.slice(0, end));
  return found;
}
