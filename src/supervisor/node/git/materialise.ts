import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { readdir, rm, rmdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { TreeDifference } from './changes.js';
import { syncFiles, syncFolders } from './durable.js';
import { isReachable, PathTooLong } from './reach.js';
import { joinNul, type GitRunner } from './runner.js';
import { withTemporaryIndex } from './temporaryIndex.js';

/** What a path on disk looked like, to see whether somebody wrote to it since. Null: nothing there. */
export type Signature = string | null;

export class TreeMoved extends Error {
  override readonly name = 'TreeMoved';

  constructor(readonly path: string) {
    super(`${path} was changed by somebody else`);
  }
}

/** Writes `differences` into a worktree of ours, where nobody else is at work. */
export async function checkOutDifferences(
  runner: GitRunner,
  folder: string,
  gitDir: string,
  differences: readonly TreeDifference[],
): Promise<void> {
  for (const { path: file } of differences.filter(({ kind }) => kind === 'D')) {
    await rm(path.join(folder, file), { force: true }).catch(() => undefined);
    removeEmptyFoldersNow(folder, file);
  }
  await checkOutEntries(runner, folder, gitDir, differences, folder);
}

export function signatureNow(file: string): Signature {
  try {
    const stats = lstatSync(file, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) return null;
    return stats.isDirectory() ? 'folder' : [stats.ino, stats.mode, stats.size, stats.mtimeNs].join(':');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return null;
    throw error;
  }
}

/**
 * The folder of staged files, which are on the disk, and of the backups of one write. It lies in the git directory: on
 * most machines one rename away.
 */
export interface Stage {
  readonly folder: string;
  /** Where the new content of a file is. */
  placeOf(file: string): string;
  /** Resolves also where something stays: the next start removes it. */
  remove(): Promise<void>;
}

/** An empty stage; `numbers` where each file has a short name of its own in it, whatever its path is. */
export function createStage(gitDir: string, numbers: ReadonlyMap<string, number> = new Map()): Stage {
  const folder = path.join(gitDir, 'swarm-panel', `stage-${process.pid}-${randomUUID()}`);
  mkdirSync(path.join(folder, 'new'), { recursive: true });
  mkdirSync(path.join(folder, 'old'));
  return {
    folder,
    placeOf: (file) => path.join(folder, 'new', String(numbers.get(file) ?? file)),
    remove: () => removeFolder(folder),
  };
}

/** File by file, which leaves threads for others: a file whose bytes are just on the way to the disk takes its time. */
async function removeFolder(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) await removeFolder(place);
    else await unlink(place).catch(() => undefined);
  }
  await rmdir(folder).catch(() => undefined);
}

/** Puts the new contents beside the tree, with line ends and filters as git would check them out. */
export async function stageDifferences(
  runner: GitRunner,
  folder: string,
  gitDir: string,
  differences: readonly TreeDifference[],
): Promise<Stage> {
  const stage = createStage(gitDir);
  try {
    const tooLong = writesOf(differences).find(
      ({ path: file }) => !isReachable(path.join(stage.folder, 'new'), file) || !isReachable(folder, file),
    );
    if (tooLong !== undefined) throw new PathTooLong(tooLong.path);
    await checkOutEntries(runner, folder, gitDir, differences, path.join(stage.folder, 'new'));
    await syncStaged(
      stage,
      writesOf(differences).map(({ path: file }) => file),
    );
    return stage;
  } catch (error) {
    await stage.remove();
    throw error;
  }
}

/**
 * Moves staged files into a tree in which people work. Each path is compared with its signature just before it is
 * replaced; if one has moved, all are put back and `TreeMoved` is thrown. Files are never seen half-written.
 */
