import type { AgentEvent } from '../agents/agent.js';
import { hasEnded } from '../core/pauses.js';
import type { Child, ChildKey } from '../core/state.js';
import type { CheckCommand, CheckOutcome, Repository } from '../ports.js';
import type {
  ChildEdits,
  Edit,
  LedgerLine,
  QuarantineOutcome,
  QuarantinePlan,
  SharedTree,
  Writer,
} from '../ports/sharedTree.js';
import { relativePath } from '../research/text.js';
import type { Attempt } from './attempt.js';
import { sentences, type EffectContext } from './context.js';
import { idsOf, placeOf, scratchFolder, worktreeRequest } from './places.js';
import { worksAlone } from './snapshots.js';

/** The user's tree where children work in it together: who writes what, and how half-written edits get out of it. */
export interface SharedWork {
  /** Begins to watch, if any child of a shared batch has not ended; before anything else is done after a start. */
  wake(): Promise<void>;
  /** An attempt in the shared tree has said something; `now` it is looked whose the changes are. */
  observe(attempt: Attempt, event: AgentEvent): Promise<void>;
  /** Its last words: a command that it had open is over. */
  ended(attempt: Attempt): Promise<void>;
  /** Takes a child's edits out of the tree into its own worktree, or ends what a crash cut. */
  quarantine(key: ChildKey): Promise<Quarantined>;
  /** Runs something of ours that writes to the user's tree. */
  ourWrite<Result>(act: () => Promise<Result>): Promise<Result>;
  /** Runs a check that sees nobody's half-written files. */
  check(check: CheckCommand, batch: string): Promise<CheckOutcome>;
  close(): Promise<void>;
}

export interface Quarantined {
  readonly moved: readonly string[];
  readonly left: readonly { readonly path: string; readonly who: string }[];
}

/** What makes the tree's ledger; given by whoever knows git. */
export interface SharedTreeMaker {
  make(repository: Repository): SharedTree;
  parse(text: string): readonly Edit[];
}

export function createSharedWork(contextOf: () => EffectContext, maker: SharedTreeMaker): SharedWork {
  let begun: Promise<SharedTree> | null = null;
  const openShells = new Set<string>();

  function tree(): Promise<SharedTree> {
    begun ??= begin();
    return begun;
  }

  async function begin(): Promise<SharedTree> {
    const context = contextOf();
    const made = maker.make(context.repository);
    const inTree = Object.values(context.state().children).filter((child) => worksInTree(context, child));
    const writers = inTree
      .filter((child) => child.phase.name === 'running' || child.phase.name === 'parking')
      .map((child): Writer => ({ child: child.key, attempt: child.attempt, tool: 'unknown' }));
    const plans: QuarantinePlan[] = [];
    for (const child of inTree) {
      const plan = child.quarantine?.state === 'moving' ? await readPlan(context, child.key) : null;
      if (plan !== null) plans.push(plan);
    }
    await keep(await made.start(writers, plans));
    return made;
  }

  async function keep(lines: readonly LedgerLine[]): Promise<void> {
    const { state, store } = contextOf();
    for (const child of new Set(lines.map((line) => line.child))) {
      if (state().children[child] === undefined) continue;
      const { batch, id } = idsOf(child);
      const edits = lines.filter((line) => line.child === child).map((line) => JSON.stringify(line.edit));
      await store.appendLines(`batches/${batch}/children/${id}/edits.jsonl`, edits);
    }
  }

  async function editsOf(key: ChildKey): Promise<ChildEdits> {
    const { batch, id } = idsOf(key);
    const text = await contextOf().store.read(`batches/${batch}/children/${id}/edits.jsonl`);
    return { child: key, edits: text === null ? [] : maker.parse(text) };
  }

  /** The edits of every child that works, or has worked, in the tree. */
  async function allEdits(except: ChildKey | null): Promise<readonly ChildEdits[]> {
    const context = contextOf();
    const keys = Object.values(context.state().children)
      .filter((child) => child.key !== except && context.state().batches[child.batch]?.isolation === 'shared')
      .map((child) => child.key);
    return Promise.all(keys.map(editsOf));
  }

  async function quarantine(key: ChildKey): Promise<Quarantined> {
    const context = contextOf();
    const child = context.state().children[key];
    if (child === undefined) return { moved: [], left: [] };
    const shared = await tree();
    const unfinished = await readPlan(context, key);
    const outcome =
      unfinished !== null
        ? await shared.repair(unfinished)
        : await shared.quarantine({
            ...(await editsOf(key)),
            worktree: {
              ...worktreeRequest(context, child, baseOf(context, child)),
              path: ownFolder(context, child),
            },
            ref: `refs/swarm/${child.batch}/${child.task.id}/q${child.attempt}`,
            others: await allEdits(key),
            noteStep: async (step) => {
              if (step.step === 'intent') await writePlan(context, key, step.plan);
              if (!context.mayAct()) throw new Error('this owner may not act any more');
            },
          });
    await keep(outcome.lines.map((edit) => ({ child: key, edit })));
    await writePlan(context, key, null);
    tell(context, key, outcome);
    return {
      moved: outcome.moved,
      left: outcome.left.map(({ path, who }) => ({ path, who: who.join(', ') })),
    };
  }

  return {
    async wake() {
      const context = contextOf();
      const open = Object.values(context.state().children).some(
        (child) => worksInTree(context, child) && !hasEnded(child),
      );
      if (open) await tree();
    },
    async observe(attempt, event) {
      const shared = await tree();
      const as = (tool: string): Writer => ({ child: attempt.key, attempt: attempt.number, tool });
      const shell = `${attempt.key} ${attempt.number}`;
      switch (event.type) {
        case 'writing': {
          // Read after the tool has begun to write, it would make the tool's own work somebody else's.
          const file = await contextOf().fileState(attempt.work, event.path);
          if (file !== null && contextOf().clock.now() - file.modifiedAt < justWritten) return;
          return keep(await shared.writing(as(event.tool), relativePath(event.path, attempt.work)));
        }
        case 'write':
          return keep(await shared.wrote(as(event.tool), relativePath(event.path, attempt.work)));
        case 'shellStarted':
          openShells.add(shell);
          return keep(await shared.shellStarted(as('shell')));
        case 'shell':
          openShells.delete(shell);
          return keep(await shared.shellEnded(as('shell')));
        default:
          return;
      }
    },
    async ended(attempt) {
      if (!openShells.delete(`${attempt.key} ${attempt.number}`)) return;
      const shared = await tree();
      await keep(await shared.shellEnded({ child: attempt.key, attempt: attempt.number, tool: 'shell' }));
    },
    quarantine,
    async ourWrite(act) {
      if (begun === null) return act();
      const { result, lines } = await (await begun).ourWrite(act);
      await keep(lines);
      return result;
    },
    async check(check, batch) {
      const context = contextOf();
      const shared = await tree();
      const half = Object.values(context.state().children)
        .filter((child) => worksInTree(context, child) && isHalf(child))
        .map((child) => child.key);
      const all = await allEdits(null);
      context.log.info(`check of ${batch}: ${half.length} children are in the middle of their work`);
      return shared.checkComposite({
        check,
        folder: scratchFolder(context),
        half: all.filter((edits) => half.includes(edits.child)),
        others: all.filter((edits) => !half.includes(edits.child)),
        onOutput: null,
      });
    },
    async close() {
      if (begun !== null) await (await begun).close();
    },
  };
}

