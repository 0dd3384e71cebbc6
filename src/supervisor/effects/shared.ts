import path from 'node:path';
import { batchPlace, childPlace } from '../../protocol/places.js';
import type { AgentEvent } from '../agents/agent.js';
import { userName, parseChildKey } from '../core/keys.js';
import { hasEnded } from '../core/pauses.js';
import { strayWords } from '../core/strayWords.js';
import type { Child, ChildKey } from '../core/state.js';
import type { CheckPlace } from '../../protocol/request.js';
import type { CheckCommand, CheckOutcome, Refusal, Repository } from '../ports.js';
import type {
  ChildEdits,
  Edit,
  LedgerLine,
  PlaceRequest,
  QuarantinePlan,
  SharedTree,
  Writer,
} from '../ports/sharedTree.js';
import { relativePath } from '../research/text.js';
import type { Attempt } from './attempt.js';
import { createAsks, makeAsksFolder } from './asks.js';
import { checkedChildren } from './checkedChildren.js';
import type { EffectContext } from './context.js';
import { createHearing } from './heard.js';
import { createQuarantines, readPlan, type Quarantined } from './quarantines.js';
import { concernsTree, hasNamed, located } from './strays.js';
import { checkFolder, scratchFolder } from './places.js';
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
  /** The files that the person and other children have written into the tree and that are there, with their names. */
  writersBeside(key: ChildKey): Promise<ReadonlyMap<string, readonly string[]>>;
  close(): Promise<void>;
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
  let made: SharedTree | null = null;
  let keeping: Promise<void> = Promise.resolve();
  const kept = new Set<string>();
  const hearing = createHearing(
    () => contextOf().repository.topLevel,
    () => contextOf().clock.now(),
  );
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
    const fresh = maker.make(context.repository);
    made = fresh;
    const inTree = Object.values(context.state().children).filter((child) => worksInTree(context, child));
    const writers = inTree
      .filter((child) => child.phase.name === 'running' || child.phase.name === 'parking')
      .map((child): Writer => ({ child: child.key, attempt: child.attempt, tool: 'unknown' }));
    const plans: QuarantinePlan[] = [];
    for (const child of inTree) {
      const plan = child.quarantine?.state === 'moving' ? await readPlan(context, child.key) : null;
      if (plan !== null) plans.push(plan);
    }
    const lines = await fresh.start(writers, plans);
    for (const { child, edits } of await allEdits(null))
      for (const edit of edits) kept.add(nameOf({ child, edit }));
    await keep(lines);
    if (writers.length > 0) asks.watch();
    return fresh;
  }

  function anybodyWorks(): boolean {
    const context = contextOf();
    return Object.values(context.state().children).some(
      (child) => worksInTree(context, child) && 'launch' in child.phase,
    );
  }

  /** Each line has an instant of its own. */
  function nameOf({ child, edit }: LedgerLine): string {
    return `${child} ${edit.at} ${edit.path} ${edit.tool}`;
  }

  /**
   * Keeps these lines, and those that were handed out before and could not be kept: by the run before this one, which
   * died, or by this one, on a full disk. One call after the other, so that none is kept twice.
   */
  function keep(lines: readonly LedgerLine[]): Promise<void> {
    const mine = keeping.catch(() => undefined).then(() => keepOpen(lines));
    keeping = mine;
    return mine;
  }

  async function keepOpen(lines: readonly LedgerLine[]): Promise<void> {
    const { state } = contextOf();
    const open = new Map([...(made?.recent() ?? []), ...lines].map((line) => [nameOf(line), line]));
    for (const name of [...open.keys()]) if (kept.has(name)) open.delete(name);
    const children = new Set([...open.values()].map((line) => line.child));
    for (const child of children) {
      const mine = [...open].filter(([, line]) => line.child === child);
      const edits = mine.map(([, { edit }]) => JSON.stringify(edit));
      if (child === userName) await keepUsers(edits);
      else if (state().children[child] !== undefined)
        await contextOf().store.appendLines(editsFile(child), edits);
      for (const [name] of mine) kept.add(name);
    }
    if (kept.size > mostKept) for (const name of [...kept].slice(0, mostKept / 2)) kept.delete(name);
  }

  async function editsOf(key: ChildKey): Promise<ChildEdits> {
    const text = await contextOf().store.read(editsFile(key));
    return { child: key, edits: text === null ? [] : maker.parse(text) };
  }

  /** What the person writes beside children is kept with each batch that it may meet, and goes with it. */
  async function keepUsers(edits: readonly string[]): Promise<void> {
    const context = contextOf();
    const inTree = Object.values(context.state().children).filter((child) => worksInTree(context, child));
    for (const batch of new Set(inTree.map((child) => child.batch)))
      await context.store.appendLines(usersFile(batch), edits);
  }

  async function usersEdits(): Promise<ChildEdits> {
    const { state, store } = contextOf();
    const edits = new Map<string, Edit>();
    for (const batch of Object.values(state().batches)) {
      const text = batch.isolation === 'shared' ? await store.read(usersFile(batch.id)) : null;
      for (const edit of text === null ? [] : maker.parse(text))
        edits.set(nameOf({ child: userName, edit }), edit);
    }
    return { child: userName, edits: [...edits.values()] };
  }

  /** The edits of the person, and of every child that works, or has worked, in the tree. */
  async function allEdits(except: ChildKey | null): Promise<readonly ChildEdits[]> {
    const context = contextOf();
    const keys = Object.values(context.state().children)
      .filter((child) => child.key !== except && context.state().batches[child.batch]?.isolation === 'shared')
      .map((child) => child.key);
    return Promise.all([usersEdits(), ...keys.map(editsOf)]);
  }

  const quarantine = createQuarantines({
    contextOf,
    tree,
    editsOf,
    othersOf: allEdits,
    keep,
    live: maker.live,
  });

  function halfIn(context: EffectContext, except: ChildKey | null): readonly Child[] {
    return Object.values(context.state().children).filter(
      (child) => child.key !== except && worksInTree(context, child) && isHalf(child),
    );
  }

  /** All edits, and those of children in the middle of their work apart from the others'. */
  async function halfAndOthers(context: EffectContext, except: ChildKey | null) {
    const half = halfIn(context, except).map((child) => child.key);
    const all = await allEdits(null);
    const sides = {
      half: all.filter(({ child }) => half.includes(child)),
      others: all.filter(({ child }) => !half.includes(child)),
    };
    return { all, half, sides };
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
      await keep(await shared.look(heard(false)));
      const { all, half, sides } = await halfAndOthers(context, caller);
      const spot = await shared.placeCheck({ folder: checkFolder(context, caller), ...sides, user });
      if (!spot.ok) return spot;
      const { folder, tree: checked, left } = spot;
      const children = checkedChildren(context.state(), all, spot.folder === null ? [] : half, maker.live);
      return { ok: true, place: { folder, tree: checked, children, left } };
    });
  }

  /** Everybody's output is read to its end first, so that nobody's work is put down to somebody else. */
  const heard = (mayWait: boolean) => () => {
    const context = contextOf();
    const { topLevel } = context.repository;
    const there = [...context.attempts.values()].filter((attempt) => attempt.work === topLevel);
    for (const attempt of there) attempt.follower?.catchUp();
    return hearing.now(mayWait && there.length > 1);
  };

  /** What of it may be about the shared tree: all of a child that works there, else only what names the tree. */
  function inTheTree(attempt: Attempt, events: readonly AgentEvent[]): readonly AgentEvent[] {
    const context = contextOf();
    if (attempt.work === context.repository.topLevel) return events;
    return events.flatMap((event) =>
      concernsTree(context, attempt, event) ? [located(event, attempt)] : [],
    );
  }

  /** Keeps the lines; what a child wrote into the tree although it has a worktree of its own goes there at once. */
  async function keepOf(attempt: Attempt, found: readonly LedgerLine[]): Promise<void> {
    const context = contextOf();
    if (attempt.work === context.repository.topLevel) return keep(found);
    const lines = found.map((line) => (isDoubtful(context, attempt, line) ? doubted(line) : line));
    await keep(lines);
    const files = lines.filter((line) => line.child === attempt.key).map(({ edit }) => edit.path);
    if (files.length === 0) return;
    const { moved } = await quarantine(attempt.key);
    const strays = files.map((file) => ({ path: file, who: userName, moved: moved.includes(file) }));
    for (const stray of strays) context.log.warn(`${attempt.key} ${strayWords(stray)}`);
    context.post({ type: 'strayed', child: attempt.key, strays });
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
    hear(attempt, events, since) {
      hearing.hear(attempt, inTheTree(attempt, events), since);
    },
    async wake() {
      const context = contextOf();
      const open = Object.values(context.state().children).some(
        (child) => worksInTree(context, child) && !hasEnded(child),
      );
      if (open) await tree();
    },
    async observe(attempt, event) {
      const [concerning] = inTheTree(attempt, [event]);
      if (concerning === undefined) return;
      const shared = await tree();
      const keep = (lines: readonly LedgerLine[]) => keepOf(attempt, lines);
      const pathOf = (file: string) => relativePath(file, contextOf().repository.topLevel);
      const as = (tool: string): Writer => ({ child: attempt.key, attempt: attempt.number, tool });
      switch (concerning.type) {
        case 'writing':
          return keep(await shared.writing(as(concerning.tool), pathOf(concerning.path), heard(false)));
        case 'write': {
          const written = pathOf(concerning.path);
          await keep(await shared.wrote(as(concerning.tool), written));
          return hearing.claimDone(attempt, written);
        }
        case 'shellStarted':
        case 'shell':
        case 'denied':
          return keep(await shared.look(heard(true)));
        default:
          return;
      }
    },
    async ended(attempt) {
      const topLevel = contextOf().repository.topLevel;
      if (attempt.work !== topLevel && hearing.claims(attempt).length === 0) return;
      const shared = await tree();
      // Stopped in the middle of a tool: what it had begun to write is its own.
      for (const { path: file, writer } of hearing.claims(attempt)) {
        await keepOf(attempt, await shared.wrote(writer, file));
        hearing.claimDone(attempt, file);
      }
      hearing.silence(attempt);
      await keepOf(attempt, await shared.look(heard(false)));
      await asks.forget(attempt);
    },
    quarantine,
    async ourWrite(act) {
      if (begun === null) return act();
      const { result, lines } = await (await begun).ourWrite(act, heard(false));
      await keep(lines);
      return result;
    },
    async check(check, batch) {
      const context = contextOf();
      const shared = await tree();
      await keep(await shared.look(heard(false)));
      const { all, half, sides } = await halfAndOthers(context, null);
      context.log.info(`check of ${batch}: ${half.length} children are in the middle of their work`);
      const outcome = await shared.checkComposite({
        check,
        folder: scratchFolder(context),
        ...sides,
        onOutput: null,
      });
      return { outcome, children: checkedChildren(context.state(), all, half, maker.live) };
    },
    placeCheck,
    async children() {
      return checkedChildren(contextOf().state(), await allEdits(null), [], maker.live);
    },
    async writersBeside(key) {
      const { children } = contextOf().state();
      const writers = new Map<string, readonly string[]>();
      for (const { child, edits } of await allEdits(key)) {
        const name = child === userName ? theUser : (children[child]?.task.title ?? child);
        for (const path of new Set(maker.live(edits).map((edit) => edit.path)))
          writers.set(path, [...(writers.get(path) ?? []), name]);
      }
      return writers;
    },
    async close() {
      asks.close();
      if (begun !== null) await (await begun).close();
    },
  };
}

