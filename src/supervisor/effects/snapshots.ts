import { parseChildKey } from '../core/keys.js';
import type { Effect } from '../core/effect.js';
import type { Child, ChildKey } from '../core/state.js';
import type { Skipped } from '../ports.js';
import { isDiskFailing, messageOf, sentences, type EffectContext } from './context.js';
import { placeOf, worktreeOf, worktreeRequest } from './places.js';

/**
 * A child's edits as a commit under refs/swarm; nothing happens where nothing changed. False where they could not be
 * captured: what is known of its work is not all of it.
 */
export async function snapshotChild(context: EffectContext, key: ChildKey): Promise<boolean> {
  return context.turns.run(`git ${key}`, async () => {
    const child = context.state().children[key];
    // In a shared tree nobody can say whose edits a whole tree holds.
    if (child === undefined || !worksAlone(context, child) || child.worktree === null) return true;
    if (!context.mayAct()) return false;
    const { batch, id } = parseChildKey(key);
    const n = (child.snapshot?.n ?? 0) + 1;
    let skipped: readonly Skipped[] = [];
    try {
      const taken = await context.git.snapshot({
        repository: context.repository,
        worktree: worktreeOf(child.worktree),
        ref: `refs/swarm/${batch}/${id}/${n}`,
        message: `${child.task.title}\n\nSnapshot ${n} of ${key}, attempt ${child.attempt}.`,
        previous: child.snapshot?.commit ?? null,
        onSkipped: (paths) => (skipped = paths),
      });
      if (!context.mayAct()) return false;
      if (!(await tellSkipped(context, key, skipped))) return false;
      if (taken === null) return true;
      // The next snapshot of this child is numbered after this one, so its event must be in the state first.
      return await context.postDurably({
        type: 'snapshotTaken',
        child: key,
        n,
        ref: taken.ref,
        commit: taken.commit,
        files: taken.changes.length,
      });
    } catch (error) {
      if (!context.mayAct()) return false;
      const state = await context.git.worktreeState(context.repository, child.worktree.path);
      const disk = state !== 'missing' && (await isDiskFailing(context, error));
      if (!context.mayAct()) return false;
      if (state === 'missing') context.post({ type: 'worktreeLost', child: key });
      else {
        context.log.warn(`${key}: its edits could not be captured: ${messageOf(error)}`);
        context.post({ type: 'snapshotFailed', child: key, message: messageOf(error), disk });
        const reason =
          state === 'foreign' ? 'it is no worktree of this repository any more' : messageOf(error);
        // Nobody shall take it for a child that has written nothing.
        if (!disk) await tellSkipped(context, key, [{ path: './', reason }]);
      }
      return false;
    }
  });
}

/** What no snapshot can hold is said once, and known until it is different. */
async function tellSkipped(
  context: EffectContext,
  key: ChildKey,
  skipped: readonly Skipped[],
): Promise<boolean> {
  const known = context.state().children[key]?.uncaptured ?? [];
  if (JSON.stringify(known) === JSON.stringify(skipped)) return true;
  for (const { path, reason } of skipped)
    context.log.warn(`${key}: ${path} is in its worktree, and in no snapshot: ${reason}`);
  return context.postDurably({ type: 'uncaptured', child: key, paths: skipped });
}

/** A child that has stopped is also measured, so that its place can say what it takes on the disk. */
export async function snapshotStopped(
  context: EffectContext,
  { child: key, why }: Effect & { readonly type: 'snapshot' },
): Promise<void> {
  await snapshotChild(context, key);
  const child = context.state().children[key];
  if (why === 'edits' || child === undefined || !worksAlone(context, child) || child.worktree === null)
    return;
  const bytes = await context.git.diskUse(child.worktree.path).catch(() => null);
  if (bytes !== null && context.mayAct()) context.post({ type: 'worktreeMeasured', child: key, bytes });
}

/** Whoever goes on with the child waits for this turn: its edits are moved before. The tree itself is free earlier. */
export function quarantineTurn(key: ChildKey): string {
  return `quarantine ${key}`;
}

export function worksAlone(context: EffectContext, child: Child): boolean {
  return child.worktree !== null && child.worktree.path !== context.repository.topLevel;
}

/** Puts a worktree that is gone back, with the files of its last snapshot. */
export async function restoreWorktree(
  context: EffectContext,
  { child: key }: Effect & { readonly type: 'restoreWorktree' },
): Promise<void> {
  await context.turns.run(`git ${key}`, async () => {
    const child = context.state().children[key];
    const batch = child === undefined ? undefined : context.state().batches[child.batch];
    if (child === undefined || batch === undefined || !context.mayAct()) return;
    const restored = await context.git.restoreWorktree(
      context.repository,
      worktreeRequest(context, child, child.worktree?.base ?? batch.base),
      child.snapshot?.commit ?? null,
    );
    if (!context.mayAct()) return;
    if (restored.ok) context.post({ type: 'worktreeRestored', child: key, place: placeOf(restored) });
    else {
      context.log.error(`${key}: ${sentences(restored)}`);
      context.post({ type: 'snapshotFailed', child: key, message: restored.message, disk: false });
    }
  });
}

/**
 * In a worktree of its own nobody else is disturbed, and there is nothing to move. The turn at the tree is taken before
 * anything is waited for: a resume that is ordered right after this one must not begin in the tree that is emptied.
 */
export async function quarantineChild(
  context: EffectContext,
  { child: key }: Effect & { readonly type: 'quarantine' },
): Promise<void> {
  await context.turns.run(quarantineTurn(key), async () => {
    const child = context.state().children[key];
    if (child === undefined || child.quarantine?.state === 'moved') return;
    // What a person wants moved after all may be of a child that has its worktree since.
    if (worksAlone(context, child) && child.quarantine?.whole !== true) return;
    if (!(await context.postDurably({ type: 'quarantineStarted', child: key })) || !context.mayAct()) return;
    for (let tries = 1; context.mayAct(); tries++)
      try {
        const moved = await context.shared.quarantine(key);
        // Whoever takes the next turn must find it moved.
        if (context.mayAct()) await context.postDurably({ type: 'quarantined', child: key, ...moved });
        return;
      } catch (error) {
        const disk = await isDiskFailing(context, error);
        if (!context.mayAct()) return;
        // It is begun, and ended when there is space again.
        if (disk) return context.diskFilled();
        context.log.error(`${key}: its edits could not be taken out of the tree: ${messageOf(error)}`);
        // It stays begun: whoever goes on with the child, checks or opens the folder anew tries again.
        if (tries === 2) return;
      }
  });
}
