import { plainLine } from '../protocol/plainText.js';
import type { View } from '../protocol/view.js';

export interface Target {
  readonly batch: string;
  readonly child: string;
}

export type Targets =
  | { readonly ok: true; readonly targets: readonly Target[] }
  | { readonly ok: false; readonly message: string };

/** What is so where all are meant and there are none. */
export const noChildren = 'There is no child here yet. "swarm run" starts some.';

/**
 * The children that a name on the command line means: `child`, `batch/child`, a whole `batch`, or all.
 * A short name that fits two children is refused, and both are told.
 */
export function findTargets(view: View, name: string | undefined, all: boolean): Targets {
  const everything = view.batches.flatMap((batch) =>
    batch.children.map((child) => ({ batch: batch.id, child: child.id })),
  );
  if (all && name !== undefined)
    return { ok: false, message: `Either "${plainLine(name, 100)}" or --all is meant; write one of them.` };
  if (all) return { ok: true, targets: everything };
  if (name === undefined)
    return { ok: false, message: 'Name a child or a batch, or use --all. "swarm status" lists them.' };
  // For people: what is no name of ours may be anything, and of any length.
  const shown = plainLine(name, 100);
  const exact = everything.filter((target) => `${target.batch}/${target.child}` === name);
  if (exact.length > 0) return { ok: true, targets: exact };
  const batch = everything.filter((target) => target.batch === name);
  const short = everything.filter((target) => target.child === name);
  if (short.length > 1)
    return {
      ok: false,
      message: `"${shown}" fits ${short.length} children: ${short.map((t) => `${t.batch}/${t.child}`).join(', ')}. Name one of them in full.`,
    };
  if (short.length === 1 && batch.length > 0)
    return {
      ok: false,
      message: `"${shown}" is a child and a batch. Write ${short[0]?.batch ?? ''}/${shown} for the child.`,
    };
  const found = batch.length > 0 ? batch : short;
  return found.length > 0
    ? { ok: true, targets: found }
    : { ok: false, message: `There is no child or batch "${shown}". "swarm status" lists them.` };
}
