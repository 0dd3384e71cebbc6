import type { ReasonView } from '../../protocol/view.js';
import type { ReasonClass, Verdict } from '../../protocol/verdict.js';
import type { Draft } from './draft.js';
import type { GateRef } from './gateLookup.js';
import { nextStretch } from './history.js';
import type { Child, Gate, Instant, Pause } from './state.js';

/** A pause that nothing but a person ends, to be narrowed by the caller. */
export function pauseFor(reason: ReasonClass, message: string, change: Partial<Pause> = {}): Pause {
  return {
    reason,
    message,
    needsUser: false,
    detail: null,
    resetAt: null,
    source: null,
    zoneAssumed: false,
    window: null,
    steps: [],
    gate: null,
    retryAt: null,
    chosen: false,
    wanted: false,
    agreed: false,
    declined: false,
    how: 'session',
    ...change,
  };
}

/** The pause of a child that waits for itself, as its last words read. */
export function pauseOf(verdict: Verdict, reason: ReasonClass, change: Partial<Pause> = {}): Pause {
  return pauseFor(reason, verdict.message, {
    resetAt: verdict.resetAt,
    source: verdict.resetSource,
    zoneAssumed: verdict.zoneAssumed,
    window: verdict.window,
    steps: verdict.steps,
    ...change,
  });
}

/** The pause of a child that waits for a gate it has not met itself. */
export function pauseBehind(gate: Gate, ref: GateRef): Pause {
  const { position } = gate;
  const agreed = isAgreed(gate);
  if (position.name === 'open' || position.name === 'opening' || position.reason === 'none')
    return pauseFor('usage_limit', '', { gate: ref, agreed });
  return pauseFor(position.reason, position.message, {
    resetAt: position.until,
    source: position.source,
    window: position.window,
    gate: ref,
    agreed,
  });
}

/** A person has answered for all that wait behind this closing. */
export function isAgreed(gate: Gate): boolean {
  const { position } = gate;
  return (position.name === 'closed' || position.name === 'probing') && position.answer === 'resume';
}

/** Into the pause, with what is kept of the child's work. */
export function enterPause(d: Draft, child: Child, asked: Pause): void {
  const pause = askIfTooOften(d, child, asked);
  clearAttemptTimers(d, child);
  d.putChild({
    ...child,
    phase: { name: 'paused', since: d.now, pause },
    history: nextStretch(child.history, d.now, {
      kind: 'paused',
      attempt: child.attempt,
      reason: pause.reason,
      how: null,
    }),
  });
  keepWork(d, child, 'paused');
  if (pause.retryAt !== null && pause.retryAt > d.now) armRetry(d, child, pause.retryAt);
  if (pause.needsUser && pause.reason === 'unknown')
    d.order({
      type: 'notify',
      key: `child/${child.key}/${child.attempt}`,
      notice: { kind: 'unknown', child: child.key, title: child.task.title },
    });
  d.restless = true;
}

const asksForAttempts = { needsUser: true, detail: 'attempts', retryAt: null } as const;

/** The pause, or the question to a person once the child has gone on by itself without progress as often as it may. */
export function askIfTooOften(d: Draft, child: Child, pause: Pause): Pause {
  return isTooOften(d, child, pause) ? { ...pause, ...asksForAttempts } : pause;
}

function isTooOften(d: Draft, child: Child, pause: Pause): boolean {
  const goesOn = pause.gate !== null || pause.retryAt !== null;
  if (
    !goesOn ||
    pause.needsUser ||
    pause.wanted ||
    pause.chosen ||
    pause.reason === 'disk' ||
    child.attempt === 0
  )
    return false;
  return child.resumesWithoutProgress >= d.batchOf(child).policy.maxAutoResumes;
}

export function armRetry(d: Draft, child: Child, at: Instant): void {
  d.order({ type: 'setTimer', timer: { kind: 'retry', child: child.key, attempt: child.attempt }, at });
}

