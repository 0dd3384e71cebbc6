import path from 'node:path';
import { parseChildKey } from '../core/keys.js';
import type { Child, ChildKey, Place } from '../core/state.js';
import type { Worktree, WorktreeRequest } from '../ports.js';
import type { EffectContext } from './context.js';

/** Folder of all worktrees: beside the repository, or where the settings say. */
export function worktreesFolder(context: EffectContext): string {
  const { topLevel } = context.repository;
  const { location } = context.settings.worktrees;
  return location === null ? `${topLevel}.worktrees` : path.resolve(topLevel, location);
}

/** Ids begin with a letter or digit, so no batch is called like this. */
export function scratchFolder(context: EffectContext): string {
  return path.join(worktreesFolder(context), '_scratch');
}

/** Where a person's, or a child's, check runs when others are in the middle of their work; warm between checks. */
export function checkFolder(context: EffectContext, caller: ChildKey | null): string {
  const name = caller === null ? '_check' : `_check-${caller.replace('/', '-')}`;
  return path.join(worktreesFolder(context), name);
}

/** Where a child's worktree is, or would be. */
export function worktreePath(context: EffectContext, child: Child): string {
  const { batch, id } = parseChildKey(child.key);
  return child.worktree?.path ?? path.join(worktreesFolder(context), batch, id);
}

/** What a child's worktree is made from, the same each time. */
export function worktreeRequest(context: EffectContext, child: Child, base: string): WorktreeRequest {
  const { batch, id } = parseChildKey(child.key);
  const { link, setup } = context.settings.worktrees;
  return {
    path: worktreePath(context, child),
    base,
    files: child.task.files,
    link,
    setup,
    logFile: path.join(context.store.childFolder(batch, id), 'setup.log'),
  };
}

export function placeOf(worktree: Worktree): Place {
  return { path: worktree.path, base: worktree.base, inputs: worktree.inputs };
}

export function worktreeOf(place: Place): Worktree {
  return { ok: true, ...place };
}
