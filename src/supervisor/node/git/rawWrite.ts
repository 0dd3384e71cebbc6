import path from 'node:path';
import type { Entry } from '../../ports/sharedTree.js';
import { rawFile, readBlobs, sameEntry, writeRaw } from './blobs.js';
import {
  createStage,
  moveIntoTree,
  signatureNow,
  syncStaged,
  TreeMoved,
  type Signature,
  type Stage,
} from './materialise.js';
import type { GitRunner } from './runner.js';
import type { Repository } from '../../ports/git.js';

/** One path to bring from one content to another; null: no file. */
export interface RawWrite {
  readonly path: string;
  readonly from: Entry | null;
  readonly to: Entry | null;
}

/** Bytes by the id of their blob. */
export type BytesOf = ReadonlyMap<string, Buffer>;

/** Which paths are as wanted now, and the blobs that they were written from; which were left alone. */
export interface RawOutcome {
  readonly done: readonly string[];
  readonly stored: ReadonlySet<string>;
  readonly moved: readonly string[];
  /** Resolves when nothing is left beside the tree. */
  readonly cleared: Promise<unknown>;
}

/**
 * Writes exact bytes into a tree in which others work. Paths that are neither what they should be nor what they should
 * become are left alone. `staged`: what `stageRaw` has made of the same paths, to save the time now; it is used up.
 */
export async function writeRawPaths(
  runner: GitRunner,
  format: Repository['objectFormat'],
  top: string,
  gitDir: string,
  writes: readonly RawWrite[],
  staged: Stage | null = null,
): Promise<RawOutcome> {
  const stored = new Set(staged === null ? [] : idsOf(writes));
  const done = new Set<string>();
  const moved = new Set<string>();
  let open = writes;
  let ready = staged;
  const used: Stage[] = [];
  let cleared: Promise<unknown>;
  try {
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
      if (due.length === 0) break;
      const stage = ready ?? (await stageRaw(gitDir, due, await readBlobs(runner, top, idsOf(due))));
      ready = null;
      used.push(stage);
      for (const id of idsOf(due)) stored.add(id);
      const lost = await moveStaged(top, stage, due, signatures);
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
  } finally {
    if (ready !== null) used.push(ready);
    cleared = Promise.all(used.map((stage) => stage.remove()));
  }
  return { done: [...done], stored, moved: [...moved], cleared };
}

/** The new contents of some paths beside the tree, on the disk. */
export async function stageRaw(
  gitDir: string,
  writes: readonly Pick<RawWrite, 'path' | 'to'>[],
  bytesOf: BytesOf,
): Promise<Stage> {
  const stage = createStage(gitDir, new Map(writes.map(({ path: file }, number) => [file, number])));
  try {
    for (const { path: file, to } of writes) {
      if (to === null) continue;
      const bytes = bytesOf.get(to.id);
      if (bytes === undefined) throw new Error(`the bytes of ${to.id} are not there`);
      await writeRaw(stage.placeOf(file), to.mode, bytes);
    }
    await syncStaged(
      stage,
      writes.flatMap(({ path: file, to }) => (to === null ? [] : [file])),
    );
    return stage;
  } catch (error) {
    await stage.remove();
    throw error;
  }
}

/** The path that moved in between, or null where all is written. */
async function moveStaged(
  top: string,
  stage: Stage,
  writes: readonly RawWrite[],
  signatures: ReadonlyMap<string, Signature>,
): Promise<string | null> {
  try {
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
  }
}

function idsOf(writes: readonly RawWrite[]): readonly string[] {
  return writes.flatMap(({ to }) => (to === null ? [] : [to.id]));
}
