import { lstatSync } from 'node:fs';
import path from 'node:path';
import { userName } from '../../core/keys.js';
import type { Refusal, Repository, Worktree } from '../../ports/git.js';
import type {
  ChildEdits,
  Edit,
  Entry,
  GivenBack,
  LeftPath,
  Move,
  QuarantineOutcome,
  QuarantinePlan,
  QuarantineRequest,
  QuarantineStep,
  TakenOut,
} from '../../ports/sharedTree.js';
import { blobId, commitEntries, rawFile, readStored, sameEntry } from './blobs.js';
import { ignoredPaths, literalPaths, objectsNamed } from './changes.js';
import { objectFolders, refFolders, syncFolders } from './durable.js';
import { liveEdits } from './edits.js';
import { isReachable } from './reach.js';
import { stageRaw, writeRawPaths, type BytesOf, type RawOutcome, type RawWrite } from './rawWrite.js';
import { splitNul, type GitRunner } from './runner.js';
import { beforeOf, createBlobSource, putIn, takeOut, type BlobSource } from './threeWay.js';
import { ensureWorktree, worktreeState } from './worktree.js';
import { gitDirOf } from './worktreeFiles.js';

/** Runs what writes to the tree while nobody looks for others' edits, and takes it as nobody's. */
export type Alone = (act: () => Promise<RawOutcome>) => Promise<RawOutcome>;

/**
 * Takes a child's edits out of the tree: plan, capture, restore, give. Each step is noted before the next begins,
 * and each compares bytes first, so that `carryOut` also ends what a crash cut anywhere.
 */
export async function quarantineChild(
  runner: GitRunner,
  repository: Repository,
  request: QuarantineRequest,
  alone: Alone,
): Promise<QuarantineOutcome> {
  const { give, ...taken } = await takeOutOfTree(runner, repository, request, alone);
  return { ...taken, worktree: await give() };
}

/** The part of a quarantine that needs the tree; `give` does the rest. */
export async function takeOutOfTree(
  runner: GitRunner,
  repository: Repository,
  request: QuarantineRequest,
  alone: Alone,
): Promise<TakenOut> {
  const { plan, restoredBytes } = await planQuarantine(runner, repository, request);
  if (plan.moves.length === 0)
    return { moved: [], left: plan.left, commit: null, lines: [], give: () => Promise.resolve(null) };
  await request.noteStep({ step: 'intent', plan });
  return takeOutByPlan(runner, repository, plan, request.noteStep, alone, restoredBytes);
}

/**
 * What will be moved where, and what cannot be, and the bytes that the tree will have instead; touches nothing but
 * the object store.
 */
async function planQuarantine(
  runner: GitRunner,
  repository: Repository,
  request: Omit<QuarantineRequest, 'noteStep'>,
): Promise<{ readonly plan: QuarantinePlan; readonly restoredBytes: BytesOf }> {
  const top = repository.topLevel;
  const blobs = createBlobSource(runner, repository);
  const byPath = groupByPath(liveEdits(request.edits));
  const paths = [...byPath.keys()].filter(
    (file) => isInside(file) && isReachable(top, file) && isReachable(request.worktree.path, file),
  );
  const [ignored, bases] = await Promise.all([
    ignoredPaths(runner, repository, paths),
    baseEntries(runner, repository, request, paths, blobs),
  ]);
  const raws = await Promise.all(paths.map((file) => rawFile(repository.objectFormat, top, file)));
  const rawOf = new Map(paths.map((file, at) => [file, raws[at] ?? null]));
  const moves: Move[] = [];
  const left: LeftPath[] = [];
  for (const [file, edits] of byPath) {
    if (!isInside(file) || ignored.has(file) || inSubmodule(repository, file)) continue;
    const who = whoElse(file, request);
    const isWhole = request.whole?.includes(file) === true;
    if (!isWhole && edits.some(({ confidence }) => confidence === 'ambiguous')) {
      left.push({ path: file, who: whoMayBe(edits, who), why: 'ambiguous' });
      continue;
    }
    if (behindLink(top, file) || !isReachable(request.worktree.path, file)) {
      left.push({ path: file, who, why: 'changed' });
      continue;
    }
    const raw = rawOf.get(file) ?? null;
    const found = raw?.entry ?? null;
    // What a writer of the ledger left is in the store since then.
    const isKnown = edits.some(({ before, after }) => found !== null && [before, after].includes(found.id));
    if (raw !== null) blobs.add(raw.bytes, isKnown);
    const base = bases.get(file) ?? null;
    const restored = isWhole ? firstBefore(edits) : await takeOut(runner, blobs, found, edits);
    const own = isWhole ? { entry: found } : await putIn(runner, blobs, base, edits);
    if (restored === 'overlap' || own === 'overlap') left.push({ path: file, who, why: 'overlap' });
    else if (!sameEntry(found, restored.entry) || !sameEntry(base, own.entry))
      moves.push({ path: file, found, restored: restored.entry, base, own: own.entry });
  }
  await blobs.flush();
  const idsOf = (entry: Entry | null): string[] => (entry === null ? [] : [entry.id]);
  const { bytes: restoredBytes, missing } = await readStored(runner, top, {
    read: moves.flatMap(({ restored }) => idsOf(restored)),
    find: moves.flatMap(({ own }) => idsOf(own)),
  });
  const isMissing = (entry: Entry | null): boolean => entry !== null && missing.has(entry.id);
  const kept = moves.filter(({ restored, own }) => !isMissing(restored) && !isMissing(own));
  for (const { path: file } of moves.filter((move) => !kept.includes(move)))
    left.push({ path: file, who: whoElse(file, request), why: 'changed' });
  const { child, ref, worktree } = request;
  return { plan: { child, ref, worktree, moves: kept, left }, restoredBytes };
}

