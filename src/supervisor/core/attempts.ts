import type { Draft } from './draft.js';
import { backOff } from './backoff.js';
import { fillDisk } from './disk.js';
import { noteProgress, timeoutPause } from './ending.js';
import type { Event } from './event.js';
import { nextInChain, switchTo } from './fallback.js';
import { choiceOf, gatesOf, isShut, shutGateOf } from './gateLookup.js';
import { hangsAfter, hearLimit, releaseCanary } from './gates.js';
import { nextStretch, ranSinceGrant } from './history.js';
import { noteNear } from './near.js';
import { enterPause, fail, orderStop, park, pauseBehind, pauseFor } from './pauses.js';
import { closesGate, isSoon } from './policy.js';
import { beginningOf, holdBack, unstart } from './start.js';
import type { Child, Gate, Instant, Phase } from './state.js';

type Of<T extends Event['type']> = Extract<Event, { type: T }>;
type Running = Extract<Phase, { name: 'running' }>;

/** No sign for this long is shown as quiet. */
const quietAfter = 60_000;
/** A timer that comes this late was held up by sleep, and the child slept too: its silence counts from now. */
const slept = 60_000;

export function prepared(d: Draft, event: Of<'prepared'>): void {
  const child = d.child(event.child);
  if (child?.phase.name !== 'preparing' || child.attempt !== event.attempt) return;
  const { launch } = child.phase;
  const placed: Child = { ...child, worktree: event.place };
  if (d.state.diskFullSince !== null) {
    enterPause(d, unstart(placed, launch), pauseFor('disk', ''));
    releaseCanary(d, child);
  } else if (shutGateOf(d.state, child) !== null) {
    holdBack(d, placed, launch);
    releaseCanary(d, child);
  } else {
    d.putChild({
      ...placed,
      session: launch.how === 'brief' ? null : child.session,
      phase: {
        name: 'running',
        since: d.now,
        launch,
        process: null,
        lastSign: d.now,
        quiet: false,
        progressed: false,
      },
      history: nextStretch(child.history, d.now, {
        kind: 'running',
        attempt: launch.attempt,
        reason: null,
        how: beginningOf(child, launch),
      }),
    });
    d.order({ type: 'spawn', child: child.key, launch });
  }
}

export function prepareFailed(d: Draft, event: Of<'prepareFailed'>): void {
  const child = d.child(event.child);
  if (child?.phase.name !== 'preparing' || child.attempt !== event.attempt) return;
  const { launch } = child.phase;
  const { kind, message } = event.failure;
  const back = unstart(child, launch);
  switch (kind) {
    case 'programMissing': {
      const next = nextInChain(child);
      if (next === null) fail(d, back, { class: 'invalid_request', message, needsUser: true });
      else goOnWith(d, back, next);
      break;
    }
    case 'worktreeGone':
      enterPause(d, back, pauseFor('interrupted', message, { needsUser: true, detail: 'worktreeGone' }));
      break;
    case 'disk':
      enterPause(d, back, pauseFor('disk', message));
      fillDisk(d);
      break;
    case 'session':
    case 'repository':
    case 'setup':
      if (kind === 'session' && launch.how === 'session')
        enterPause(d, back, pauseFor('interrupted', message, { retryAt: d.now, how: 'brief' }));
      else crash(d, back, message);
      break;
    default:
      kind satisfies never;
  }
  releaseCanary(d, child);
}

/** The next executor of the chain; before the first attempt the child just waits for it in the queue. */
function goOnWith(d: Draft, child: Child, chosen: number): void {
  if (child.attempt === 0) {
    d.putChild({
      ...child,
      chosen,
      session: null,
      phase: { name: 'queued', since: d.now, startNext: false },
    });
    d.restless = true;
    return;
  }
  enterPause(d, child, pauseFor('interrupted', ''));
  const paused = d.child(child.key);
  if (paused !== undefined) switchTo(d, paused, chosen);
}

