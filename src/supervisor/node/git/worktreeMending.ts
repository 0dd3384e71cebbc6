import { lstat, readFile, readdir, rm, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lockReasons } from './worktreeFiles.js';

/** What `git worktree add` has written when it was killed half-way, so that it can be begun or ended again. */

/** A folder that holds nothing but a `.git` file which names no place that is there. */
export async function isHalfMade(folder: string): Promise<boolean> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const [only] = entries;
    if (entries.length !== 1 || only?.name !== '.git' || !only.isFile()) return false;
    const text = await readFile(path.join(folder, '.git'), 'utf8');
    return text.startsWith('gitdir: ') || 'gitdir: '.startsWith(text);
  } catch {
    return false;
  }
}

/** A name in git's list that is younger than this may be one that a dying owner's git is just making. */
const settledAfter = 2_000;

/** Takes a worktree that came to nothing out of git's list, and its `.git` file out of the folder. */
export async function dropHalfMade(commonDir: string, folder: string): Promise<void> {
  const list = path.join(commonDir, 'worktrees');
  for (const name of await readdir(list).catch(() => [])) {
    const gitDir = path.join(list, name);
    const reason = await textOf(path.join(gitDir, 'locked'));
    if (reason === null || !isOurs(reason)) continue;
    const place = (await textOf(path.join(gitDir, 'gitdir')))?.trim() ?? '';
    const whole = place.endsWith('/.git');
    if (whole && place !== path.join(folder, '.git')) continue;
    if (!whole) await untilSettled(gitDir);
    await rm(gitDir, { recursive: true, force: true });
  }
  if (await isHalfMade(folder)) await unlink(path.join(folder, '.git'));
}

/** Writes what the list of worktrees must hold of one that was not finished. */
export async function mendHalfMade(folder: string, gitDir: string, base: string): Promise<void> {
  const head = (await textOf(path.join(gitDir, 'HEAD')))?.trim() ?? '';
  if (!/^[0-9a-f]{40,64}$/.test(head) || /^0+$/.test(head))
    await writeFile(path.join(gitDir, 'HEAD'), `${base}\n`);
  await ensureText(path.join(gitDir, 'commondir'), '../..\n');
  await ensureText(path.join(gitDir, 'gitdir'), `${path.join(folder, '.git')}\n`);
}

function isOurs(reason: string): boolean {
  return Object.values(lockReasons).some((ours) => reason.startsWith(ours));
}

async function ensureText(file: string, text: string): Promise<void> {
  const now = await textOf(file);
  if (now === null || !now.endsWith('\n')) await writeFile(file, text);
}

async function textOf(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(() => null);
}

async function untilSettled(folder: string): Promise<void> {
  for (;;) {
    const stats = await lstat(folder).catch(() => null);
    if (stats === null || Date.now() - stats.mtimeMs >= settledAfter) return;
    await delay(100);
  }
}
