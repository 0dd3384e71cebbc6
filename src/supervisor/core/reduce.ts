import * as attempts from './attempts.js';
import * as batches from './batches.js';
import { fillDisk, freeDisk } from './disk.js';
import { Draft } from './draft.js';
import type { Effect } from './effect.js';
import { exited } from './ending.js';
import type { Event, Stamped } from './event.js';
import { mendClock } from './clock.js';
import { recover } from './recover.js';
import { schedule } from './schedule.js';
import type { State } from './state.js';
import { timerFired } from './timers.js';
import * as wishes from './wishes.js';
import * as work from './work.js';

/**
 * The machine. What the event means, then what may start because of it. A late or foreign event gives the same state
 * object. An event is in the journal before its effects run; they are orders, each may be carried out twice.
 */
export function reduce(
  state: State,
  stamped: Stamped,
): { readonly state: State; readonly effects: readonly Effect[] } {
  const d = new Draft(state);
  step(d, stamped);
  return { state: d.state, effects: d.effects };
}

/** Events one after the other, as `reduce` would take each: the same state and effects, with fewer copies. */
export class Reducing {
  readonly effects: Effect[] = [];
  private readonly d: Draft;

  constructor(state: State) {
    this.d = new Draft(state);
  }

  /** The same object as at the beginning where nothing has changed it. */
  get state(): State {
    return this.d.state;
  }

  /** False where the event changes nothing and orders nothing. */
  take(stamped: Stamped): boolean {
    const changed = step(this.d, stamped);
    this.effects.push(...this.d.effects);
    return changed || this.d.effects.length > 0;
  }
}

/** Many events at once without their effects, for reading a journal: the same state as one by one, with fewer copies. */
export function replay(state: State, events: Iterable<Stamped>): State {
  const d = new Draft(state);
  for (const stamped of events) step(d, stamped);
  return d.state;
}

/** Whether the state has changed. */
function step(d: Draft, stamped: Stamped): boolean {
  d.begin(stamped);
  mendClock(d);
  handle(d, stamped.event);
  if (d.restless) schedule(d);
  return d.end(stamped);
}

function handle(d: Draft, event: Event): void {
  switch (event.type) {
    case 'opened':
      return opened(d, event);
    case 'settingsChanged':
      d.set({ settings: event.settings });
      d.restless = true;
      return;
    case 'batchLaunched':
      return batches.batchLaunched(d, event);
    case 'batchRemoved':
      return batches.batchRemoved(d, event);
    case 'prepared':
      return attempts.prepared(d, event);
    case 'prepareFailed':
      return attempts.prepareFailed(d, event);
    case 'spawned':
    case 'adopted':
      return attempts.spawned(d, event);
    case 'spawnFailed':
      return attempts.spawnFailed(d, event);
    case 'sessionLearned':
      return attempts.sessionLearned(d, event);
    case 'reported':
      return attempts.reported(d, event);
    case 'limitHeard':
      return attempts.limitHeard(d, event);
    case 'exited':
      return exited(d, event);
    case 'snapshotTaken':
      return work.snapshotTaken(d, event);
    case 'snapshotFailed':
      return work.snapshotFailed(d, event);
    case 'uncaptured':
      return work.uncaptured(d, event);
    case 'strayed':
      return work.strayed(d, event);
    case 'worktreeLost':
      return work.worktreeLost(d, event);
    case 'worktreeRestored':
      return work.worktreeRestored(d, event);
    case 'worktreeMeasured':
      return work.worktreeMeasured(d, event);
    case 'worktreeRemoved':
      return work.worktreeRemoved(d, event);
    case 'quarantineStarted':
      return work.quarantineStarted(d, event);
    case 'quarantined':
      return work.quarantined(d, event);
    case 'settleLeftRequested':
      return work.settleLeftRequested(d, event);
    case 'forecasted':
      return work.forecasted(d, event);
    case 'applyRequested':
      return work.applyRequested(d, event);
    case 'applyWriting':
      return work.applyWriting(d, event);
    case 'applyEnded':
      return work.applyEnded(d, event);
    case 'checkRequested':
      return work.checkRequested(d, event);
    case 'checked':
      return work.checked(d, event);
    case 'restoreRequested':
      return work.restoreRequested(d, event);
    case 'timerFired':
      return timerFired(d, event.timer);
    case 'resumeRequested':
      return wishes.resumeRequested(d, event);
    case 'resumeAtRequested':
      return wishes.resumeAtRequested(d, event);
    case 'declineRequested':
      return wishes.declineRequested(d, event);
    case 'pauseRequested':
      return wishes.pauseRequested(d, event);
    case 'stopRequested':
      return wishes.stopRequested(d, event);
    case 'retryRequested':
      return wishes.retryRequested(d, event);
    case 'startNextRequested':
      return wishes.startNextRequested(d, event);
    case 'gateAnswered':
      return wishes.gateAnswered(d, event);
    case 'credentialChanged':
      return batches.credentialChanged(d, event);
    case 'diskFilled':
      return fillDisk(d);
    case 'diskFreed':
      return freeDisk(d);
    default:
      return event satisfies never;
  }
}

/** A new writer: silence while nobody listened is no silence of the children. */
function opened(d: Draft, event: Extract<Event, { type: 'opened' }>): void {
  d.set({ owner: event.owner });
  for (const child of Object.values(d.state.children))
    if (child.phase.name === 'running') d.putChild({ ...child, phase: { ...child.phase, lastSign: d.now } });
  for (const effect of recover(d.state)) d.order(effect);
  d.restless = true;
}
