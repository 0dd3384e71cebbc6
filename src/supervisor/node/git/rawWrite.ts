import path from 'node:path';
import type { Entry } from '../../ports/sharedTree.js';
import { rawFile, readBlobs, sameEntry, writeRaw } from './blobs.js';
import { createStage, moveIntoTree, signatureNow, TreeMoved, type Signature } from './materialise.js';
import type { GitRunner } from './runner.js';
import type { Repository } from '../../ports/git.js';

/** One path to bring from one content to another; null: no file. */
export interface RawWrite {
  readonly path: string;
  readonly from: Entry | null;
  readonly to: Entry | null;
}

/**
 * Writes exact bytes into a tree in which others work. Gives back the paths that are as wanted now, and those that
 * were neither what they should have been nor what they should become; these are left alone.
 */
export async function writeRawPaths(
  runner: GitRunner,
  format: Repository['objectFormat'],
  top: string,
  gitDir: string,
  writes: readonly RawWrite[],
): Promise<{ readonly done: readonly string[]; readonly moved: readonly string[] }> {
  const done = new Set<string>();
  const moved = new Set<string>();
  let open = writes;
  while (open.length > 0) {
    const signatures = new Map<string, Signature>();
    const due: RawWrite[] = [];
    for (const { path: file } of open) signatures.set(file, signatureNow(path.join(top, file)));
    const raws = await Promise.all(open.map(({ path: file }) => rawFile(format, top, file)));
    for (const [at, write] of open.entries()) {
      const now = raws[at]?.entry ?? null;
      if (sameEntry(now, write.to)) done.add(write.path);
      else if (sameEntry(now, write.from)) due.push(write);
      else moved.add(write.path);
    }
    const lost = await tryWrite(runner, top, gitDir, due, signatures);
    if (lost === null) {
      for (const write of due) done.add(write.path);
      break;
    }
    // What stood in the way may be a folder of this path, not the path itself.
    const hit = due.find(({ path: file }) => file === lost || file.startsWith(`${lost}/`));
    if (hit === undefined) throw new TreeMoved(lost);
    moved.add(hit.path);
    open = due.filter((write) => write !== hit);
  }
  return { done: [...done], moved: [...moved] };
}

/** The path that moved in between, or null where all is written. */
async function tryWrite(
  runner: GitRunner,
  top: string,
  gitDir: string,
  writes: readonly RawWrite[],
  signatures: ReadonlyMap<string, Signature>,
): Promise<string | null> {
  if (writes.length === 0) return null;
  const stage = await createStage(gitDir);
  try {
    const ids = writes.flatMap(({ to }) => (to === null ? [] : [to.id]));
    const blobs = await readBlobs(runner, top, ids);
    await Promise.all(
      writes.map(async ({ path: file, to }) => {
        if (to === null) return;
        const bytes = blobs.get(to.id);
        if (bytes === undefined) throw new Error(`the object ${to.id} is not in the store`);
        await writeRaw(path.join(stage.folder, 'new', file), to.mode, bytes);
      }),
    );
    const differences = writes.map(({ path: file, to }) => ({
      path: file,
      kind: to === null ? ('D' as const) : ('M' as const),
      toMode: to?.mode ?? '000000',
    }));
    await moveIntoTree(top, stage, differences, signatures);
    return null;
  } catch (error) {
    if (error instanceof TreeMoved) return error.path;
    throw error;
  } finally {
    await stage.remove();
  }
}
