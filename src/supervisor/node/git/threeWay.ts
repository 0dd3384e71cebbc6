import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Repository } from '../../ports/git.js';
import type { Edit, Entry } from '../../ports/sharedTree.js';
import { blobId, readBlob, sameEntry, writeBlobs } from './blobs.js';
import type { GitRunner } from './runner.js';

/** Bytes by their id: from memory while a plan is made, else from the object store. */
export interface BlobSource {
  read(id: string): Promise<Buffer>;
  /** Keeps bytes under their id; `stored`: they are in the object store. */
  add(bytes: Buffer, stored?: boolean): string;
  /** Writes what was added to the object store. */
  flush(): Promise<void>;
}

/** `overlap`: these edits cannot be told from somebody else's. */
export type Separated = { readonly entry: Entry | null } | 'overlap';

/** What is left of `current` without these edits (oldest first). */
export function takeOut(
  runner: GitRunner,
  blobs: BlobSource,
  current: Entry | null,
  edits: readonly Edit[],
): Promise<Separated> {
  const undone = (list: readonly Edit[]): readonly Step[] =>
    [...list].reverse().map((edit) => ({ from: afterOf(edit), to: beforeOf(edit) }));
  return inSteps(runner, blobs, current, undone(joined(edits)), undone(edits));
}

/** `current` with these edits (oldest first). */
export function putIn(
  runner: GitRunner,
  blobs: BlobSource,
  current: Entry | null,
  edits: readonly Edit[],
): Promise<Separated> {
  const done = (list: readonly Edit[]): readonly Step[] =>
    list.map((edit) => ({ from: beforeOf(edit), to: afterOf(edit) }));
  // One by one first: `current` may have the earlier ones already, and then their sum is not what is missing.
  return inSteps(runner, blobs, current, done(edits), done(joined(edits)));
}

interface Step {
  readonly from: Entry | null;
  readonly to: Entry | null;
}

/** The first way, or the second where the first overlaps with what others wrote in between. */
async function inSteps(
  runner: GitRunner,
  blobs: BlobSource,
  current: Entry | null,
  first: readonly Step[],
  second: readonly Step[],
): Promise<Separated> {
  for (const steps of first.length === second.length ? [first] : [first, second]) {
    let now: Separated = { entry: current };
    for (const { from, to } of steps) {
      now = await replaced(runner, blobs, now.entry, from, to);
      if (now === 'overlap') break;
    }
    if (now !== 'overlap') return now;
  }
  return 'overlap';
}

export function createBlobSource(runner: GitRunner, repository: Repository): BlobSource {
  const memory = new Map<string, Buffer>();
  const unwritten = new Map<string, Buffer>();
  return {
    async read(id) {
      const known = memory.get(id);
      if (known !== undefined) return known;
      const bytes = await readBlob(runner, repository.topLevel, id);
      memory.set(id, bytes);
      return bytes;
    },
    add(bytes, stored = false) {
      const id = blobId(repository.objectFormat, bytes);
      memory.set(id, bytes);
      if (!stored) unwritten.set(id, bytes);
      return id;
    },
    async flush() {
      await writeBlobs(runner, repository.topLevel, unwritten.values());
      unwritten.clear();
    },
  };
}

export function beforeOf(edit: Edit): Entry | null {
  return edit.before === null ? null : { id: edit.before, mode: edit.beforeMode ?? '100644' };
}

export function afterOf(edit: Edit): Entry | null {
  return edit.after === null ? null : { id: edit.after, mode: edit.afterMode ?? '100644' };
}

/** Edits one right after the other are one: fewer merges, and nothing in between to overlap with. */
function joined(edits: readonly Edit[]): Edit[] {
  const result: Edit[] = [];
  for (const edit of edits) {
    const last = result.at(-1);
    if (last !== undefined && sameEntry(afterOf(last), beforeOf(edit)))
      result[result.length - 1] = { ...edit, before: last.before, beforeMode: last.beforeMode };
    else result.push(edit);
  }
  return result.filter((edit) => !sameEntry(beforeOf(edit), afterOf(edit)));
}

/** `now` with the change from `from` to `to` made in it. */
async function replaced(
  runner: GitRunner,
  blobs: BlobSource,
  now: Entry | null,
  from: Entry | null,
  to: Entry | null,
): Promise<Separated> {
  if (sameEntry(now, from)) return { entry: to };
  if (sameEntry(now, to)) return { entry: now };
  if (now === null || from === null || to === null) return 'overlap';
  const mode = now.mode === from.mode ? to.mode : now.mode;
  if (now.id === from.id) return { entry: { id: to.id, mode } };
  if (now.id === to.id || from.id === to.id) return { entry: { id: now.id, mode } };
  if ([now, from, to].some((entry) => entry.mode === '120000')) return 'overlap';
  const merged = await mergeBytes(
    runner,
    await blobs.read(now.id),
    await blobs.read(from.id),
    await blobs.read(to.id),
  );
  return merged === null ? 'overlap' : { entry: { id: blobs.add(merged), mode } };
}

/** A three-way merge of bytes; null for a conflict or binary content. */
async function mergeBytes(
  runner: GitRunner,
  ours: Buffer,
  base: Buffer,
  theirs: Buffer,
): Promise<Buffer | null> {
  const folder = await mkdtemp(path.join(tmpdir(), 'swarm-merge-'));
  try {
    const files = ['ours', 'base', 'theirs'].map((name) => path.join(folder, name));
    await Promise.all([ours, base, theirs].map((bytes, at) => writeFile(files[at] ?? '', bytes)));
    const args = ['merge-file', '-p', '-q', ...files];
    const merged = await runner.run(folder, args, { expect: Array.from({ length: 256 }, (_, code) => code) });
    return merged.exitCode === 0 ? merged.stdout : null;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