/** Does what of a plan is not done yet. */
export async function carryOut(
  runner: GitRunner,
  repository: Repository,
  plan: QuarantinePlan,
  noteStep: (step: QuarantineStep) => Promise<void>,
  alone: Alone,
): Promise<QuarantineOutcome> {
  const { give, ...taken } = await takeOutByPlan(runner, repository, plan, noteStep, alone, null);
  return { ...taken, worktree: await give() };
}

async function takeOutByPlan(
  runner: GitRunner,
  repository: Repository,
  plan: QuarantinePlan,
  noteStep: (step: QuarantineStep) => Promise<void>,
  alone: Alone,
  restoredBytes: BytesOf | null,
): Promise<TakenOut> {
  const { topLevel, gitDir, objectFormat } = repository;
  const restoring = plan.moves.map(({ path: file, found, restored }) => ({
    path: file,
    from: found,
    to: restored,
  }));
  // Made ready beside the tree while the capture is written.
  const staging = restoredBytes === null ? null : stageRaw(gitDir, restoring, restoredBytes);
  staging?.catch(() => undefined);
  let commit: string;
  let outcome: RawOutcome;
  try {
    commit = await capture(runner, repository, plan);
    await noteStep({ step: 'captured', commit });
    outcome = await alone(async () =>
      writeRawPaths(runner, objectFormat, topLevel, gitDir, restoring, await staging),
    );
  } catch (error) {
    await staging?.then(
      (stage) => stage.remove(),
      () => undefined,
    );
    throw error;
  }
  const moved = new Set(outcome.done);
  await noteStep({ step: 'restored', moved: [...moved] });

  return {
    moved: plan.moves.filter(({ path: file }) => moved.has(file)).map(({ path: file }) => file),
    left: [
      ...plan.left,
      ...outcome.moved.map((file): LeftPath => ({ path: file, who: [userName], why: 'changed' })),
    ],
    commit,
    give: async () => {
      const [worktree] = await Promise.all([give(runner, repository, plan, moved), outcome.cleared]);
      if (worktree.ok) await noteStep({ step: 'given' });
      return worktree;
    },
    lines: plan.moves.filter(({ path: file }) => moved.has(file)).map(lineOf),
  };
}

/** A commit of the child's base with its own files under the plan's ref, verified and on disk. */
async function capture(runner: GitRunner, repository: Repository, plan: QuarantinePlan): Promise<string> {
  const top = repository.topLevel;
  const entries = plan.moves.map(({ path: file, own }) => ({ path: file, entry: own }));
  await commitEntries(runner, top, {
    base: plan.worktree.base,
    ref: plan.ref,
    message: `Quarantine of ${plan.child}`,
    entries,
  });
  const ids = entries.flatMap(({ entry }) => (entry === null ? [] : [entry.id]));
  // The sync goes on beside the look: both are done before the capture is said to be there.
  const [[commit = '']] = await Promise.all([
    objectsNamed(runner, top, [`${plan.ref}^{commit}`, ...ids]),
    assertCaptured(runner, top, plan.ref, entries),
    syncFolders([
      ...objectFolders(repository.commonDir, ids),
      path.join(repository.commonDir, 'objects', 'pack'),
      ...refFolders(repository.commonDir, plan.ref),
    ]),
  ]);
  // The ref may be one of a run that died, with its objects in files of their own.
  await syncFolders(objectFolders(repository.commonDir, [commit]));
  return commit;
}

