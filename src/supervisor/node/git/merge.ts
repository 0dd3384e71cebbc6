import { userName } from '../../core/keys.js';
import type { ChildWork, Forecast, Repository } from '../../ports/git.js';
import { captureUserTree } from './capture.js';
import { treeDifferences } from './changes.js';
import { splitNul, type GitRunner } from './runner.js';
import { ourIdentity, treeOf } from './snapshot.js';

export { userName };

export interface Merge {
  readonly tree: string;
  /** Empty: clean. */
  readonly conflicts: readonly string[];
}

export type Conflict = Forecast['conflicts'][number];

/** Merges two trees that both come from `base`, in the object store alone. */
export async function mergeTrees(
  runner: GitRunner,
  folder: string,
  base: string,
  ours: string,
  theirs: string,
): Promise<Merge> {
  if (ours === theirs) return { tree: ours, conflicts: [] };
  // Commits with the wanted base as their parent make git merge from exactly that base, whatever the history is.
  const [left, right] = await Promise.all([
    looseCommit(runner, folder, ours, base),
    looseCommit(runner, folder, theirs, base),
  ]);
  const merged = await runner.run(
    folder,
    ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', left, right],
    { expect: [0, 1], environment: ourIdentity },
  );
  const [tree = '', ...files] = splitNul(merged.stdout);
  return { tree, conflicts: merged.exitCode === 0 ? [] : [...new Set(files.filter((file) => file !== ''))] };
}

/** Would these children merge into the user's tree and with each other? */
export async function forecastMerges(
  runner: GitRunner,
  repository: Repository,
  children: readonly ChildWork[],
): Promise<readonly Forecast[]> {
  if (children.length === 0) return [];
  const { tree } = await captureUserTree(runner, repository);
  const conflicts = await conflictsOf(runner, repository.topLevel, tree, children);
  return children.map(({ id }) => {
    const found = conflicts.get(id) ?? [];
    return { id, clean: found.length === 0, conflicts: found };
  });
}

/** Each child's conflicts with `tree` (the user's) and with each other child. */
export async function conflictsOf(
  runner: GitRunner,
  folder: string,
  tree: string,
  children: readonly ChildWork[],
): Promise<ReadonlyMap<string, readonly Conflict[]>> {
  const found = new Map<string, Conflict[]>(children.map(({ id }) => [id, []]));
  const works = await Promise.all(
    children.map(async (child) => {
      const work = await treeOf(runner, folder, child.commit);
      const differences = await treeDifferences(runner, folder, child.base, work, 'pathsOnly');
      return { child, tree: work, paths: differences.map(({ path }) => path) };
    }),
  );
  await inBunches(works, async ({ child, tree: work }) => {
    const merge = await mergeTrees(runner, folder, child.base, tree, work);
    for (const path of merge.conflicts) found.get(child.id)?.push({ who: userName, path });
  });
  const pairs = works.flatMap((left, at) =>
    works
      .slice(at + 1)
      .filter((right) => mayMeet(left.paths, right.paths))
      .map((right) => [left, right] as const),
  );
  await inBunches(pairs, async ([left, right]) => {
    const merge = await mergeTrees(runner, folder, left.child.base, left.tree, right.tree);
    for (const path of merge.conflicts) {
      found.get(left.child.id)?.push({ who: right.child.id, path });
      found.get(right.child.id)?.push({ who: left.child.id, path });
    }
  });
  // Merges end in any order; what is told does not: the user first, then the children as they were named.
  const rank = new Map([userName, ...children.map(({ id }) => id)].map((who, at) => [who, at]));
  for (const list of found.values())
    list.sort((one, other) => (rank.get(one.who) ?? 0) - (rank.get(other.who) ?? 0));
  return found;
}

/** Whether two sets of paths have one in common, or one is a folder of the other. */
export function mayMeet(left: readonly string[], right: readonly string[]): boolean {
  const above = (paths: readonly string[]): ReadonlySet<string> => {
    const all = new Set<string>();
    for (const path of paths)
      for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) all.add(path.slice(0, end));
    return all;
  };
  const leftAbove = above(left);
  const rightAbove = above(right);
  return left.some((path) => rightAbove.has(path)) || right.some((path) => leftAbove.has(path));
}

/** A commit that nothing refers to and that no power cut needs to spare. */
function looseCommit(runner: GitRunner, folder: string, tree: string, parent: string): Promise<string> {
  return runner.text(folder, ['-c', 'core.fsync=none', 'commit-tree', tree, '-p', parent, '-m', 'merge'], {
    environment: ourIdentity,
  });
}

async function inBunches<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const size = 4;
  for (let at = 0; at < items.length; at += size) await Promise.all(items.slice(at, at + size).map(act));
}
