import { parseChildKey } from '../core/keys.js';
import { hasEnded } from '../core/pauses.js';
import type { Child } from '../core/state.js';
import type { ChildWork, Clock } from '../ports.js';
import { messageOf, type EffectContext } from './context.js';
import { worksAlone } from './snapshots.js';
import { createSoon } from './soon.js';

/** Would the work of the children, of all batches, merge into the user's tree and with each other? */
export interface Forecasts {
  /** A child's work or the tree has changed; several wishes at once are one forecast. */
  make(): Promise<void>;
  /** While a child is live the user's tree is looked at now and then: an edit there may change what comes. */
  watch(): void;
}

const whileAgentsRun = 3000;
const whileAllWait = 15_000;
/** In a tree that takes long to look at it is done less often: at most this share of the time goes into it. */
const share = 1 / 20;

export function createForecasts(clock: Clock, contextOf: () => EffectContext): Forecasts {
  const timer = 'forecast';
  /** What the last forecast was made of. */
  let known: string | null = null;
  let took = 0;
  const soon = createSoon(
    clock,
    () => 0,
    async () => {
      const context = contextOf();
      await context.turns.run('tree', () => forecast(context));
      watch();
    },
  );

  async function forecast(context: EffectContext): Promise<void> {
    const works = worksOf(context);
    if (works.length === 0 || !context.mayAct()) return;
    try {
      // Taken before: an edit that comes meanwhile is seen by the next look.
      const mark = await context.git.treeMark(context.repository);
      known = sourceOf(mark, works);
      const forecasts = await context.git.forecast(context.repository, works);
      if (!context.mayAct()) return;
      context.post({
        type: 'forecasted',
        forecasts: forecasts.map(({ id: child, clean, conflicts }) => ({
          child,
          clean,
          with: conflicts.map(({ who, path }) => ({ who: nameFor(child, who), path })),
        })),
      });
    } catch (error) {
      if (context.mayAct()) context.log.warn(`What would conflict is not known: ${messageOf(error)}`);
    }
  }

  async function look(context: EffectContext): Promise<void> {
    const from = clock.monotonic();
    const mark = await context.git.treeMark(context.repository).catch(() => null);
    took = clock.monotonic() - from;
    if (!context.mayAct()) return;
    const changed = mark !== null && sourceOf(mark, worksOf(context)) !== known;
    if (changed || anyUnknown(context)) await make();
    else watch();
  }

  function make(): Promise<void> {
    soon.want();
    return soon.flush();
  }

  function watch(): void {
    const context = contextOf();
    const children = Object.values(context.state().children);
    const isLive = children.some((child) => !hasEnded(child));
    if (!context.mayAct() || context.timers.has(timer) || !isLive || worksOf(context).length === 0) return;
    const pause = children.some((child) => 'launch' in child.phase) ? whileAgentsRun : whileAllWait;
    context.timers.set(
      timer,
      clock.timer(clock.now() + Math.max(pause, took / share), () => {
        context.timers.delete(timer);
        context.track(timer, look(context));
      }),
    );
  }

  return { make, watch };
}

/** A child's last snapshot, by the name that it has among those it is compared with. */
export function workOf(child: Child, name: string): readonly ChildWork[] {
  if (child.snapshot === null) return [];
  const { commit } = child.snapshot;
  // Where its worktree is cleaned away, what it started from is still the parent of its snapshot.
  return [{ id: name, base: child.worktree?.base ?? `${commit}^`, commit }];
}

function worksOf(context: EffectContext): readonly ChildWork[] {
  return compared(context).flatMap((child) => workOf(child, child.key));
}

/** Everybody whose work may still come into the tree; what failed in a batch that is over does not by itself. */
function compared(context: EffectContext): readonly Child[] {
  const children = Object.values(context.state().children);
  const live = new Set(children.filter((child) => !hasEnded(child)).map(({ batch }) => batch));
  return children.filter(
    (child) =>
      child.applied.state !== 'applied' &&
      (child.phase.name === 'succeeded' || live.has(child.batch)) &&
      worksAlone(context, child),
  );
}

/** An apply that was refused has taken back what was foreseen. */
function anyUnknown(context: EffectContext): boolean {
  return compared(context).some((child) => child.snapshot !== null && child.applied.state === 'none');
}

function sourceOf(mark: string, works: readonly ChildWork[]): string {
  return JSON.stringify([mark, works]);
}

/** Among its own batch a child goes by its id. */
function nameFor(child: string, who: string): string {
  const other = parseChildKey(who);
  return other.batch === parseChildKey(child).batch ? other.id : who;
}
