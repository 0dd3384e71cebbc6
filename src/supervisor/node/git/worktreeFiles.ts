import { readFile, realpath, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { syncFiles, syncFolders } from './durable.js';

/**
 * What we note in a worktree's own git directory, so that it is known to be ours, what it is, and how far it got.
 * It goes when the worktree goes.
 */
export interface WorktreeMark {
  readonly kind: 'child' | 'scratch';
  readonly base: string;
  /** False until checkout, inputs and setup are done. */
  readonly ready: boolean;
  readonly inputs: readonly string[];
}

const markSchema = z.object({
  kind: z.enum(['child', 'scratch']),
  base: z.string(),
  ready: z.boolean(),
  inputs: z.array(z.string()),
});

const markName = 'swarm-panel.json';

/** The git directory that a worktree's `.git` file names; null where there is none. */
export async function gitDirOf(worktree: string): Promise<string | null> {
  try {
    const text = await readFile(path.join(worktree, '.git'), 'utf8');
    const match = /^gitdir: (.+?)\r?\n?$/s.exec(text);
    return match?.[1] === undefined ? null : await realpath(path.resolve(worktree, match[1]));
  } catch {
    return null;
  }
}

/** The index of the base as it was checked out, which no agent changes. */
export function pristineIndexOf(gitDir: string): string {
  return path.join(gitDir, 'swarm-panel-index');
}

export async function readMark(gitDir: string): Promise<WorktreeMark | null> {
  try {
    const parsed = markSchema.safeParse(JSON.parse(await readFile(path.join(gitDir, markName), 'utf8')));
    return parsed.success ? parsed.data : null;
  } catch {
    return await begunMark(gitDir);
  }
}

/** Ours by the reason that it is locked for, but we died before it was marked: nothing is in it yet. */
async function begunMark(gitDir: string): Promise<WorktreeMark | null> {
  try {
    const reason = await readFile(path.join(gitDir, 'locked'), 'utf8');
    const kind = reason.startsWith(lockReasons.child)
      ? 'child'
      : reason.startsWith(lockReasons.scratch)
        ? 'scratch'
        : null;
    // It may have died before there was one.
    const head = await readFile(path.join(gitDir, 'HEAD'), 'utf8').catch(() => '');
    return kind === null ? null : { kind, base: head.trim(), ready: false, inputs: [] };
  } catch {
    return null;
  }
}

/** Why git keeps our worktrees locked; what is made tells by it that it is ours. */
export const lockReasons: Readonly<Record<WorktreeMark['kind'], string>> = {
  child: 'Swarm Panel: work of a child',
  scratch: 'Swarm Panel: scratch tree',
};

/** Replaces the mark in one step. It is on the disk for sure only after `syncWorktree`. */
export async function writeMark(gitDir: string, mark: WorktreeMark): Promise<void> {
  const temporary = path.join(gitDir, `${markName}.${process.pid}.tmp`);
  await writeFile(temporary, `${JSON.stringify(mark)}\n`, { mode: 0o600 });
  await rename(temporary, path.join(gitDir, markName));
}

/** What git and we note of a worktree, and without which its files would be checked out anew after a power cut. */
const notes: readonly string[] = [markName, 'HEAD', 'commondir', 'gitdir', 'locked'];

/** Syncs what is noted of a worktree; the files of its checkout are git's to give again. */
export async function syncWorktree(gitDir: string): Promise<void> {
  await syncFiles(notes.map((name) => path.join(gitDir, name)));
  await syncFolders([gitDir, path.dirname(gitDir)]);
}
