import { userName } from '../../core/keys.js';
import type { ChildWork, Forecast, Repository } from '../../ports/git.js';
import { captureUserTree, type Capture } from './capture.js';
import { treeDifferences } from './changes.js';
import { filesOf, foldNames, foldsCase } from './letterCase.js';
import { splitNul, type GitRunner } from './runner.js';
import { ourIdentity, treeOf } from './snapshot.js';

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

/** What was found out for the last forecast: much of it is the same for the next. */
interface Memory {
  readonly works: Map<string, Promise<Work>>;
  readonly merges: Map<string, Promise<readonly string[]>>;
}

interface Work {
  readonly child: ChildWork;
  readonly tree: string;
  readonly paths: readonly string[];
  readonly added: readonly string[];
  readonly gone: readonly string[];
  /** The paths with every folder above them. */
  readonly above: ReadonlySet<string>;
}

/** Would these children merge into the user's tree and with each other? Only what is new since the last time is merged. */
export function createForecast(
  runner: GitRunner,
): (repository: Repository, children: readonly ChildWork[]) => Promise<readonly Forecast[]> {
  let before = emptyMemory();
  return async (repository, children) => {
    if (children.length === 0) return [];
    const user = await captureUserTree(runner, repository);
    const now = emptyMemory();
    const conflicts = await conflictsOf(runner, repository.topLevel, user, children, { before, now });
    before = now;
    return children.map(({ id }) => {
      const found = conflicts.get(id) ?? [];
      return { id, clean: found.length === 0, conflicts: found };
    });
  };
}

function emptyMemory(): Memory {
  return { works: new Map(), merges: new Map() };
}

function recall<Value>(
  before: ReadonlyMap<string, Promise<Value>>,
  now: Map<string, Promise<Value>>,
  key: string,
  find: () => Promise<Value>,
): Promise<Value> {
  const known = now.get(key) ?? before.get(key) ?? find();
  now.set(key, known);
  return known;
}

/** What the children's work is merged into, and the paths of it that nothing can be merged into. */
export type UserTree = Pick<Capture, 'tree' | 'unmerged'>;

/** Each child's conflicts with the user's tree and with each other child. */
export async function conflictsOf(
  runner: GitRunner,
  folder: string,
  { tree, unmerged }: UserTree,
  children: readonly ChildWork[],
  { before, now }: { readonly before: Memory; readonly now: Memory } = {
    before: emptyMemory(),
    now: emptyMemory(),
  },
): Promise<ReadonlyMap<string, readonly Conflict[]>> {
  const found = new Map<string, Conflict[]>(children.map(({ id }) => [id, []]));
  const works = await inBunches(children, (child) =>
    recall(before.works, now.works, `${child.id} ${child.base} ${child.commit}`, () =>
      workOf(runner, folder, child),
    ),
  );
  const merge = (key: readonly string[], conflicts: () => Promise<readonly string[]>) =>
    recall(before.merges, now.merges, key.join(' '), conflicts);
  await inBunches(works, async ({ child, tree: work, paths: written }) => {
    const merged = await merge([child.base, tree, work], async () => {
      return (await mergeTrees(runner, folder, child.base, tree, work)).conflicts;
    });
    const open = unmerged.filter((path) => written.includes(path));
    for (const path of new Set([...merged, ...open])) found.get(child.id)?.push({ who: userName, path });
  });
  const pairs = works.flatMap((left, at) =>
    works
      .slice(at + 1)
      .filter((right) => mayMeet(left, right))
      .map((right) => [left, right] as const),
  );
  await inBunches(pairs, async ([left, right]) => {
    const paths = await merge([left.child.base, left.tree, right.child.base, right.tree], () =>
      conflictsBetween(runner, folder, left, right),
    );
    for (const path of paths) {
      found.get(left.child.id)?.push({ who: right.child.id, path });
      found.get(right.child.id)?.push({ who: left.child.id, path });
    }
  });
  if (await foldsCase(runner, folder)) await addClashes(runner, folder, tree, works, found);
  // Merges end in any order; what is told does not: the user first, then the children as they were named.
  const rank = new Map([userName, ...children.map(({ id }) => id)].map((who, at) => [who, at]));
  for (const list of found.values())
    list.sort((one, other) => (rank.get(one.who) ?? 0) - (rank.get(other.who) ?? 0));
  return found;
}

/** New names that the disk, or that of whoever gets the work, may take for one that is there already. */
async function addClashes(
  runner: GitRunner,
  folder: string,
  tree: string,
  works: readonly Work[],
  found: ReadonlyMap<string, Conflict[]>,
): Promise<void> {
  const adding = works.filter(({ added }) => added.length > 0);
  if (adding.length === 0) return;
  const users = foldNames(await filesOf(runner, folder, tree));
  for (const { child, added, gone } of adding)
    for (const path of added)
      if (users.clashOf(path, new Set(gone)) !== null) found.get(child.id)?.push({ who: userName, path });
  const theirs = adding.map((work) => ({ work, names: foldNames(work.added) }));
  for (const { child, added } of adding)
    for (const { work, names } of theirs)
      for (const path of work.child === child ? [] : added)
        if (names.clashOf(path) !== null) found.get(child.id)?.push({ who: work.child.id, path });
}

async function workOf(runner: GitRunner, folder: string, child: ChildWork): Promise<Work> {
  const tree = await treeOf(runner, folder, child.commit);
  const differences = await treeDifferences(runner, folder, child.base, tree, 'pathsOnly');
  const paths = differences.map(({ path }) => path);
  const ofKind = (wanted: string) =>
    differences.filter(({ kind }) => kind === wanted).map(({ path }) => path);
  const above = new Set<string>();
  for (const path of paths)
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) above.add(path.slice(0, end));
  return { child, tree, paths, added: ofKind('A'), gone: ofKind('D'), above };
}

/** The one's work is brought to the other's base first: what lies between two bases is nobody's conflict. */
async function conflictsBetween(
  runner: GitRunner,
  folder: string,
  left: Work,
  right: Work,
): Promise<readonly string[]> {
  const { base } = right.child;
  const ours =
    left.child.base === base
      ? left.tree
      : (await mergeTrees(runner, folder, left.child.base, await treeOf(runner, folder, base), left.tree))
          .tree;
  return (await mergeTrees(runner, folder, base, ours, right.tree)).conflicts;
}

/** Whether they have a path in common, or one's path is a folder of the other's. */
function mayMeet(left: Work, right: Work): boolean {
  return left.paths.some((path) => right.above.has(path)) || right.paths.some((path) => left.above.has(path));
}

/** A commit that nothing refers to and that no power cut needs to spare. */
function looseCommit(runner: GitRunner, folder: string, tree: string, parent: string): Promise<string> {
  return runner.text(folder, ['-c', 'core.fsync=none', 'commit-tree', tree, '-p', parent, '-m', 'merge'], {
    environment: ourIdentity,
  });
}

async function inBunches<Item, Found>(
  items: readonly Item[],
  act: (item: Item) => Promise<Found>,
): Promise<readonly Found[]> {
  const size = 4;
  const found: Found[] = [];
  for (let at = 0; at < items.length; at += size)
    found.push(...(await Promise.all(items.slice(at, at + size).map(act))));
  return found;
}