export async function moveIntoTree(
  top: string,
  stage: Stage,
  differences: readonly Pick<TreeDifference, 'path' | 'kind' | 'toMode'>[],
  signatures: ReadonlyMap<string, Signature>,
): Promise<void> {
  const undo: (() => void)[] = [];
  const folders = new Set<string>();
  const deletions = differences.filter(({ kind }) => kind === 'D');
  const writes = writesOf(differences);
  try {
    // From here on nothing waits: the shorter this takes, the less can come in between.
    for (const [number, { path: file }] of deletions.entries()) {
      const target = path.join(top, file);
      assertUnmoved(target, file, signatures);
      if (signatureNow(target) === null) continue;
      const backup = path.join(stage.folder, 'old', `d${number}`);
      move(target, backup);
      undo.push(() => {
        mkdirSync(path.dirname(target), { recursive: true });
        move(backup, target);
      });
      removeEmptyFoldersNow(top, file);
    }
    for (const [number, { path: file }] of writes.entries()) {
      const target = path.join(top, file);
      const staged = stage.placeOf(file);
      assertUnmoved(target, file, signatures);
      assertRealFolders(top, file);
      const backup = path.join(stage.folder, 'old', `w${number}`);
      const existed = signatureNow(target) !== null;
      if (existed) keepCopy(target, backup);
      takeMode(target, staged);
      mkdirSync(path.dirname(target), { recursive: true });
      folders.add(path.dirname(target));
      assertUnmoved(target, file, signatures);
      move(staged, target);
      undo.push(() => {
        if (existed) move(backup, target);
        else rmSync(target, { force: true });
      });
    }
  } catch (error) {
    for (const step of undo.reverse()) step();
    throw error;
  }
  await syncFolders(folders);
}

/** Removes the folders above a deleted file that are empty now. */
function removeEmptyFoldersNow(top: string, file: string): void {
  for (let folder = path.dirname(file); folder !== '.' && folder !== ''; folder = path.dirname(folder))
    try {
      rmdirSync(path.join(top, folder));
    } catch {
      return;
    }
}

/** Checks out the new side of `differences` into `target` by an index that holds only them. */
async function checkOutEntries(
  runner: GitRunner,
  folder: string,
  gitDir: string,
  differences: readonly TreeDifference[],
  target: string,
): Promise<void> {
  const entries = writesOf(differences);
  if (entries.length === 0) return;
  await withTemporaryIndex(runner, folder, gitDir, { index: null, tree: null }, async (index) => {
    await runner.run(folder, ['update-index', '-z', '--add', '--index-info'], {
      environment: index.environment,
      input: joinNul(entries.map(({ toMode, to, path: file }) => `${toMode} ${to}\t${file}`)),
    });
    const prefix = target === folder ? [] : [`--prefix=${target}/`];
    await runner.run(folder, ['checkout-index', '--force', '-z', '--stdin', ...prefix], {
      environment: index.environment,
      input: joinNul(entries.map(({ path: file }) => file)),
    });
  });
}

function assertUnmoved(target: string, file: string, signatures: ReadonlyMap<string, Signature>): void {
  // A folder in a file's place is gone by now, if all that was in it was ours to delete.
  const known = signatures.get(file) ?? null;
  const expected = known === 'folder' ? null : known;
  if (signatureNow(target) !== expected) throw new TreeMoved(file);
}

/** No folder on the way may be a link: the file would land outside of the tree. */
function assertRealFolders(top: string, file: string): void {
  for (let folder = path.dirname(file); folder !== '.' && folder !== ''; folder = path.dirname(folder)) {
    const stats = lstatSync(path.join(top, folder), { throwIfNoEntry: false });
    if (stats !== undefined && !stats.isDirectory()) throw new TreeMoved(folder);
  }
}

/** Keeps what git does not know of a file's mode: who may read and write it. */
function takeMode(existing: string, staged: string): void {
  const old = lstatSync(existing, { throwIfNoEntry: false });
  const fresh = lstatSync(staged);
  if (old === undefined || !old.isFile() || !fresh.isFile()) return;
  const readable = (old.mode & 0o444) >> 2;
  const mode = fresh.mode & 0o100 ? (old.mode & 0o777) | readable : old.mode & 0o666;
  chmodSync(staged, mode);
}

function keepCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

function writesOf<Difference extends Pick<TreeDifference, 'kind' | 'toMode'>>(
  differences: readonly Difference[],
): readonly Difference[] {
  return differences.filter(({ kind, toMode }) => kind !== 'D' && toMode !== '160000');
}

/** Brings the contents of staged files to the disk. */
export async function syncStaged(stage: Stage, files: readonly string[]): Promise<void> {
  const places = files.map((file) => stage.placeOf(file));
  await syncFiles(places.filter((place) => lstatSync(place).isFile()));
}

/** Renames; across file systems by a copy beside the target, so that the target is still replaced in one step. */
function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error;
    const beside = `${to}.${randomUUID()}.tmp`;
    if (lstatSync(from).isSymbolicLink()) symlinkSync(readlinkSync(from), beside);
    else copyFileSync(from, beside);
    renameSync(beside, to);
    rmSync(from, { force: true });
  }
}