/** Longer than an agent's line takes to reach us. */
const justWritten = 2000;

/** In a shared batch, and not yet moved into a worktree of its own. */
export function worksInTree(context: EffectContext, child: Child): boolean {
  return context.state().batches[child.batch]?.isolation === 'shared' && !worksAlone(context, child);
}

function isHalf(child: Child): boolean {
  return child.phase.name !== 'succeeded' && child.phase.name !== 'queued';
}

function baseOf(context: EffectContext, child: Child): string {
  return context.state().batches[child.batch]?.base ?? context.repository.head;
}

/** Its place in the shared tree is no worktree; where its own is made. */
function ownFolder(context: EffectContext, child: Child): string {
  return worktreeRequest(context, { ...child, worktree: null }, baseOf(context, child)).path;
}

function tell(context: EffectContext, key: ChildKey, outcome: QuarantineOutcome): void {
  const { worktree } = outcome;
  if (worktree === null) return;
  if (worktree.ok) context.post({ type: 'worktreeRestored', child: key, place: placeOf(worktree) });
  else context.log.error(`${key}: ${sentences(worktree)} Its edits are kept in ${String(outcome.commit)}.`);
}

function planFile(key: ChildKey): string {
  const { batch, id } = idsOf(key);
  return `batches/${batch}/children/${id}/quarantine.json`;
}

/** The plan is whole and on the disk before the first file is moved; `null`: it has ended. */
async function writePlan(context: EffectContext, key: ChildKey, plan: QuarantinePlan | null): Promise<void> {
  await context.store.write(planFile(key), `${JSON.stringify({ schema: 1, plan })}\n`);
}

/** A plan that was noted and has not ended; it is our own file, written whole. */
async function readPlan(context: EffectContext, key: ChildKey): Promise<QuarantinePlan | null> {
  const text = await context.store.read(planFile(key));
  if (text === null) return null;
  try {
    return (JSON.parse(text) as { readonly plan: QuarantinePlan | null }).plan;
  } catch {
    context.log.error(`${planFile(key)} cannot be read; its edits stay in the tree`);
    return null;
  }
}
