import { constants, type Stats } from 'node:fs';
import fs, { type FileHandle } from 'node:fs/promises';
import path from 'node:path';

/**
 * Every call that makes something durable goes through here, so that a test can kill the process or refuse the call at
 * the n-th of them.
 *
 * `SWARM_FAULT`, obeyed only where `NODE_ENV` is `test`: `<what>:<n>[:<kind>]`. `n` counts from 1 over the calls of
 * `kind` (all kinds without it). `what`: `kill` (SIGKILL before the call), `torn` (half of a write, then SIGKILL),
 * an error code (`ENOSPC`, `EIO`; a write puts half on the disk first) once, or with a `+` after the code from then on,
 * or `count`, which only counts. `faultCount()` tells how many points were passed.
 */
export type FaultKind =
  'open' | 'write' | 'fsync' | 'truncate' | 'rename' | 'unlink' | 'mkdir' | 'spawn' | 'git';

export interface Fault {
  readonly what: 'kill' | 'torn' | 'count' | 'error';
  readonly code: string;
  readonly n: number;
  readonly kind: FaultKind | null;
  readonly stays: boolean;
}

let fault: Fault | null = process.env['NODE_ENV'] === 'test' ? parseFault(process.env['SWARM_FAULT']) : null;
let passed = 0;

export const privateFile = 0o600;
export const privateFolder = 0o700;

/** Text of `SWARM_FAULT`; null where it says nothing. */
export function parseFault(text: string | undefined): Fault | null {
  const match = /^([A-Za-z]+)(\+?):(\d+)(?::([a-z]+))?$/.exec(text ?? '');
  if (match === null) return null;
  const [, what = '', plus, n, kind] = match;
  const known = what === 'kill' || what === 'torn' || what === 'count';
  return {
    what: known ? what : 'error',
    code: known ? '' : what,
    n: Number(n),
    kind: (kind as FaultKind | undefined) ?? null,
    stays: plus === '+',
  };
}

/** For tests in the same process. */
export function setFault(next: Fault | null): void {
  fault = next;
  passed = 0;
}

export function faultCount(): number {
  return passed;
}

/** A place where a test may kill or refuse. Says whether a write is to stop half-way, and throws what a call would. */
export function faultPoint(kind: FaultKind, what: string): 'go' | 'half' {
  if (fault === null || (fault.kind !== null && fault.kind !== kind)) return 'go';
  passed += 1;
  const hit = fault.stays ? passed >= fault.n : passed === fault.n;
  if (!hit || fault.what === 'count') return 'go';
  if (fault.what === 'kill') process.kill(process.pid, 'SIGKILL');
  if (kind === 'write') return 'half';
  if (fault.what === 'torn') process.kill(process.pid, 'SIGKILL');
  throw refusal(kind, what);
}

export async function open(file: string, flags: number, mode = privateFile): Promise<FileHandle> {
  faultPoint('open', file);
  return fs.open(file, flags | (constants.O_NOFOLLOW ?? 0), mode);
}

/** Writes all of it at a position, or throws; what it wrote of it by then may stay. */
export async function writeAt(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  const half = faultPoint('write', '') === 'half';
  const until = half ? Math.floor(bytes.length / 2) : bytes.length;
  for (let done = 0; done < until;) {
    const { bytesWritten } = await handle.write(bytes, done, until - done, position + done);
    done += bytesWritten;
  }
  if (!half) return;
  if (fault?.what === 'torn') process.kill(process.pid, 'SIGKILL');
  throw refusal('write', '');
}

export async function sync(handle: FileHandle): Promise<void> {
  faultPoint('fsync', '');
  await handle.datasync();
}

export async function truncate(handle: FileHandle, length: number): Promise<void> {
  faultPoint('truncate', '');
  await handle.truncate(length);
}

export async function rename(from: string, to: string): Promise<void> {
  faultPoint('rename', to);
  await fs.rename(from, to);
}

/** Fails with EEXIST where `to` is there. */
export async function link(from: string, to: string): Promise<void> {
  faultPoint('rename', to);
  await fs.link(from, to);
}

export async function unlink(file: string): Promise<void> {
  faultPoint('unlink', file);
  await fs.unlink(file);
}

/** Makes a folder, not its parents; it may be there. */
export async function mkdir(folder: string): Promise<void> {
  faultPoint('mkdir', folder);
  await fs.mkdir(folder, { mode: privateFolder }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error;
  });
}

/** Makes the entries of a folder durable. Where the system cannot sync folders, its renames are durable enough. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  faultPoint('fsync', folder);
  const handle = await fs.open(folder, constants.O_RDONLY);
  try {
    await handle.sync().catch((error: unknown) => {
      if (errorCode(error) !== 'EINVAL' && errorCode(error) !== 'ENOTSUP') throw error;
    });
  } finally {
    await handle.close();
  }
}

let unique = 0;

/**
 * A whole file: under a name of its own first, synced, then renamed into place and the folder synced. A reader sees the
 * old file or the new one. `durable: false` leaves out the syncs, for what can be rebuilt.
 */
export async function writeWhole(
  file: string,
  content: string | Buffer,
  options = { durable: true },
): Promise<void> {
  const temporary = `${file}.${process.pid}.${++unique}.tmp`;
  const handle = await open(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
    privateFile,
  );
  try {
    try {
      await writeAt(handle, typeof content === 'string' ? Buffer.from(content) : content, 0);
      if (options.durable) await sync(handle);
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await fs.unlink(temporary).catch(() => undefined);
    throw error;
  }
  if (options.durable) await syncFolder(path.dirname(file));
}

/** What is at a path itself, not what a link there points to; null where there is nothing. */
export async function entry(file: string): Promise<Stats | null> {
  try {
    return await fs.lstat(file);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

export function isMissing(error: unknown): boolean {
  return errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function refusal(kind: FaultKind, what: string): Error {
  const code = fault === null || fault.code === '' ? 'EIO' : fault.code;
  return Object.assign(new Error(`${code}: injected at ${kind} ${what}`), { code });
}
