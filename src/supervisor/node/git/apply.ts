import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { userName } from '../../core/keys.js';
import type {
  ApplyOutcome,
  ApplyPlan,
  ApplyRequest,
  CheckOutcome,
  ChildWork,
  Refusal,
  Repository,
} from '../../ports/git.js';
import { captureUserTree } from './capture.js';
import { treeDifferences, type TreeDifference } from './changes.js';
import { checkTree } from './check.js';
import { branchCommit, commitOnHead, stagedPaths } from './commit.js';
import { operationUnderWay, refuse } from './inspect.js';
import { filesOf, folded, foldsCase, foldNames } from './letterCase.js';
import { moveIntoTree, signatureNow, stageDifferences, TreeMoved, type Signature } from './materialise.js';
import { conflictsOf, mergeTrees, type Conflict, type UserTree } from './merge.js';
import { PathTooLong } from './reach.js';
import { splitNul, type GitRunner } from './runner.js';
import { treeOf } from './snapshot.js';
import { errorsAdded, isWorse } from './worse.js';
import { shortened } from './worktree.js';

/** How often an apply begins again because somebody wrote to the user's tree in between. */
const mostTries = 3;

const nothing: ApplyOutcome = { applied: [], conflicts: [], red: [], check: null, refusal: null };

/**
 * Brings finished children into the user's tree: merged in the object store, checked on the scratch tree, and only
 * then written. What conflicts or makes the check red stays out, whole.
 */
export async function applyChildren(
  runner: GitRunner,
  repository: Repository,
  request: ApplyRequest,
): Promise<ApplyOutcome> {
  if (request.children.length === 0) return nothing;
  const refusal = await mayApply(runner, repository, request);
  if (refusal !== null) return { ...nothing, refusal };
  let moved = '';
  for (let attempt = 0; attempt < mostTries; attempt += 1)
    try {
      return await applyOnce(runner, repository, request);
    } catch (error) {
      if (error instanceof PathTooLong) return { ...nothing, refusal: tooLong(repository, error.path) };
      if (!(error instanceof TreeMoved)) throw error;
      moved = error.path;
    }
  return {
    ...nothing,
    refusal: refuse(
      'other',
      `${moved} is being changed right now.`,
      'Save and pause your edits, then apply again.',
    ),
  };
}

/** Where the children's work is merged to, besides the user's files. */
interface Line {
  readonly tree: string;
  /** HEAD's side in the modes that commit; null otherwise. */
  readonly head: string | null;
}

async function applyOnce(
  runner: GitRunner,
  repository: Repository,
  request: ApplyRequest,
): Promise<ApplyOutcome> {
  const top = repository.topLevel;
  const headTree = await treeOf(runner, top, 'HEAD');
  const user: UserTree =
    request.mode === 'branch' ? { tree: headTree, unmerged: [] } : await captureUserTree(runner, repository);
  const from = user.tree;
  const start: Line = { tree: from, head: request.mode === 'commit' ? headTree : null };
  const forecast = await conflictsOf(runner, top, user, request.children);
  const staged = request.mode === 'commit' ? await stagedPaths(runner, top) : [];
  const taboo = new Set([...staged, ...user.unmerged]);

  const conflicts = new Map<string, readonly Conflict[]>();
  let line = start;
  let taken: ChildWork[] = [];
  for (const child of cleanestFirst(request.children, forecast)) {
    const blocked = await blockedPaths(runner, repository, request, child, from, taboo);
    const next = await extend(runner, top, line, child);
    if (blocked.length > 0) conflicts.set(child.id, blocked);
    else if (next.conflicts.length > 0) {
      const known = (forecast.get(child.id) ?? []).filter(
        ({ who }) => who === userName || taken.some(({ id }) => id === who),
      );
      conflicts.set(child.id, known.length > 0 ? known : next.conflicts.map(withUser));
    } else {
      line = next.line;
      taken.push(child);
    }
  }

  const red = new Map<string, CheckOutcome>();
  let check: CheckOutcome | null = null;
  if (request.check !== null && taken.length > 0) {
    const command = request.check;
    const checked = (tree: string): Promise<CheckOutcome> =>
      checkTree(runner, repository, request.scratch, tree, command, null);
    check = await checked(line.tree);
    if (check.notRun !== undefined) return { ...nothing, check, refusal: cannotCheck(check.notRun) };
    if (check.exitCode !== 0) {
      const sorted = await takeGreen(runner, top, start, taken, checked, conflicts);
      ({ line, taken, check } = sorted);
      for (const [id, outcome] of sorted.red) red.set(id, outcome);
    }
  }

  const refusal = taken.length === 0 ? null : await finish(runner, repository, request, start, line, taken);
  return {
    applied: refusal === null ? taken.map(({ id }) => id) : [],
    conflicts: [...conflicts].map(([id, found]) => ({ id, with: found })),
    red: [...red].map(([id, outcome]) => ({
      id,
      // A check that fails without a message we can read has failed all the same.
      errors: Math.max(1, errorsAdded(check, outcome)),
      output: outcome.output,
      tree: outcome.tree,
    })),
    check,
    refusal,
  };
}

