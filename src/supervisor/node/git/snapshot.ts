import path from 'node:path';
import type { Change, Repository, Snapshot, SnapshotRequest, Worktree } from '../../ports/git.js';
import { captureTree, captureUserTree, type Capture } from './capture.js';
import { changesBetween, treeDifferences, verifyObjects } from './changes.js';
import { objectFolders, refFolders, syncFolders } from './durable.js';
import { GitError, splitNul, type GitRunner } from './runner.js';
import { gitDirOf, pristineIndexOf } from './worktreeFiles.js';
import { tieWorktree } from './worktreeLink.js';

/** Who our commits are by, where they are not the user's. */
export const ourIdentity: Readonly<Record<string, string>> = {
  GIT_AUTHOR_NAME: 'Swarm Panel',
  GIT_AUTHOR_EMAIL: 'swarm-panel@localhost',
  GIT_COMMITTER_NAME: 'Swarm Panel',
  GIT_COMMITTER_EMAIL: 'swarm-panel@localhost',
};

/** A verified and synced commit of everything that differs between the worktree and its base; null for no change. */
export async function takeSnapshot(runner: GitRunner, request: SnapshotRequest): Promise<Snapshot | null> {
  const { worktree, repository, ref, previous } = request;
  await tieWorktree(repository, worktree.path);
  const { tree, skipped } = await captureWorktree(runner, worktree);
  request.onSkipped?.(skipped);
  const before = await treeOf(runner, worktree.path, previous ?? worktree.base);
  if (tree === before) return null;
  return keepTree(runner, repository, { tree, base: worktree.base, ref, message: request.message });
}

/** The worktree's files as a tree object. */
export async function captureWorktree(runner: GitRunner, worktree: Worktree): Promise<Capture> {
  const gitDir = await gitDirOf(worktree.path);
  if (gitDir === null) throw new Error(`${worktree.path} is no worktree`);
  return captureTree(runner, {
    folder: worktree.path,
    gitDir,
    start: { index: pristineIndexOf(gitDir), tree: worktree.base },
    inputs: worktree.inputs,
    extra: await addedByForce(runner, worktree),
    embedded: 'take',
  });
}

/** What differs between base and the worktree as it is now. */
export async function worktreeChanges(runner: GitRunner, worktree: Worktree): Promise<readonly Change[]> {
  const { tree } = await captureWorktree(runner, worktree);
  return changesBetween(runner, worktree.path, worktree.base, tree);
}

/** HEAD, or a commit of HEAD plus the user's uncommitted changes under `ref`. */
export async function baseCommit(
  runner: GitRunner,
  repository: Repository,
  options: { readonly uncommitted: boolean; readonly ref: string },
): Promise<string> {
  const head = await runner.text(repository.topLevel, ['rev-parse', '--verify', 'HEAD^{commit}']);
  if (!options.uncommitted) return head;
  const kept = await runner.run(
    repository.topLevel,
    ['rev-parse', '--verify', '--quiet', `${options.ref}^{commit}`],
    { expect: [0, 1, 128] },
  );
  if (kept.exitCode === 0) return kept.stdout.toString().trim();
  const { tree } = await captureUserTree(runner, repository);
  if (tree === (await treeOf(runner, repository.topLevel, head))) return head;
  const message = 'Base: HEAD and uncommitted changes';
  return (await keepTree(runner, repository, { tree, base: head, ref: options.ref, message })).commit;
}

/** Makes a commit of `tree` on `base`, puts `ref` on it, and comes back when all of it is verified and on disk. */
export async function keepTree(
  runner: GitRunner,
  repository: Repository,
  what: {
    readonly tree: string;
    readonly base: string;
    readonly ref: string;
    readonly message: string;
  },
): Promise<Snapshot> {
  const { tree, base, ref, message } = what;
  const folder = repository.topLevel;
  const commit = await commitTree(runner, folder, tree, base, message);
  const [differences, changes] = await Promise.all([
    treeDifferences(runner, folder, base, tree, 'pathsOnly'),
    changesBetween(runner, folder, base, tree),
  ]);
  const blobs = differences.filter(({ toMode }) => toMode !== '160000').map(({ to }) => to);
  await verifyObjects(runner, folder, [commit, tree, ...blobs]);
  const kept = await createRef(runner, folder, ref, commit, tree);
  const ids = [kept, tree, ...blobs.filter((id) => !/^0+$/.test(id))];
  await syncFolders([...objectFolders(repository.commonDir, ids), ...refFolders(repository.commonDir, ref)]);
  return { ref, commit: kept, tree, changes };
}

export function treeOf(runner: GitRunner, folder: string, commit: string): Promise<string> {
  return runner.text(folder, ['rev-parse', '--verify', `${commit}^{tree}`]);
}

/** A commit object with one parent and our identity. */
export function commitTree(
  runner: GitRunner,
  folder: string,
  tree: string,
  parent: string,
  message: string,
): Promise<string> {
  return runner.text(folder, ['commit-tree', tree, '-p', parent, '-F', '-'], {
    input: message,
    environment: ourIdentity,
  });
}

/** Puts a new ref on `commit`. A ref that is there already is kept if it has the same tree, else moved on. */
async function createRef(
  runner: GitRunner,
  folder: string,
  ref: string,
  commit: string,
  tree: string,
): Promise<string> {
  try {
    await runner.run(folder, ['update-ref', '--no-deref', ref, commit, '']);
    return commit;
  } catch (error) {
    const old = await runner.run(folder, ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`], {
      expect: [0, 1, 128],
    });
    if (!(error instanceof GitError) || old.exitCode !== 0) throw error;
    const there = old.stdout.toString().trim();
    if ((await treeOf(runner, folder, there)) === tree) return there;
    // Made by a run that died before it could say so; the files have moved on since.
    await runner.run(folder, ['update-ref', '--no-deref', ref, commit, there]);
    return commit;
  }
}

/** Files that the agent itself put into the worktree's index although they are ignored. */
async function addedByForce(runner: GitRunner, worktree: Worktree): Promise<readonly string[]> {
  const added = await runner.run(
    worktree.path,
    ['diff-index', '-z', '--cached', '--name-only', '--diff-filter=A', '--no-renames', worktree.base],
    { expect: [0, 1, 128] },
  );
  return added.exitCode === 128
    ? []
    : splitNul(added.stdout).filter((file) => path.posix.normalize(file) === file);
}
