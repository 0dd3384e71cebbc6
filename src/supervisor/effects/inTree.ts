import type { Batch, Child, ChildKey } from '../core/state.js';
import type { CheckOutcome } from '../ports.js';
import type { EffectContext } from './context.js';
import { worksInTree } from './shared.js';

export interface CheckedInTree {
  readonly outcome: CheckOutcome;
  readonly red: readonly { readonly child: ChildKey; readonly errors: number }[];
}

/**
 * Finished children that work in the user's tree are in it already: what makes them applied is a check that has
 * nothing against their files. Null where there is nothing to check.
 */
export async function checkInTree(
  context: EffectContext,
  batch: Batch,
  children: readonly Child[],
): Promise<CheckedInTree | null> {
  const there = children.filter((child) => worksInTree(context, child));
  if (there.length === 0 || batch.check === null) return null;
  const check = { command: batch.check, folder: '.' };
  const { outcome, children: writers } = await context.shared.check(check, batch.id);
  if (outcome.exitCode === 0) return { outcome, red: [] };
  const red = there.flatMap((child) => {
    const files = writers
      .filter(({ id, where }) => id === child.task.id && where === 'tree')
      .flatMap((writer) => writer.files);
    const errors = outcome.errors.filter((error) => files.includes(error.path)).length;
    // An outcome that names no file is nobody's in particular, and no reason to call anybody's work sound.
    const counted = outcome.errors.length === 0 && files.length > 0 ? 1 : errors;
    return counted === 0 ? [] : [{ child: child.key, errors: counted }];
  });
  return { outcome, red };
}
