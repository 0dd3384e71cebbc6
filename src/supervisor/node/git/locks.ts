import { lstat, readdir, readlink, unlink } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Repository } from '../../ports/git.js';
import { readMark } from './worktreeFiles.js';

/** A lock file that is younger may be one that is just being renamed. */
const settledAfter = 2_000;
/** Where nobody can say who has a file open, only its age tells. */
const oldEnough = 10 * 60_000;
const patience = 30_000;

/**
 * Lock files that a killed git has left in places that are ours alone: under `refs/swarm` and in our worktrees' own
 * folders. Nothing there could be written again while they stay. One that a living git holds is waited for.
 */
export async function clearStaleLocks(repository: Repository): Promise<readonly string[]> {
  const removed: string[] = [];
  const until = Date.now() + patience;
  for (;;) {
    const found = await ourLocks(repository.commonDir);
    if (found.length === 0 || Date.now() > until) return removed;
    for (const file of found)
      if (await isStale(file)) {
        await unlink(file).catch(() => undefined);
        removed.push(file);
      }
    if ((await ourLocks(repository.commonDir)).length > 0) await delay(200);
  }
}

/** Removes a lock in a place that is ours once nobody holds it; false where it is another's or stays held. */
export async function clearOurLock(file: string): Promise<boolean> {
  const ours = /[\\/]refs[\\/]swarm(-kept)?[\\/]/.test(file) || (await readMark(path.dirname(file))) !== null;
  if (!ours) return false;
  for (const until = Date.now() + 2 * settledAfter; Date.now() < until; await delay(200)) {
    if (!(await exists(file))) return true;
    if (!(await isStale(file))) continue;
    await unlink(file).catch(() => undefined);
    return true;
  }
  return false;
}

/** Lock files in places that are ours and that nobody holds any more. */
export async function staleLocks(repository: Repository): Promise<readonly string[]> {
  const stale: string[] = [];
  for (const lock of await ourLocks(repository.commonDir)) if (await isStale(lock)) stale.push(lock);
  return stale;
}

/** Lock files in places that are ours. */
async function ourLocks(commonDir: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const refs of ['swarm', 'swarm-kept']) {
    const folder = path.join(commonDir, 'refs', refs);
    const names = await readdir(folder, { recursive: true }).catch(() => []);
    found.push(...names.filter((name) => name.endsWith('.lock')).map((name) => path.join(folder, name)));
  }
  const worktrees = path.join(commonDir, 'worktrees');
  for (const name of await readdir(worktrees).catch(() => [])) {
    const gitDir = path.join(worktrees, name);
    if ((await readMark(gitDir)) === null) continue;
    for (const lock of ['index.lock', 'HEAD.lock'])
      if (await exists(path.join(gitDir, lock))) found.push(path.join(gitDir, lock));
  }
  return found;
}

async function exists(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}

/** Nobody has it open, and it is not just being put in place. */
export async function isStale(file: string): Promise<boolean> {
  const stats = await lstat(file).catch(() => null);
  if (stats === null) return false;
  const age = Date.now() - stats.mtimeMs;
  if (process.platform !== 'linux') return age > oldEnough;
  return age > settledAfter && !(await isOpen(file));
}

async function isOpen(file: string): Promise<boolean> {
  for (const pid of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(pid)) continue;
    const folder = path.join('/proc', pid, 'fd');
    for (const fd of await readdir(folder).catch(() => []))
      if ((await readlink(path.join(folder, fd)).catch(() => '')) === file) return true;
  }
  return false;
}
