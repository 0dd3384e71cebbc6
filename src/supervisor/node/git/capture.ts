import path from 'node:path';
import { lstat } from 'node:fs/promises';
import type { Repository, Skipped } from '../../ports/git.js';
import { lookInside } from './embedded.js';
import { GitError, joinNul, splitNul, type GitRunner } from './runner.js';
import { withTemporaryIndex, type IndexStart, type TemporaryIndex } from './temporaryIndex.js';
import { untrackedFiles } from './untracked.js';

/** A tree object of the files as they are, and what could not go into it. */
export interface Capture {
  readonly tree: string;
  readonly skipped: readonly Skipped[];
  /** Repositories inside the tree whose files were taken in as plain files. */
  readonly repositories: readonly string[];
  /** Paths with a conflict that nobody has settled yet. */
  readonly unmerged: readonly string[];
}

export interface CaptureRequest {
  /** Top of the working tree. */
  readonly folder: string;
  readonly gitDir: string;
  readonly start: IndexStart;
  /** Paths that belong to nobody's work. */
  readonly inputs: readonly string[];
  /** Paths to take in although they may be ignored, e.g. what an agent added by force. */
  readonly extra: readonly string[];
  /** Whether files of repositories that were made inside the tree are taken in, or left to whoever made them. */
  readonly embedded: 'take' | 'leave';
}

/**
 * Writes a tree of the working tree as it is: tracked files, and untracked ones that are not ignored. Objects only;
 * no ref, no index and no file of the user's or the agent's is touched.
 */
export function captureTree(runner: GitRunner, request: CaptureRequest): Promise<Capture> {
  return withTemporaryIndex(runner, request.folder, request.gitDir, request.start, async (index) => {
    const [differing, untracked] = await Promise.all([
      differingPaths(runner, request.folder, index),
      untrackedFiles(runner, request.folder, index.environment),
    ]);
    const skipped: Skipped[] = [...differing.skipped];
    const isInput = matcher(request.inputs);
    const present = new Set(differing.present.filter((file) => !isInput(file)));
    const repositories: string[] = [];
    for (const file of untracked)
      if (isInput(file.replace(/\/$/, ''))) continue;
      else if (file.endsWith('/')) repositories.push(file);
      else present.add(file);
    const inside =
      request.embedded === 'take'
        ? await lookInside(runner, request.folder, index, repositories)
        : { files: [], folders: [], left: [] };
    skipped.push(...inside.left);
    for (const file of inside.files) if (!isInput(file)) present.add(file);
    for (const file of request.extra)
      if (!isInput(file) && (await isFile(path.join(request.folder, file)))) present.add(file);

    await removeEntries(runner, request.folder, index, differing.gone);
    skipped.push(...(await addFiles(runner, request.folder, index, [...present])));
    const tree = await runner.text(request.folder, ['write-tree'], { environment: index.environment });
    return { tree, skipped, repositories: inside.folders, unmerged: differing.unmerged };
  });
}

/** The user's tree (HEAD + everything uncommitted) as a tree object. */
export function captureUserTree(runner: GitRunner, repository: Repository): Promise<Capture> {
  return captureTree(runner, {
    folder: repository.topLevel,
    gitDir: repository.gitDir,
    start: { index: path.join(repository.gitDir, 'index'), tree: 'HEAD' },
    inputs: [],
    extra: [],
    embedded: 'leave',
  });
}

/** Takes paths out of a temporary index, whatever stands in their place on disk. */
export async function removeEntries(
  runner: GitRunner,
  folder: string,
  index: TemporaryIndex,
  paths: readonly string[],
): Promise<void> {
  if (paths.length === 0) return;
  await runner.run(folder, ['update-index', '--force-remove', '-z', '--stdin'], {
    environment: index.environment,
    input: joinNul(paths),
  });
}

