import { childPlace } from '../../protocol/places.js';
import { parseChildKey } from '../core/keys.js';
import type { Effect } from '../core/effect.js';
import type { TimerId } from '../core/event.js';
import type { ChildKey } from '../core/state.js';
import { redact } from '../verdict/redact.js';
import { isDiskError, messageOf, type EffectContext } from './context.js';
import { applyWork, checkTree } from './merge.js';
import { filesWritten } from '../core/viewWork.js';
import { prepare } from './prepare.js';
import { quarantineChild, restoreWorktree, snapshotStopped } from './snapshots.js';
import { adoptAttempt, spawnAttempt } from './spawn.js';

/** Carries one order of the machine out. Returns at once; what comes of it comes back as events. */
export function runEffect(context: EffectContext, effect: Effect): void {
  if (!context.mayAct()) return;
  switch (effect.type) {
    case 'prepare':
      return context.track(`prepare ${effect.child}`, prepare(context, effect));
    case 'spawn':
      return context.track(`spawn ${effect.child}`, spawnAttempt(context, effect));
    case 'adopt':
      return context.track(`adopt ${effect.child}`, adoptAttempt(context, effect));
    case 'stop':
      return context.track(`stop ${effect.child}`, stop(context, effect.child, effect.attempt));
    case 'kill':
      return context.track(`kill ${effect.child}`, kill(context, effect.child, effect.attempt));
    case 'snapshot':
      return context.track(`snapshot ${effect.child}`, snapshotStopped(context, effect));
    case 'quarantine':
      return context.track(`quarantine ${effect.child}`, quarantineChild(context, effect));
    case 'restoreWorktree':
      return context.track(`restore ${effect.child}`, restoreWorktree(context, effect));
    case 'forecast':
      return context.track('forecast', context.forecasts.make());
    case 'apply':
      return context.track(`apply ${effect.batch}`, applyWork(context, effect));
    case 'check':
      return context.track(`check ${effect.batch}`, checkTree(context, effect));
    case 'setTimer':
      return setTimer(context, effect.timer, effect.at);
    case 'clearTimer':
      return clearTimer(context, effect.timer);
    case 'writeResult':
      return context.track(
        `result ${effect.child}`,
        context.turns.run(laneOf(effect.child), () => writeResult(context, effect.child)),
      );
    case 'notify':
      return notify(context, effect);
    case 'watchDisk':
      return watchDisk(context);
    default:
      effect satisfies never;
  }
}

/** First rung: the agent is asked as it likes best. The machine's own timer orders the next rung. */
async function stop(context: EffectContext, key: ChildKey, number: number): Promise<void> {
  const attempt = context.attempts.get(key);
  if (attempt === undefined || attempt.number !== number) return;
  attempt.stopAsked = true;
  if (attempt.process === null) return;
  const { stopSignal } = attempt.adapter.traits;
  const reached = await context.processes.ask(attempt.process, stopSignal);
  context.log.info(
    `${key}: ${reached ? `asked to stop with ${stopSignal}` : 'was gone before it was asked'}`,
  );
}

/** Last rung: the whole tree, with what runs in sessions of its own. */
async function kill(context: EffectContext, key: ChildKey, number: number): Promise<void> {
  const attempt = context.attempts.get(key);
  if (attempt === undefined || attempt.number !== number) return;
  attempt.killAsked = true;
  if (attempt.process === null) return;
  const hit = await context.processes.kill(attempt.process);
  context.log.warn(`${key}: did not stop when asked; ${hit} processes were killed`);
}

function setTimer(context: EffectContext, timer: TimerId, at: number): void {
  const name = timerName(timer);
  context.timers.get(name)?.dispose();
  context.timers.set(
    name,
    context.clock.timer(at, () => {
      context.timers.delete(name);
      context.post({ type: 'timerFired', timer });
    }),
  );
}

function clearTimer(context: EffectContext, timer: TimerId): void {
  const name = timerName(timer);
  context.timers.get(name)?.dispose();
  context.timers.delete(name);
}

function timerName(timer: TimerId): string {
  const { kind, ...rest } = timer;
  return `${kind} ${Object.values(rest).join(' ')}`;
}

const longestResult = 64 * 1024;

/** After a restart all results are looked at: some at once, not a thousand. Those of one child come in their order. */
function laneOf(key: ChildKey): string {
  return `result ${key.charCodeAt(key.length - 1) % 8}`;
}

async function writeResult(context: EffectContext, key: ChildKey): Promise<void> {
  const child = context.state().children[key];
  if (child === undefined) return;
  const { phase, report } = child;
  const { batch, id } = parseChildKey(key);
  const value = {
    schema: 1,
    child: key,
    title: child.task.title,
    status: phase.name,
    result: phase.name === 'succeeded' ? redact(phase.result).slice(0, longestResult) : null,
    reason: phase.name === 'failed' ? phase.reason : null,
    attempts: child.attempt,
    session: child.session,
    worktree: child.worktree?.path ?? null,
    snapshot: child.snapshot?.ref ?? null,
    files: { read: report.read, written: filesWritten(child) },
    tokens: { input: report.input, cachedInput: report.cachedInput, output: report.output },
    endedAt: new Date(phase.since).toISOString(),
  };
  const file = `${childPlace(batch, id)}/result.json`;
  const text = `${JSON.stringify(value, null, 2)}\n`;
  try {
    // An order that comes again finds it written.
    if ((await context.store.read(file)) !== text) await context.store.write(file, text);
  } catch (error) {
    if (!context.mayAct()) return;
    if (isDiskError(error)) context.diskFilled();
    else context.log.error(`${key}: result.json not written: ${messageOf(error)}`);
  }
}

/** Once per key, also over restarts. */
function notify(context: EffectContext, effect: Extract<Effect, { type: 'notify' }>): void {
  if (context.notified.has(effect.key)) return;
  context.notified.add(effect.key);
  context.notice(effect.notice);
  const keys = JSON.stringify([...context.notified].slice(-1000));
  context.track(
    'notified.json',
    context.turns.run('notified', () =>
      context.store.write('notified.json', `${keys}\n`).catch((error: unknown) => {
        // Told twice is better than not told.
        if (context.mayAct()) context.log.warn(`notified.json not written: ${messageOf(error)}`);
      }),
    ),
  );
}

const diskPause = 2000;

/** Tries until something can be written again. */
function watchDisk(context: EffectContext): void {
  const name = 'watchDisk';
  if (context.timers.has(name)) return;
  const look = async () => {
    const free = await context.store.probe().catch(() => false);
    if (!context.mayAct()) return;
    if (free) context.post({ type: 'diskFreed' });
    else watchDisk(context);
  };
  context.timers.set(
    name,
    context.clock.timer(context.clock.now() + diskPause, () => {
      context.timers.delete(name);
      context.track(name, look());
    }),
  );
}