/** What an agent calls the person. */
const theUser = 'the user';

function editsFile(key: ChildKey): string {
  const { batch, id } = parseChildKey(key);
  return `${childPlace(batch, id)}/edits.jsonl`;
}

function usersFile(batch: string): string {
  return `${batchPlace(batch)}/edits.jsonl`;
}

/**
 * A command of a child with a worktree of its own was in the tree while the file changed, and did not name it: as well
 * as the child it may be the person, who works there too.
 */
function isDoubtful(context: EffectContext, attempt: Attempt, { child, edit }: LedgerLine): boolean {
  return child === attempt.key && edit.confidence === 'exclusive' && !hasNamed(context, attempt, edit.path);
}

function doubted({ child, edit }: LedgerLine): LedgerLine {
  return { child, edit: { ...edit, confidence: 'ambiguous', others: [userName] } };
}

/** In a shared batch, and not yet moved into a worktree of its own. */
export function worksInTree(context: EffectContext, child: Child): boolean {
  return context.state().batches[child.batch]?.isolation === 'shared' && !worksAlone(context, child);
}

function isHalf(child: Child): boolean {
  return child.phase.name !== 'succeeded' && child.phase.name !== 'queued';
}

/** Many more than are ever on their way to the disk. */
const mostKept = 10_000;