async function assertCaptured(
  runner: GitRunner,
  top: string,
  commit: string,
  entries: readonly { readonly path: string; readonly entry: Entry | null }[],
): Promise<void> {
  const kept = await entriesAt(
    runner,
    top,
    commit,
    entries.map(({ path: file }) => file),
  );
  for (const { path: file, entry } of entries)
    if (!sameEntry(kept.get(file) ?? null, entry)) throw new Error(`${file} is not in the capture ${commit}`);
}

/** Brings the moved files into the child's own worktree, which is made if it is not there. */
async function give(
  runner: GitRunner,
  repository: Repository,
  plan: QuarantinePlan,
  moved: ReadonlySet<string>,
): Promise<Worktree | Refusal> {
  const worktree = await ensureWorktree(runner, repository, plan.worktree, null);
  if (!worktree.ok) return worktree;
  const gitDir = await gitDirOf(worktree.path);
  if (gitDir === null) throw new Error(`${worktree.path} is no worktree`);
  const blobs = createBlobSource(runner, repository);
  const writes: RawWrite[] = [];
  for (const { path: file, base, own } of plan.moves) {
    if (!moved.has(file)) continue;
    const raw = await rawFile(repository.objectFormat, worktree.path, file);
    const now = raw?.entry ?? null;
    // What the plan knows is in the store since then.
    if (raw !== null) blobs.add(raw.bytes, sameEntry(now, base));
    // The child may have worked on in its worktree since the plan was made.
    const to = sameEntry(now, base)
      ? { entry: own }
      : await putIn(runner, blobs, now, [change(file, base, own)]);
    if (to !== 'overlap') writes.push({ path: file, from: now, to: to.entry });
  }
  await blobs.flush();
  const written = await writeRawPaths(runner, repository.objectFormat, worktree.path, gitDir, writes);
  await written.cleared;
  return worktree;
}

/** Puts the edits of a plan back into the tree as they were found; what overlaps with later work stays out. */
export async function giveBack(
  runner: GitRunner,
  repository: Repository,
  plan: QuarantinePlan,
  alone: Alone,
): Promise<GivenBack> {
  const blobs = createBlobSource(runner, repository);
  const left: LeftPath[] = [];
  const writes: RawWrite[] = [];
  for (const { path: file, found, restored } of plan.moves) {
    const raw = await rawFile(repository.objectFormat, repository.topLevel, file);
    const now = raw?.entry ?? null;
    if (raw !== null) blobs.add(raw.bytes, sameEntry(now, restored));
    const to = await putIn(runner, blobs, now, [change(file, restored, found)]);
    if (to === 'overlap') left.push({ path: file, who: [userName], why: 'overlap' });
    else writes.push({ path: file, from: now, to: to.entry });
  }
  await blobs.flush();
  const { topLevel, gitDir, objectFormat } = repository;
  const { done, moved, cleared } = await alone(() =>
    writeRawPaths(runner, objectFormat, topLevel, gitDir, writes),
  );
  await cleared;
  const at = Date.now();
  const given = writes.filter(({ path: file }) => done.includes(file));
  return {
    moved: done,
    left: [...left, ...moved.map((file): LeftPath => ({ path: file, who: [userName], why: 'changed' }))],
    lines: given.map(({ path: file, from, to }) => ({ ...change(file, from, to), tool: 'giveBack', at })),
  };
}