/** Puts files as they are on disk into a temporary index; gives back what could not be read. */
export async function addFiles(
  runner: GitRunner,
  folder: string,
  index: TemporaryIndex,
  paths: readonly string[],
): Promise<readonly Skipped[]> {
  if (paths.length === 0) return [];
  try {
    await updateIndex(runner, folder, index, paths);
    return [];
  } catch (error) {
    if (!isPathError(error)) throw error;
  }
  const filtered = await filteredPaths(runner, folder, index, paths);
  const plain = paths.filter((file) => !filtered.has(file));
  const skipped: Skipped[] = [];
  for (const group of [plain, [...filtered]])
    try {
      if (group.length > 0) await updateIndex(runner, folder, index, group);
    } catch (error) {
      if (!isPathError(error)) throw error;
      for (const file of group) {
        const reason = await addOne(runner, folder, index, file);
        if (reason !== null) skipped.push({ path: file, reason });
      }
    }
  return skipped;
}

async function addOne(
  runner: GitRunner,
  folder: string,
  index: TemporaryIndex,
  file: string,
): Promise<string | null> {
  try {
    await updateIndex(runner, folder, index, [file]);
    return null;
  } catch (error) {
    if (!isPathError(error)) throw error;
  }
  // A clean filter is missing or failed: the bytes as they are beat no bytes.
  try {
    const stats = await lstat(path.join(folder, file));
    const oid = await runner.text(folder, ['hash-object', '-w', '--no-filters', '--', file]);
    const mode = stats.mode & 0o100 ? '100755' : '100644';
    await runner.run(folder, ['update-index', '-z', '--add', '--replace', '--index-info'], {
      environment: index.environment,
      input: `${mode} ${oid}\t${file}\0`,
    });
    return null;
  } catch (error) {
    if (error instanceof GitError && error.code === 'ENOSPC') throw error;
    return error instanceof Error ? error.message : String(error);
  }
}

async function updateIndex(
  runner: GitRunner,
  folder: string,
  index: TemporaryIndex,
  paths: readonly string[],
): Promise<void> {
  await runner.run(folder, ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'], {
    environment: index.environment,
    input: joinNul(paths),
  });
}

function isPathError(error: unknown): boolean {
  return error instanceof GitError && error.code !== 'ENOSPC' && error.code !== 'EDQUOT';
}

async function filteredPaths(
  runner: GitRunner,
  folder: string,
  index: TemporaryIndex,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  const answer = await runner.run(folder, ['check-attr', '-z', '--stdin', 'filter'], {
    environment: index.environment,
    input: joinNul(paths),
  });
  const fields = splitNul(answer.stdout);
  const filtered = new Set<string>();
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [file, , value] = fields.slice(at, at + 3);
    if (file !== undefined && value !== 'unspecified' && value !== 'unset') filtered.add(file);
  }
  return filtered;
}

interface Differing {
  readonly unmerged: readonly string[];
  readonly present: readonly string[];
  readonly gone: readonly string[];
  readonly skipped: readonly Skipped[];
}

async function differingPaths(runner: GitRunner, folder: string, index: TemporaryIndex): Promise<Differing> {
  const raw = await runner.run(folder, ['diff-files', '-z', '--raw', '--ignore-submodules=dirty'], {
    environment: index.environment,
    expect: [0, 1],
  });
  const fields = splitNul(raw.stdout);
  const present = new Set<string>();
  const gone: string[] = [];
  const skipped: Skipped[] = [];
  const unmerged: string[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [head, file] = fields.slice(at, at + 2);
    if (head === undefined || file === undefined) continue;
    const [from, , , , status] = head.slice(1).split(' ');
    if (status === 'U') unmerged.push(file);
    if (status === 'D') gone.push(file);
    else if (status === 'U' && !(await isFile(path.join(folder, file)))) gone.push(file);
    else if (from === '160000') skipped.push({ path: file, reason: 'a submodule at another commit' });
    else present.add(file);
  }
  return { present: [...present], gone, skipped, unmerged };
}

/** Whether a path is one of `inputs` or below one. */
export function matcher(inputs: readonly string[]): (file: string) => boolean {
  const names = new Set(inputs);
  return (file) => {
    if (names.size === 0) return false;
    for (let end = file.length; end > 0; end = file.lastIndexOf('/', end - 1))
      if (names.has(file.slice(0, end))) return true;
    return false;
  };
}

async function isFile(file: string): Promise<boolean> {
  return lstat(file).then(
    (stats) => !stats.isDirectory(),
    () => false,
  );
}