/** The merge of one more child into the line, or where it conflicts. */
async function extend(
  runner: GitRunner,
  top: string,
  line: Line,
  child: ChildWork,
): Promise<{ readonly line: Line; readonly conflicts: readonly string[] }> {
  const work = await treeOf(runner, top, child.commit);
  const merged = await mergeTrees(runner, top, child.base, line.tree, work);
  if (merged.conflicts.length > 0) return { line, conflicts: merged.conflicts };
  const clashing = await clashingNames(runner, top, line.tree, child);
  if (clashing.length > 0) return { line, conflicts: clashing };
  if (line.head === null) return { line: { tree: merged.tree, head: null }, conflicts: [] };
  const onHead = await mergeTrees(runner, top, child.base, line.head, work);
  return onHead.conflicts.length > 0
    ? { line, conflicts: onHead.conflicts }
    : { line: { tree: merged.tree, head: onHead.tree }, conflicts: [] };
}

/** New files of the child whose names the disk, or that of whoever gets the work, takes for one in the line. */
async function clashingNames(
  runner: GitRunner,
  top: string,
  tree: string,
  child: ChildWork,
): Promise<readonly string[]> {
  if (!(await foldsCase(runner, top))) return [];
  const work = await treeDifferences(runner, top, child.base, child.commit, 'pathsOnly');
  const added = work.filter(({ kind }) => kind === 'A');
  if (added.length === 0) return [];
  const gone = new Set(work.filter(({ kind }) => kind === 'D').map(({ path: file }) => file));
  const names = foldNames(await filesOf(runner, top, tree));
  return added.map(({ path: file }) => file).filter((file) => names.clashOf(file, gone) !== null);
}

interface Sorted {
  readonly line: Line;
  readonly taken: ChildWork[];
  readonly check: CheckOutcome;
  readonly red: ReadonlyMap<string, CheckOutcome>;
}

/**
 * All together are red: takes them one at a time and keeps those that make nothing worse. Goes round until no more
 * can be taken, because one may need what another brings.
 */
async function takeGreen(
  runner: GitRunner,
  top: string,
  start: Line,
  children: readonly ChildWork[],
  checked: (tree: string) => Promise<CheckOutcome>,
  conflicts: Map<string, readonly Conflict[]>,
): Promise<Sorted> {
  let line = start;
  let check = await checked(start.tree);
  const taken: ChildWork[] = [];
  const red = new Map<string, CheckOutcome>();
  let left = [...children];
  for (let grew = true; grew && left.length > 0;) {
    grew = false;
    const still: ChildWork[] = [];
    for (const child of left) {
      const next = await extend(runner, top, line, child);
      if (next.conflicts.length > 0) {
        conflicts.set(child.id, next.conflicts.map(withUser));
        continue;
      }
      const outcome = await checked(next.line.tree);
      if (isWorse(check, outcome)) {
        red.set(child.id, outcome);
        still.push(child);
        continue;
      }
      red.delete(child.id);
      line = next.line;
      check = outcome;
      taken.push(child);
      grew = true;
    }
    left = still;
  }
  return { line, taken, check, red };
}

async function finish(
  runner: GitRunner,
  repository: Repository,
  request: ApplyRequest,
  start: Line,
  line: Line,
  taken: readonly ChildWork[],
): Promise<Refusal | null> {
  const top = repository.topLevel;
  // It may have begun while the check ran.
  const busy = request.mode === 'branch' ? null : await operationRefusal(repository);
  if (busy !== null) return busy;
  const head = await runner.text(top, ['rev-parse', '--verify', 'HEAD^{commit}']);
  const message = request.mode === 'uncommitted' ? '' : request.label;
  const newHead =
    request.mode === 'commit' && line.head !== null && line.head !== start.head
      ? await branchCommit(runner, top, line.head, head, message)
      : null;
  const differences =
    request.mode === 'branch' ? [] : await treeDifferences(runner, top, start.tree, line.tree, 'pathsOnly');
  const plan: ApplyPlan = {
    children: taken.map(({ id }) => id),
    from: start.tree,
    to: line.tree,
    paths: differences.map(({ path: file }) => file),
    ...(newHead === null ? {} : { commit: { from: head, to: newHead } }),
  };
  if (request.mode === 'branch') {
    const commit = await branchCommit(runner, top, line.tree, head, message);
    await request.beforeWrite(plan);
    await runner.run(top, ['update-ref', `refs/heads/${request.label}`, commit, '']);
    return null;
  }
  await writeDifferences(runner, repository, start.tree, differences, () => request.beforeWrite(plan));
  return newHead === null ? null : commitOnHead(runner, repository, head, newHead);
}

/**
 * Writes the difference between the user's tree as it was captured and the merged tree. Throws `TreeMoved`, with all
 * as it was, if one of these paths is no longer what was merged.
 */
