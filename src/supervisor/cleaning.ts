import type { Answer } from '../protocol/request.js';
import { durably, refused } from './answers.js';
import { hasEnded } from './core/pauses.js';
import { lookUp } from './core/keys.js';
import type { Child } from './core/state.js';
import type { EffectContext } from './effects/context.js';
import { worktreeOf, worktreePath } from './effects/places.js';
import { snapshotChild, worksAlone } from './effects/snapshots.js';

interface Gone {
  readonly path: string;
  readonly bytes: number;
}
interface Kept {
  readonly path: string;
  readonly why: string;
}

/**
 * Removes the worktrees of finished children whose edits are applied or captured, what crashed attempts left over,
 * and finished batches whose work is all applied. `dry` only says what would go.
 */
export async function cleanUp(context: EffectContext, dry: boolean): Promise<Answer> {
  const removed: Gone[] = [];
  const kept: Kept[] = [];
  for (const id of context.state().batchOrder) {
    const batch = context.state().batches[id];
    if (batch === undefined) continue;
    for (const key of batch.children) {
      const child = context.state().children[key];
      if (child !== undefined) await cleanChild(context, child, dry, removed, kept);
      if (!context.mayAct()) return refused(3, 'Another process has taken this folder over', 'Ask again.');
    }
    const open = batch.children
      .flatMap((key) => context.state().children[key] ?? [])
      .filter((child) => !isSettled(child));
    if (open.length > 0 && open.every(hasEnded))
      kept.push({
        path: id,
        why: `not applied: ${open.map((child) => child.task.id).join(', ')} (its work is kept as a ref)`,
      });
    // What is kept of it must stay in the list, so that a person finds it.
    if (open.length === 0 && !dry && !keepsWorktree(context, id)) await dropBatch(context, id);
  }
  await cleanLeftovers(context, dry, removed, kept);
  return { ok: true, removed, kept };
}

/** Takes an ended batch out of the list; unapplied work stays as refs. */
export async function removeBatch(context: EffectContext, id: string): Promise<Answer> {
  const batch = lookUp(context.state().batches, id);
  if (batch === undefined) return refused(2, `There is no batch ${id}`, 'swarm status lists them.');
  const children = batch.children.flatMap((key) => context.state().children[key] ?? []);
  const busy = children.filter((child) => !hasEnded(child));
  if (busy.length > 0)
    return refused(
      2,
      `${busy.length} of its children have not ended`,
      'Stop them first; their work is kept.',
    );
  const removed: Gone[] = [];
  const kept: Kept[] = [];
  for (const child of children) await cleanChild(context, child, false, removed, kept);
  const answer = await dropBatch(context, id);
  return answer.ok ? { ok: true, removed, kept } : answer;
}

async function dropBatch(context: EffectContext, id: string): Promise<Answer> {
  const batch = context.state().batches[id];
  const children = (batch?.children ?? []).flatMap((key) => context.state().children[key] ?? []);
  const answer = await durably(context, { type: 'batchRemoved', batch: id });
  if (answer.ok && children.every(isSettled))
    await context.git.removeRefs(context.repository, `refs/swarm/${id}/`);
  return answer;
}

function keepsWorktree(context: EffectContext, id: string): boolean {
  const children = context.state().batches[id]?.children ?? [];
  return children
    .flatMap((key) => context.state().children[key] ?? [])
    .some((child) => worksAlone(context, child));
}

/** Nothing of it is lost when everything of it goes. */
function isSettled(child: Child): boolean {
  return hasEnded(child) && (child.applied.state === 'applied' || child.snapshot === null);
}

async function cleanChild(
  context: EffectContext,
  child: Child,
  dry: boolean,
  removed: Gone[],
  kept: Kept[],
): Promise<void> {
  if (child.worktree === null || !worksAlone(context, child)) return;
  const { path } = child.worktree;
  if (!hasEnded(child)) {
    kept.push({ path, why: `${child.key} has not ended` });
    return;
  }
  if (!dry && !(await snapshotChild(context, child.key))) {
    kept.push({ path, why: `the work of ${child.key} could not be captured` });
    return;
  }
  const bytes = await context.git.diskUse(path);
  if (!context.mayAct()) return;
  if (dry) {
    removed.push({ path, bytes });
    return;
  }
  const now = context.state().children[child.key];
  const result = await context.turns.run(`git ${child.key}`, () =>
    context.git.removeWorktree(
      context.repository,
      worktreeOf(child.worktree ?? { path, base: '', inputs: [] }),
      now?.snapshot?.commit ?? null,
    ),
  );
  if (!context.mayAct()) return;
  if (!result.ok) kept.push({ path, why: result.message });
  else {
    removed.push({ path, bytes });
    await context.postDurably({ type: 'worktreeRemoved', child: child.key });
  }
}

async function cleanLeftovers(
  context: EffectContext,
  dry: boolean,
  removed: Gone[],
  kept: Kept[],
): Promise<void> {
  // Also those that are being made at this moment.
  const known = Object.values(context.state().children)
    .filter((child) => child.worktree !== null || !hasEnded(child))
    .map((child) => worktreePath(context, child));
  const left = await context.git.leftovers(context.repository, known);
  for (const { path, bytes, unsaved } of left) {
    if (!context.mayAct()) return;
    if (unsaved) kept.push({ path, why: 'no batch knows it, and it holds edits that are saved nowhere' });
    else if (dry) removed.push({ path, bytes });
    else {
      const result = await context.git.removeLeftover(context.repository, path);
      if (result.ok) removed.push({ path, bytes });
      else kept.push({ path, why: result.message });
    }
  }
}
