import { childPlace } from '../../protocol/places.js';
import { parseChildKey } from '../core/keys.js';
import type { Child, ChildKey } from '../core/state.js';
import type {
  ChildEdits,
  Edit,
  LedgerLine,
  QuarantineOutcome,
  QuarantinePlan,
  SharedTree,
} from '../ports/sharedTree.js';
import type { Refusal } from '../ports.js';
import { sentences, type EffectContext } from './context.js';
import { placeOf, worktreeRequest } from './places.js';
import { worksAlone } from './snapshots.js';

export interface Quarantined {
  readonly moved: readonly string[];
  readonly left: readonly { readonly path: string; readonly who: string }[];
}

/** What moves children's edits out of the shared tree, for whoever keeps its ledger. */
export interface QuarantineParts {
  readonly contextOf: () => EffectContext;
  readonly tree: () => Promise<SharedTree>;
  readonly editsOf: (key: ChildKey) => Promise<ChildEdits>;
  readonly othersOf: (key: ChildKey) => Promise<readonly ChildEdits[]>;
  readonly keep: (lines: readonly LedgerLine[]) => Promise<void>;
  readonly live: (edits: readonly Edit[]) => readonly Edit[];
}

interface Waiting {
  readonly key: ChildKey;
  readonly taken: (take: () => Promise<QuarantineOutcome['worktree']>, outcome: Taken) => void;
  readonly failed: (error: unknown) => void;
}

type Taken = Omit<QuarantineOutcome, 'worktree'>;

/**
 * Quarantines children. All that wait when the tree is free are taken out of it together, as a limit stops many at
 * once; two that wrote the same file go one after the other. The tree is free again before their worktrees are made.
 */
export function createQuarantines(parts: QuarantineParts): (key: ChildKey) => Promise<Quarantined> {
  const { contextOf, tree, editsOf, othersOf, keep, live } = parts;
  let waiting: Waiting[] = [];

  async function takeOutAll(): Promise<void> {
    let open = waiting;
    waiting = [];
    while (open.length > 0) {
      const now: Waiting[] = [];
      const later: Waiting[] = [];
      const paths = new Set<string>();
      for (const each of open) {
        const mine = new Set(live((await editsOf(each.key)).edits).map((edit) => edit.path));
        if ([...mine].some((path) => paths.has(path))) later.push(each);
        else {
          now.push(each);
          for (const path of mine) paths.add(path);
        }
      }
      await Promise.all(now.map(takeOut));
      open = later;
    }
  }

  async function takeOut({ key, taken, failed }: Waiting): Promise<void> {
    try {
      const context = contextOf();
      const child = context.state().children[key];
      if (child === undefined) return taken(() => Promise.resolve(null), nothing);
      const shared = await tree();
      const unfinished = await readPlan(context, key);
      if (unfinished !== null) {
        const { worktree, ...outcome } = await shared.repair(unfinished);
        return taken(() => Promise.resolve(worktree), outcome);
      }
      const again = worksAlone(context, child) ? `s${context.random(3)}` : '';
      const { give, ...outcome } = await shared.takeOut({
        ...(await editsOf(key)),
        worktree: {
          ...worktreeRequest(context, child, baseOf(context, child)),
          path: ownFolder(context, child),
        },
        ref: `refs/swarm/${child.batch}/${child.task.id}/q${child.attempt}${again}`,
        others: await othersOf(key),
        whole: child.quarantine?.whole === true ? child.quarantine.left.map(({ path }) => path) : [],
        noteStep: async (step) => {
          if (step.step === 'intent') await writePlan(context, key, step.plan);
          if (!context.mayAct()) throw new Error('this owner may not act any more');
        },
      });
      await keep(outcome.lines.map((edit) => ({ child: key, edit })));
      taken(give, { ...outcome, lines: [] });
    } catch (error) {
      failed(error);
    }
  }

  return async (key) => {
    const context = contextOf();
    const { give, outcome } = await new Promise<{
      give: () => Promise<QuarantineOutcome['worktree']>;
      outcome: Taken;
    }>((resolve, reject) => {
      waiting.push({ key, taken: (make, taken) => resolve({ give: make, outcome: taken }), failed: reject });
      context.turns.run('tree', takeOutAll).catch(reject);
    });
    const worktree = await give();
    await keep(outcome.lines.map((edit) => ({ child: key, edit })));
    // Without its worktree it is not at its end: the plan stays and is carried out again.
    if (worktree?.ok === false) throw new Refused(worktree, outcome.commit);
    await writePlan(context, key, null);
    if (worktree !== null) context.post({ type: 'worktreeRestored', child: key, place: placeOf(worktree) });
    return {
      moved: outcome.moved,
      left: outcome.left.map(({ path, who }) => ({ path, who: who.join(', ') })),
    };
  };
}

const nothing: Taken = { moved: [], left: [], commit: null, lines: [] };

function baseOf(context: EffectContext, child: Child): string {
  return context.state().batches[child.batch]?.base ?? context.repository.head;
}

/** Its place in the shared tree is no worktree; where its own is made. */
function ownFolder(context: EffectContext, child: Child): string {
  return worktreeRequest(context, { ...child, worktree: null }, baseOf(context, child)).path;
}

/** Its worktree could not be made; what was to go there is kept in a commit. */
class Refused extends Error {
  readonly kind: string;

  constructor(refusal: Refusal, commit: string | null) {
    super(`${sentences(refusal)} Its edits are kept in ${String(commit)}.`);
    this.kind = refusal.code === 'noSpace' ? 'disk' : refusal.code;
  }
}

function planFile(key: ChildKey): string {
  const { batch, id } = parseChildKey(key);
  return `${childPlace(batch, id)}/quarantine.json`;
}

/** The plan is whole and on the disk before the first file is moved; `null`: it has ended. */
async function writePlan(context: EffectContext, key: ChildKey, plan: QuarantinePlan | null): Promise<void> {
  await context.store.write(planFile(key), `${JSON.stringify({ schema: 1, plan })}\n`);
}

/** A plan that was noted and has not ended; it is our own file, written whole. */
export async function readPlan(context: EffectContext, key: ChildKey): Promise<QuarantinePlan | null> {
  const text = await context.store.read(planFile(key));
  if (text === null) return null;
  try {
    return (JSON.parse(text) as { readonly plan: QuarantinePlan | null }).plan;
  } catch {
    context.log.error(`${planFile(key)} cannot be read; its edits stay in the tree`);
    return null;
  }
}