function crash(d: Draft, child: Child, message: string): void {
  const { policy } = d.batchOf(child);
  const crashes = child.crashes + 1;
  const change =
    Math.max(child.crashes, child.resumesWithoutProgress) >= policy.maxAutoResumes
      ? { needsUser: true, detail: 'attempts' as const }
      : { retryAt: d.now + backOff(child.crashes, `${child.key} ${child.attempt}`) };
  enterPause(d, { ...child, crashes }, pauseFor('process_crash', message, change));
}

export function spawned(d: Draft, event: Of<'spawned' | 'adopted'>): void {
  const child = d.child(event.child);
  if (child === undefined || child.attempt !== event.attempt) return;
  const { phase } = child;
  if (phase.name === 'running') {
    d.putChild({ ...child, phase: { ...phase, process: event.process, lastSign: d.now, quiet: false } });
    armTimeouts(d, child);
  } else if (phase.name === 'parking' || phase.name === 'stopping') {
    d.putChild({ ...child, phase: { ...phase, process: event.process } });
    orderStop(d, child);
  }
}

/** Idle and total time of the attempt. */
export function armTimeouts(d: Draft, child: Child): void {
  armIdle(d, child, d.now, false);
  const { total } = child.task.timeout;
  if (total === null) return;
  const due = child.phase.since + total - ranSinceGrant(child);
  const timer = { kind: 'total', child: child.key, attempt: child.attempt } as const;
  d.order({ type: 'setTimer', timer, at: Math.max(d.now, due) });
}

/** Looked at when it turns quiet, and again when it has been silent for too long. */
function armIdle(d: Draft, child: Child, lastSign: Instant, quiet: boolean): void {
  const due = lastSign + silenceOf(d, child);
  d.order({
    type: 'setTimer',
    timer: { kind: 'idle', child: child.key, attempt: child.attempt },
    at: quiet ? due : Math.min(due, lastSign + quietAfter),
  });
}

/** How long it may be silent; behind a closed gate silence means that it hangs in its own retries. */
function silenceOf(d: Draft, child: Child): number {
  const { idle } = child.task.timeout;
  return hangsBehind(d, child) === null ? idle : Math.min(hangsAfter, idle);
}

function hangsBehind(d: Draft, child: Child): Gate | null {
  const gate = shutGateOf(d.state, child);
  return gate?.position.name === 'closed' && !isSoon(gate.position.reason) ? gate : null;
}

export function spawnFailed(d: Draft, event: Of<'spawnFailed'>): void {
  const child = d.child(event.child);
  if (child === undefined || child.attempt !== event.attempt) return;
  const { phase } = child;
  if (phase.name === 'parking') enterPause(d, child, phase.then);
  else if (phase.name === 'running') {
    if (event.disk) {
      enterPause(d, child, pauseFor('disk', event.message));
      fillDisk(d);
    } else if (d.state.diskFullSince !== null) enterPause(d, child, pauseFor('disk', ''));
    else if (phase.process === null && shutGateOf(d.state, child) !== null) holdBack(d, child, phase.launch);
    else crash(d, child, event.message);
  } else return;
  releaseCanary(d, child);
}

export function sessionLearned(d: Draft, event: Of<'sessionLearned'>): void {
  const child = d.child(event.child);
  if (child === undefined || child.attempt !== event.attempt || child.session === event.session) return;
  if (child.phase.name === 'preparing' || child.phase.name === 'queued') return;
  d.putChild({ ...child, session: event.session });
}

/** Not more often than this are arriving edits captured. */
const editsEvery = 10_000;

