import { createHash, randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Repository } from '../../ports/git.js';
import type { Entry } from '../../ports/sharedTree.js';
import { ourIdentity } from './snapshot.js';
import { GitError, type GitRunner } from './runner.js';

/** A file's bytes as they are on disk, with no filter in between. */
export interface RawFile {
  readonly entry: Entry;
  readonly bytes: Buffer;
}

/** So many bytes are read or written sooner than a thread is found for it, all the more on a busy machine. */
const small = 256 * 1024;

/** What is at a path now; null for nothing or a folder. A link's bytes are where it leads. */
export async function rawFile(
  format: Repository['objectFormat'],
  top: string,
  file: string,
): Promise<RawFile | null> {
  const target = path.join(top, file);
  try {
    const stats = lstatSync(target);
    if (stats.isSymbolicLink()) {
      const bytes = readlinkSync(target, { encoding: 'buffer' });
      return { entry: { mode: '120000', id: blobId(format, bytes) }, bytes };
    }
    if (!stats.isFile()) return null;
    const bytes = stats.size > small ? await readFile(target) : readFileSync(target);
    return { entry: { mode: stats.mode & 0o100 ? '100755' : '100644', id: blobId(format, bytes) }, bytes };
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return null;
    throw error;
  }
}

/** The name that git gives these bytes. */
export function blobId(format: Repository['objectFormat'], bytes: Uint8Array): string {
  return createHash(format).update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

export function sameEntry(left: Entry | null, right: Entry | null): boolean {
  return left === null || right === null ? left === right : left.id === right.id && left.mode === right.mode;
}

/** Stores blobs, all with one process and one sync. */
export async function writeBlobs(
  runner: GitRunner,
  folder: string,
  blobs: Iterable<Uint8Array>,
): Promise<void> {
  const parts: Uint8Array[] = [];
  for (const bytes of blobs)
    parts.push(Buffer.from(`blob\ndata ${bytes.length}\n`), bytes, Buffer.from('\n'));
  if (parts.length === 0) return;
  // So many go into a pack; should we be killed before it is let go, it is known for ours by this.
  const mark = importMark();
  if (parts.length / 3 >= fewBlobs) parts.push(Buffer.from(`blob\ndata ${mark.length}\n${mark}\n`));
  await runner.run(folder, ['-c', `fastimport.unpackLimit=${fewBlobs}`, 'fast-import', '--quiet'], {
    input: Buffer.concat([...parts, Buffer.from('done\n')]),
  });
}

/** Fewer become files of their own. */
const fewBlobs = 100;

/** What a pack of blobs has in it that we have made; always of the same length. */
export function importMark(id: string = randomUUID()): string {
  return `swarm-panel import ${id}`;
}

/** The bytes of a blob. */
export async function readBlob(runner: GitRunner, folder: string, id: string): Promise<Buffer> {
  return (await runner.run(folder, ['cat-file', 'blob', id])).stdout;
}

/** The bytes of many blobs by one process. */
export async function readBlobs(
  runner: GitRunner,
  folder: string,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, Buffer>> {
  const { bytes, missing } = await readStored(runner, folder, { read: ids, find: [] });
  for (const id of missing) throw new Error(`the object ${id} is not in the store`);
  return bytes;
}

/** The bytes of the blobs to `read`, and which of them and of those to `find` are not there, by one process. */
export async function readStored(
  runner: GitRunner,
  folder: string,
  ids: { readonly read: Iterable<string>; readonly find: Iterable<string> },
): Promise<{ readonly bytes: ReadonlyMap<string, Buffer>; readonly missing: ReadonlySet<string> }> {
  const read = new Set(ids.read);
  const find = new Set([...ids.find].filter((id) => !read.has(id)));
  const bytes = new Map<string, Buffer>();
  const missing = new Set<string>();
  if (read.size + find.size === 0) return { bytes, missing };
  const orders = [...[...read].map((id) => `contents ${id}\n`), ...[...find].map((id) => `info ${id}\n`)];
  const { stdout } = await runner.run(folder, ['cat-file', '--batch-command'], { input: orders.join('') });
  for (let at = 0; at < stdout.length;) {
    const end = stdout.indexOf(10, at);
    const [id = '', type = '', size = ''] = stdout.subarray(at, end).toString().split(' ');
    at = end + 1;
    if (type === 'missing') missing.add(id);
    else if (type !== 'blob') throw new Error(`the object ${id} is ${type}`);
    else if (read.has(id)) {
      bytes.set(id, stdout.subarray(at, at + Number(size)));
      at += Number(size) + 1;
    }
  }
  return { bytes, missing };
}

/** Writes raw bytes as a file or link with git's mode. */
export async function writeRaw(target: string, mode: string, bytes: Buffer): Promise<void> {
  mkdirSync(path.dirname(target), { recursive: true });
  if (mode === '120000') symlinkSync(bytes.toString('utf8'), target);
  else {
    const options = { mode: mode === '100755' ? 0o777 : 0o666 };
    if (bytes.length > small) await writeFile(target, bytes, options);
    else writeFileSync(target, bytes, options);
  }
}

/**
 * Makes a commit of `base` with some paths changed, under a new ref, by one process whose work grows with the number
 * of paths and not with the repository. Blobs must be in the store. A ref that is there already stays as it is.
 * All is in one pack: as files of their own its trees would take a sync each.
 */
export async function commitEntries(
  runner: GitRunner,
  folder: string,
  what: {
    readonly base: string;
    readonly ref: string;
    readonly message: string;
    readonly entries: readonly { readonly path: string; readonly entry: Entry | null }[];
  },
): Promise<void> {
  const message = Buffer.from(what.message);
  const lines = [
    `commit ${what.ref}`,
    `committer ${ourIdentity['GIT_COMMITTER_NAME'] ?? ''} <${ourIdentity['GIT_COMMITTER_EMAIL'] ?? ''}> now`,
    `data ${message.length}`,
    message.toString(),
    `from ${what.base}`,
    // Deletions first: a file may take the place of a folder.
    ...what.entries.flatMap(({ path: file, entry }) => (entry === null ? [`D ${quoted(file)}`] : [])),
    ...what.entries.flatMap(({ path: file, entry }) =>
      entry === null ? [] : [`M ${entry.mode} ${entry.id} ${quoted(file)}`],
    ),
    '',
    'done',
    '',
  ];
  // Where case is folded it would put a new name's file into the entry of the old name.
  const settings = ['-c', 'fastimport.unpackLimit=0', '-c', 'core.ignorecase=false'];
  const args = ['fast-import', '--quiet', '--date-format=now', '--done'];
  const made = await runner.run(folder, [...settings, ...args], { input: lines.join('\n'), expect: [0, 1] });
  if (made.exitCode !== 0 && !/not updating/i.test(made.stderr))
    throw new GitError(['fast-import'], made.exitCode, made.stderr, undefined);
}

function quoted(file: string): string {
  return `"${file.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n')}"`;
}