export async function writeDifferences(
  runner: GitRunner,
  repository: Repository,
  from: string,
  differences: readonly TreeDifference[],
  beforeWrite: () => Promise<void>,
): Promise<void> {
  if (differences.length === 0) return beforeWrite();
  const top = repository.topLevel;
  const stage = await stageDifferences(runner, top, repository.gitDir, differences);
  try {
    const signatures = new Map<string, Signature>();
    for (const { path: file } of differences) signatures.set(file, signatureNow(path.join(top, file)));
    const now = await captureUserTree(runner, repository);
    const moved = new Set(
      (await treeDifferences(runner, top, from, now.tree, 'pathsOnly')).map(({ path: file }) => file),
    );
    const lost = differences.find(({ path: file }) => moved.has(file));
    if (lost !== undefined) throw new TreeMoved(lost.path);
    await beforeWrite();
    await moveIntoTree(top, stage, differences, signatures);
  } finally {
    await stage.remove();
  }
}

/** Paths of the child that lie on something of the user's which no tree shows: an ignored file, a staged edit, an open conflict. */
async function blockedPaths(
  runner: GitRunner,
  repository: Repository,
  request: ApplyRequest,
  child: ChildWork,
  from: string,
  taboo: ReadonlySet<string>,
): Promise<readonly Conflict[]> {
  if (request.mode === 'branch') return [];
  const top = repository.topLevel;
  const work = await treeDifferences(runner, top, child.base, child.commit, 'pathsOnly');
  const blocked: Conflict[] = [];
  const added = new Set<string>();
  for (const { path: file, kind } of work)
    if (taboo.has(file)) blocked.push(withUser(file));
    else if (kind !== 'D') for (const found of await inTheWay(top, file)) added.add(found);
  if (added.size === 0) return blocked;
  const listed = await runner.run(top, ['ls-tree', '-r', '-t', '-z', '--name-only', '--full-tree', from]);
  const name = (await foldsCase(runner, top)) ? folded : (file: string) => file;
  const shown = new Set(splitNul(listed.stdout).map(name));
  return [...blocked, ...[...added].filter((file) => !shown.has(name(file))).map(withUser)];
}

/** What stands where a file is to go: something of that name, or a file in place of one of its folders. */
async function inTheWay(top: string, file: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (let at = file; at !== '.'; at = path.posix.dirname(at)) {
    const stats = await lstat(path.join(top, at)).catch(() => null);
    if (stats !== null && (at === file || !stats.isDirectory())) found.push(at);
  }
  return found;
}

function withUser(file: string): Conflict {
  return { who: userName, path: file };
}

async function mayApply(
  runner: GitRunner,
  repository: Repository,
  request: ApplyRequest,
): Promise<Refusal | null> {
  const head = await runner.run(repository.topLevel, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], {
    expect: [0, 1, 128],
  });
  if (head.exitCode !== 0)
    return refuse(
      'noCommit',
      'The branch that is checked out has no commit yet.',
      'Make a first commit or check out another branch, then apply again.',
    );
  if (request.mode === 'branch') {
    const valid = await runner.run(repository.topLevel, ['check-ref-format', '--branch', request.label], {
      expect: [0, 1, 128],
    });
    if (valid.exitCode !== 0)
      return refuse('other', `"${request.label}" is no name for a branch.`, 'Give another name.');
    const there = await runner.run(
      repository.topLevel,
      ['show-ref', '--verify', '--quiet', `refs/heads/${request.label}`],
      { expect: [0, 1] },
    );
    return there.exitCode === 0
      ? refuse('pathTaken', `The branch ${request.label} exists already.`, 'Give another name.')
      : null;
  }
  return operationRefusal(repository);
}

async function operationRefusal(repository: Repository): Promise<Refusal | null> {
  const operation = await operationUnderWay(repository.gitDir);
  return operation === null
    ? null
    : refuse(
        'midOperation',
        `A ${operation} is under way in ${repository.topLevel}.`,
        `Finish or abort the ${operation}, then apply again.`,
      );
}

/** The wanted order, with those that conflict with fewest others first. */
function cleanestFirst(
  children: readonly ChildWork[],
  forecast: ReadonlyMap<string, readonly Conflict[]>,
): readonly ChildWork[] {
  const weight = (child: ChildWork): number =>
    new Set((forecast.get(child.id) ?? []).map(({ who }) => who)).size;
  return [...children].sort((left, right) => weight(left) - weight(right));
}

function tooLong(repository: Repository, file: string): Refusal {
  return refuse(
    'pathTooLong',
    `The path of ${shortened(file)} is too long for ${repository.topLevel}.`,
    'Shorten it in the worktree of the child, or apply to a branch.',
  );
}

function cannotCheck(reason: string): Refusal {
  return refuse(
    'other',
    `The check could not run: ${reason}`,
    'Mend the check command, or apply without a check.',
  );
}