export function reported(d: Draft, event: Of<'reported'>): void {
  const known = d.child(event.child);
  if (known === undefined || known.attempt !== event.attempt) return;
  const { phase } = known;
  if (phase.name !== 'running' && phase.name !== 'parking' && phase.name !== 'stopping') return;
  const child = event.progress ? noteProgress(d, known) : known;
  const { report } = event;
  const tokens = report.input + report.output - child.report.input - child.report.output;
  const edits = report.written > child.report.written;
  const asks = edits && d.now - (child.snapshotAskedAt ?? 0) >= editsEvery;
  const next: Child = {
    ...child,
    snapshotAskedAt: asks ? d.now : child.snapshotAskedAt,
    report: {
      read: report.read,
      written: report.written,
      input: report.input,
      cachedInput: report.cachedInput,
      output: report.output,
      context: report.context ?? child.report.context,
      lastLine: report.lastLine,
      lastLineAt: report.lastLineAt,
      details: report.details ?? child.report.details,
      offsets: { attempt: event.attempt, stdout: report.stdout, stderr: report.stderr },
    },
    phase: child.phase.name === 'running' ? { ...child.phase, lastSign: d.now, quiet: false } : child.phase,
  };
  d.putChild(next);
  if (asks) d.order({ type: 'snapshot', child: child.key, why: 'edits' });
  if (tokens > 0) spend(d, next, tokens);
}

/** Counts what a wake costs; above the ceiling the child is parked and a person asked. */
function spend(d: Draft, child: Child, tokens: number): void {
  const ceiling = d.batchOf(child).policy.tokensPerWake;
  for (const gate of gatesOf(d.state, choiceOf(child))) {
    if (gate.wake === null || isShut(gate)) continue;
    const wake = { ...gate.wake, tokens: gate.wake.tokens + tokens };
    d.putGate({ ...gate, wake });
    if (ceiling !== null && wake.tokens >= ceiling && child.phase.name === 'running') {
      park(d, child, pauseFor('budget', '', { needsUser: true }));
      return;
    }
  }
}

export function limitHeard(d: Draft, event: Of<'limitHeard'>): void {
  const child = d.child(event.child);
  if (child === undefined || child.attempt !== event.attempt) return;
  if (child.phase.name !== 'running' && child.phase.name !== 'parking') return;
  const { verdict } = event;
  if (closesGate(verdict.class)) {
    hearLimit(d, child, verdict);
    releaseCanary(d, child);
    if (child.phase.name === 'running')
      d.order({
        type: 'setTimer',
        timer: { kind: 'idle', child: child.key, attempt: child.attempt },
        at: d.now + hangsAfter,
      });
  } else if (verdict.nearLimit !== null) noteNear(d, child, verdict.nearLimit);
}

/** No sign for too long, or its whole time used up: parked, its work kept. */
export function attemptTimer(d: Draft, kind: 'idle' | 'total', key: string, attempt: number): void {
  const child = d.child(key);
  if (child?.phase.name !== 'running' || child.attempt !== attempt) return;
  const { phase } = child;
  if (kind === 'idle') idleTimer(d, child, phase);
  else if (child.task.timeout.total !== null) {
    const due = phase.since + child.task.timeout.total - ranSinceGrant(child);
    if (d.now < due) d.order({ type: 'setTimer', timer: { kind, child: key, attempt }, at: due });
    else parkTimedOut(d, child, phase, 'total');
  }
}

function idleTimer(d: Draft, child: Child, phase: Running): void {
  const { lastSign } = phase;
  const due = lastSign + silenceOf(d, child);
  const quiet = d.now - lastSign >= quietAfter;
  if (d.now < due) {
    if (quiet !== phase.quiet) d.putChild({ ...child, phase: { ...phase, quiet } });
    armIdle(d, child, lastSign, quiet);
    return;
  }
  if (d.now - due > slept) {
    d.putChild({ ...child, phase: { ...phase, lastSign: d.now, quiet: false } });
    armIdle(d, child, d.now, false);
    return;
  }
  const gate = hangsBehind(d, child);
  if (gate !== null && d.now < lastSign + child.task.timeout.idle)
    park(d, child, pauseBehind(gate, { key: gate.key, episode: gate.episode }));
  else parkTimedOut(d, child, phase, 'idle');
}

function parkTimedOut(d: Draft, child: Child, phase: Running, detail: 'idle' | 'total'): void {
  park(d, child, timeoutPause(d, child, phase.progressed, pauseFor('timeout', '', { detail })));
}