/** Its edits as a commit, and in a shared tree out of the others' way. */
function keepWork(d: Draft, child: Child, why: 'paused' | 'ended'): void {
  if (child.worktree === null) return;
  d.order({ type: 'snapshot', child: child.key, why });
  if (d.batchOf(child).isolation === 'shared' && child.quarantine === null && why === 'paused')
    d.order({ type: 'quarantine', child: child.key });
}

function clearAttemptTimers(d: Draft, child: Child): void {
  const { phase, attempt } = child;
  if (phase.name === 'running') {
    d.order({ type: 'clearTimer', timer: { kind: 'idle', child: child.key, attempt } });
    d.order({ type: 'clearTimer', timer: { kind: 'total', child: child.key, attempt } });
  } else if (phase.name === 'parking' || phase.name === 'stopping')
    d.order({ type: 'clearTimer', timer: { kind: 'stop', child: child.key, attempt } });
  else if (phase.name === 'paused' && phase.pause.retryAt !== null)
    d.order({ type: 'clearTimer', timer: { kind: 'retry', child: child.key, attempt } });
}

export function succeed(d: Draft, child: Child, result: string): void {
  clearAttemptTimers(d, child);
  d.putChild({
    ...child,
    nextPrompt: null,
    resumesWithoutProgress: 0,
    crashes: 0,
    unknowns: 0,
    phase: { name: 'succeeded', since: d.now, result },
    history: nextStretch(child.history, d.now, null),
  });
  keepWork(d, child, 'ended');
  finish(d, child);
}

/** Terminal: said at once, with what is kept. In a shared tree its half-written edits go out of the way. */
export function fail(d: Draft, child: Child, reason: ReasonView): void {
  clearAttemptTimers(d, child);
  d.putChild({
    ...child,
    phase: { name: 'failed', since: d.now, reason },
    history: nextStretch(child.history, d.now, null),
  });
  keepWork(d, child, 'paused');
  d.order({
    type: 'notify',
    key: `child/${child.key}/${child.attempt}`,
    notice: { kind: 'failed', child: child.key, title: child.task.title, message: reason.message },
  });
  finish(d, child);
}

export function cancel(d: Draft, child: Child): void {
  clearAttemptTimers(d, child);
  d.putChild({
    ...child,
    phase: { name: 'canceled', since: d.now },
    history: nextStretch(child.history, d.now, null),
  });
  if (child.phase.name !== 'queued') keepWork(d, child, 'paused');
  finish(d, child);
}

function finish(d: Draft, child: Child): void {
  d.order({ type: 'writeResult', child: child.key });
  d.restless = true;
  const batch = d.batchOf(child);
  const children = batch.children.map((key) => d.child(key));
  if (!children.every((each) => each !== undefined && hasEnded(each))) return;
  const ready = children.filter(
    (each) => each?.phase.name === 'succeeded' && each.applied.state !== 'applied',
  );
  if (ready.length === 0) return;
  d.order({
    type: 'notify',
    key: `batch/${batch.id}/done`,
    notice: { kind: 'done', batch: batch.id, name: batch.name, ready: ready.length },
  });
}

export function hasEnded(child: Child): boolean {
  return child.phase.name === 'succeeded' || child.phase.name === 'failed' || child.phase.name === 'canceled';
}

/** Asked to stop at a safe point; the deadline kills. */
export function park(d: Draft, child: Child, then: Pause): void {
  if (child.phase.name !== 'running') return;
  const { launch, process, progressed } = child.phase;
  d.order({ type: 'clearTimer', timer: { kind: 'idle', child: child.key, attempt: child.attempt } });
  d.order({ type: 'clearTimer', timer: { kind: 'total', child: child.key, attempt: child.attempt } });
  d.putChild({ ...child, phase: { name: 'parking', since: d.now, launch, process, then, progressed } });
  orderStop(d, child);
}

/** How long an agent has to stop by itself. */
export const stopPatience = 10_000;

export function orderStop(d: Draft, child: Child): void {
  const deadline = d.now + stopPatience;
  d.order({ type: 'stop', child: child.key, attempt: child.attempt, deadline });
  d.order({
    type: 'setTimer',
    timer: { kind: 'stop', child: child.key, attempt: child.attempt },
    at: deadline,
  });
}
