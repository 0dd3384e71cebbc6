import path from 'node:path';
import type { AgentEvent } from '../agents/agent.js';
import { hasEnded } from '../core/pauses.js';
import type { Child, ChildKey } from '../core/state.js';
import type { CheckPlace } from '../../protocol/request.js';
import type { CheckCommand, CheckOutcome, Refusal, Repository } from '../ports.js';
import type {
  ChildEdits,
  Edit,
  LedgerLine,
  PlaceRequest,
  QuarantineOutcome,
  QuarantinePlan,
  SharedTree,
  Writer,
} from '../ports/sharedTree.js';
import { relativePath } from '../research/text.js';
import type { Attempt } from './attempt.js';
import { createAsks, makeAsksFolder } from './asks.js';
import { checkedChildren } from './checkedChildren.js';
import { sentences, type EffectContext } from './context.js';
import { createHearing } from './heard.js';
import { checkFolder, idsOf, placeOf, scratchFolder, worktreeRequest } from './places.js';
import { quarantineChild, worksAlone } from './snapshots.js';

/** The user's tree where children work in it together: who writes what, and how half-written edits get out of it. */
export interface SharedWork {
  /** Begins to watch, if any child of a shared batch has not ended; before anything else is done after a start. */
  wake(): Promise<void>;
  /** The environment of an attempt: in the shared tree with our `git` and `tsc` in front of the others. */
  environment(child: Child, env: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>>>;
  /** What an attempt in the shared tree has said, when it is read; `observe` follows in its turn. */
  hear(attempt: Attempt, events: readonly AgentEvent[], since: number): void;
  /** An attempt in the shared tree has said something; `now` it is looked whose the changes are. */
  observe(attempt: Attempt, event: AgentEvent): Promise<void>;
  /** Its last words: a command that it had open is over. */
  ended(attempt: Attempt): Promise<void>;
  /** Takes a child's edits out of the tree into its own worktree, or ends what a crash cut. */
  quarantine(key: ChildKey): Promise<Quarantined>;
  /** Runs something of ours that writes to the user's tree. */
  ourWrite<Result>(act: () => Promise<Result>): Promise<Result>;
  /** Runs a check that sees nobody's half-written files. */
  check(
    check: CheckCommand,
    batch: string,
  ): Promise<{ readonly outcome: CheckOutcome; readonly children: CheckPlace['children'] }>;
  /** Where somebody else's check may run; `caller` is the child that asks, null a person. */
  placeCheck(
    caller: ChildKey | null,
    user: PlaceRequest['user'],
  ): Promise<{ readonly ok: true; readonly place: CheckPlace } | Refusal>;
  /** Whose edits are in the tree as it is. */
  children(): Promise<CheckPlace['children']>;
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
  /** The edits that are in the tree. */
  readonly live: (edits: readonly Edit[]) => readonly Edit[];
  installShims(options: {
    readonly folder: string;
    readonly git: string;
    readonly tree: string;
    readonly commonDir: string;
    readonly check: readonly string[] | null;
    readonly env: Readonly<Record<string, string>>;
  }): Promise<string | null>;
  withShims(env: Readonly<Record<string, string>>, folder: string): Readonly<Record<string, string>>;
}

export function createSharedWork(contextOf: () => EffectContext, maker: SharedTreeMaker): SharedWork {
  let begun: Promise<SharedTree> | null = null;
  const hearing = createHearing();
  const asks = createAsks(contextOf, anybodyWorks, (child, file) => placeCheck(child, { file }));

  function tree(): Promise<SharedTree> {
    // What a full disk refused may be begun again.
    begun ??= begin().catch((error: unknown) => {
      begun = null;
      throw error;
    });
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
    if (writers.length > 0) asks.watch();
    return made;
  }

  function anybodyWorks(): boolean {
    const context = contextOf();
    return Object.values(context.state().children).some(
      (child) => worksInTree(context, child) && 'launch' in child.phase,
    );
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

  function halfIn(context: EffectContext, except: ChildKey | null): readonly Child[] {
    return Object.values(context.state().children).filter(
      (child) => child.key !== except && worksInTree(context, child) && isHalf(child),
    );
  }

  async function placeCheck(
    caller: ChildKey | null,
    user: PlaceRequest['user'],
  ): Promise<{ readonly ok: true; readonly place: CheckPlace } | Refusal> {
    const context = contextOf();
    const isShared = Object.values(context.state().batches).some((batch) => batch.isolation === 'shared');
    if (!isShared) return { ok: true, place: { folder: null, tree: null, children: [], left: [] } };
    for (const child of halfIn(context, caller))
      if (!('launch' in child.phase) && child.quarantine?.state !== 'moved')
        await quarantineChild(context, { type: 'quarantine', child: child.key });
    return context.turns.run('tree', async () => {
      const shared = await tree();
      catchUp(null);
      await keep(await shared.look(hearing.now()));
      const half = halfIn(context, caller).map((child) => child.key);
      const all = await allEdits(null);
      const spot = await shared.placeCheck({
        folder: checkFolder(context, caller),
        half: all.filter((edits) => half.includes(edits.child)),
        others: all.filter((edits) => !half.includes(edits.child)),
        user,
      });
      if (!spot.ok) return spot;
      const { folder, tree: checked, left } = spot;
      const children = checkedChildren(context.state(), all, spot.folder === null ? [] : half, maker.live);
      return { ok: true, place: { folder, tree: checked, children, left } };
    });
  }

  /** Everybody's output is read to its end first, so that nobody's work is put down to somebody else. */
  function catchUp(except: Attempt | null): void {
    const context = contextOf();
    for (const attempt of context.attempts.values()) {
      const child = context.state().children[attempt.key];
      if (attempt !== except && child !== undefined && worksInTree(context, child))
        attempt.follower?.catchUp();
    }
  }

  async function endShells(attempt: Attempt): Promise<void> {
    const shared = await tree();
    for (const command of hearing.openShells(attempt)) {
      const { writer, heard } = hearing.shell(attempt, command);
      await keep(await shared.shellEnded(writer, heard));
      hearing.shellDone(attempt, command);
    }
  }

  return {
    async environment(child, env) {
      const context = contextOf();
      if (!worksInTree(context, child)) return env;
      const { repository, ownProgram } = context;
      const git = await context.processes.resolve('git', env['PATH'], repository.topLevel);
      if (!git.ok) return env;
      await makeAsksFolder(context.store.folder);
      const folder = await maker.installShims({
        folder: path.join(context.store.folder, 'shims'),
        git: git.file,
        tree: repository.topLevel,
        commonDir: repository.commonDir,
        check: ownProgram === null ? null : [ownProgram.file, ...ownProgram.args, 'check', '--'],
        env: ownProgram?.env ?? {},
      });
      if (folder === null) return env;
      asks.watch();
      return maker.withShims(env, folder);
    },
    hear: (attempt, events, since) => hearing.hear(attempt, events, since),
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
      switch (event.type) {
        case 'writing': {
          // Read after the tool has begun to write, it would make the tool's own work somebody else's.
          const file = await contextOf().fileState(attempt.work, event.path);
          if (file !== null && contextOf().clock.now() - file.modifiedAt < justWritten) return;
          return keep(await shared.writing(as(event.tool), relativePath(event.path, attempt.work)));
        }
        case 'write': {
          const written = relativePath(event.path, attempt.work);
          await keep(await shared.wrote(as(event.tool), written));
          return hearing.claimDone(attempt, written);
        }
        case 'shellStarted': {
          catchUp(attempt);
          const { writer, heard } = hearing.shell(attempt, event.command);
          return keep(await shared.shellStarted(writer, heard));
        }
        case 'shell': {
          catchUp(attempt);
          const { writer, heard } = hearing.shell(attempt, event.command);
          await keep(await shared.shellEnded(writer, heard));
          return hearing.shellDone(attempt, event.command);
        }
        case 'denied':
          // A command that was refused has no end of its own.
          return endShells(attempt);
        default:
          return;
      }
    },
    async ended(attempt) {
      const shared = await tree();
      // Stopped in the middle of a tool: what it had begun to write is its own.
      for (const { path: file, writer } of hearing.claims(attempt)) {
        await keep(await shared.wrote(writer, file));
        hearing.claimDone(attempt, file);
      }
      catchUp(attempt);
      await endShells(attempt);
      await asks.forget(attempt);
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
      catchUp(null);
      await keep(await shared.look(hearing.now()));
      const half = halfIn(context, null).map((child) => child.key);
      const all = await allEdits(null);
      context.log.info(`check of ${batch}: ${half.length} children are in the middle of their work`);
      const outcome = await shared.checkComposite({
        check,
        folder: scratchFolder(context),
        half: all.filter((edits) => half.includes(edits.child)),
        others: all.filter((edits) => !half.includes(edits.child)),
        onOutput: null,
      });
      return { outcome, children: checkedChildren(context.state(), all, half, maker.live) };
    },
    placeCheck,
    async children() {
      return checkedChildren(contextOf().state(), await allEdits(null), [], maker.live);
    },
    async close() {
      asks.close();
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
