import { ignoredPaths } from './changes.js';
import { diskFoldsCase, foldsCase } from './letterCase.js';
import { splitNul, type GitRunner } from './runner.js';

/** Never captured while untracked: dependencies and our own files. */
const never: readonly string[] = ['-x', 'node_modules', '-x', '/.swarm'];

/**
 * Untracked files that are not ignored; repositories inside the tree with a slash at their end. Where git is told to
 * fold the case of names but the disk does not, it hides a new file whose name another one has in another case.
 */
export async function untrackedFiles(
  runner: GitRunner,
  top: string,
  environment: Readonly<Record<string, string>>,
  within: readonly string[] = [],
): Promise<readonly string[]> {
  const list = async (...settings: readonly string[]): Promise<readonly string[]> => {
    const args = [...settings, 'ls-files', '-z', '--others', '--exclude-standard', ...never];
    const listed = await runner.run(top, [...args, '--', ...within], { environment });
    return splitNul(listed.stdout);
  };
  const [found, folds] = await Promise.all([list(), foldsCase(runner, top)]);
  if (!folds || (await diskFoldsCase(top))) return found;
  const known = new Set(found);
  const hidden = (await list('-c', 'core.ignorecase=false')).filter((file) => !known.has(file));
  const ignored = await ignoredPaths(runner, { topLevel: top, sparse: false }, hidden);
  return [...found, ...hidden.filter((file) => !ignored.has(file))];
}