/** What each path is in the child's worktree: as it lies there, or as its base would be checked out. */
async function baseEntries(
  runner: GitRunner,
  repository: Repository,
  request: Omit<QuarantineRequest, 'noteStep'>,
  paths: readonly string[],
  blobs: BlobSource,
): Promise<ReadonlyMap<string, Entry | null>> {
  const { worktree } = request;
  if ((await worktreeState(repository, worktree.path)) === 'present') {
    const entries = new Map<string, Entry | null>();
    const raws = await Promise.all(
      paths.map((file) => rawFile(repository.objectFormat, worktree.path, file)),
    );
    for (const [at, file] of paths.entries()) {
      const raw = raws[at] ?? null;
      const known = request.edits.some(
        ({ before, after }) => raw !== null && [before, after].includes(raw.entry.id),
      );
      if (raw !== null) blobs.add(raw.bytes, known);
      entries.set(file, raw?.entry ?? null);
    }
    return entries;
  }
  const stored = await entriesAt(runner, repository.topLevel, worktree.base, paths);
  const entries = new Map<string, Entry | null>(stored);
  const firstBefore = new Map([...request.edits].reverse().map((edit) => [edit.path, edit.before]));
  for (const [file, entry] of stored) {
    // Where the child found just these bytes, no filter stands between the store and the disk.
    if (firstBefore.get(file) === entry.id || entry.mode === '120000') continue;
    const spec = `${worktree.base}:${file}`;
    const smudged = await runner.run(repository.topLevel, ['cat-file', '--filters', spec], {
      expect: [0, 128],
    });
    if (smudged.exitCode !== 0) continue;
    const id = blobId(repository.objectFormat, smudged.stdout);
    if (id !== entry.id) entries.set(file, { mode: entry.mode, id: blobs.add(smudged.stdout) });
  }
  return entries;
}

/** The blobs that a commit has at these paths. */
export async function entriesAt(
  runner: GitRunner,
  top: string,
  commit: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, Entry>> {
  const entries = new Map<string, Entry>();
  for (let at = 0; at < paths.length; at += 500) {
    const some = paths.slice(at, at + 500);
    const listed = await runner.run(top, ['ls-tree', '-z', '--full-tree', commit, '--', ...some], {
      environment: literalPaths,
    });
    for (const line of splitNul(listed.stdout)) {
      const tab = line.indexOf('\t');
      const [mode = '', type = '', id = ''] = line.slice(0, tab).split(' ');
      if (type === 'blob') entries.set(line.slice(tab + 1), { mode, id });
    }
  }
  return entries;
}

/** What a path held when the child wrote it for the first time. */
function firstBefore(edits: readonly Edit[]): { readonly entry: Entry | null } {
  const [first] = edits;
  return { entry: first === undefined ? null : beforeOf(first) };
}

export function groupByPath(edits: readonly Edit[]): ReadonlyMap<string, readonly Edit[]> {
  const groups = new Map<string, Edit[]>();
  for (const edit of edits) groups.set(edit.path, [...(groups.get(edit.path) ?? []), edit]);
  return groups;
}

/** Who else wrote the path, as far as the ledgers know; else it was a person. */
function whoElse(
  file: string,
  request: { readonly child: string; readonly others: readonly ChildEdits[] },
): string[] {
  const names = request.others
    .filter(
      ({ child, edits }) => child !== request.child && liveEdits(edits).some((edit) => edit.path === file),
    )
    .map(({ child }) => child);
  return names.length === 0 ? [userName] : names;
}

export function whoMayBe(edits: readonly Edit[], known: readonly string[]): readonly string[] {
  const names = new Set(edits.flatMap(({ others }) => others));
  return names.size > 0 ? [...names] : known;
}

function isInside(file: string): boolean {
  const parts = file.split('/');
  return (
    file !== '' &&
    !path.isAbsolute(file) &&
    !parts.some((part) => part === '..' || part === '' || part.toLowerCase() === '.git')
  );
}

function inSubmodule(repository: Repository, file: string): boolean {
  return repository.submodules.some((folder) => file === folder || file.startsWith(`${folder}/`));
}

/** Whether one of the path's folders is a link, so that it leads to somewhere else. */
export function behindLink(top: string, file: string): boolean {
  for (let folder = path.dirname(file); folder !== '.'; folder = path.dirname(folder)) {
    if (isLink(path.join(top, folder))) return true;
  }
  return false;
}

function isLink(place: string): boolean {
  try {
    return lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch {
    return false;
  }
}

function change(file: string, from: Entry | null, to: Entry | null): Edit {
  return {
    path: file,
    before: from?.id ?? null,
    beforeMode: from?.mode ?? null,
    after: to?.id ?? null,
    afterMode: to?.mode ?? null,
    tool: 'quarantine',
    attempt: 0,
    at: 0,
    confidence: 'exact',
    others: [],
  };
}

function lineOf(move: Move): Edit {
  return { ...change(move.path, move.found, move.restored), at: Date.now() };
}
