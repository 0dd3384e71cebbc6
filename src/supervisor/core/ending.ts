import type { Verdict } from '../../protocol/verdict.js';
import { backOff } from './backoff.js';
import type { Draft } from './draft.js';
import type { Event } from './event.js';
import type { GateRef } from './gateLookup.js';
import { hearLimit, proveGates, releaseCanary } from './gates.js';
import { pausesSincePerson } from './history.js';
import { cancel, enterPause, fail, isAgreed, pauseFor, pauseOf, succeed } from './pauses.js';
import { closesGate, consentOf, isSoon } from './policy.js';
import { uncount } from './start.js';
import type { Child, Launch, Pause, Phase } from './state.js';

type Exited = Extract<Event, { type: 'exited' }>;
type Running = Extract<Phase, { name: 'running' }>;

/** An attempt has ended: what its last words mean for the child and for its gates. */
export function exited(d: Draft, event: Exited): void {
  const child = d.child(event.child);
  if (child === undefined || child.attempt !== event.attempt) return;
  switch (child.phase.name) {
    case 'running': {
      const after = event.progress ? noteProgress(d, child) : child;
      endOfRun(d, after, event);
      break;
    }
    case 'parking':
      endOfParking(d, event.progress ? noteProgress(d, child) : child, child.phase.then, event);
      break;
    case 'stopping':
      if (hasFinished(event)) succeed(d, child, event.result);
      else cancel(d, child);
      break;
    case 'queued':
    case 'preparing':
    case 'paused':
    case 'succeeded':
    case 'failed':
    case 'canceled':
      return;
    default:
      child.phase satisfies never;
  }
  releaseCanary(d, child);
}

/** The attempt has done something: its counters start anew, its gates are proven. */
export function noteProgress(d: Draft, child: Child): Child {
  const { phase } = child;
  if (phase.name !== 'running' && phase.name !== 'parking') return child;
  if (phase.progressed) return child;
  proveGates(d, child);
  const proven: Child = {
    ...child,
    resumesWithoutProgress: 0,
    crashes: 0,
    phase: { ...phase, progressed: true },
  };
  d.putChild(proven);
  return proven;
}

/** Asked to stop, it may have come to its end first; then only its own word counts, not the shape of the exit. */
function hasFinished(event: Exited): boolean {
  const { exit, verdict } = event;
  if (verdict.class !== 'none' || exit.signal !== null || exit.code !== 0) return false;
  return event.done ?? event.result !== '';
}

function endOfParking(d: Draft, child: Child, then: Pause, event: Exited): void {
  if (hasFinished(event)) {
    const proven = noteProgress(d, child);
    succeed(d, proven, event.result);
    return;
  }
  if (event.verdict.class === 'usage_limit') hearLimit(d, child, event.verdict);
  // What ended behind a gate, or was asked for, is no resume that led nowhere.
  const free = then.gate !== null || then.reason === 'user' || then.reason === 'disk';
  const after = free && child.phase.name === 'parking' ? uncount(child, child.phase.launch) : child;
  enterPause(d, after, then.retryAt !== null && then.retryAt < d.now ? { ...then, retryAt: d.now } : then);
}

function endOfRun(d: Draft, child: Child, event: Exited): void {
  const { verdict, exit } = event;
  const { phase } = child;
  if (phase.name !== 'running') return;
  if (verdict.class === 'none' && exit.kind === 'exited') {
    const proven = noteProgress(d, child);
    succeed(d, proven, event.result);
    return;
  }
  if (closesGate(verdict.class)) endAtGate(d, child, verdict);
  else if (d.state.diskFullSince !== null) enterPause(d, child, pauseOf(verdict, 'disk'));
  else if (exit.kind === 'lost' && saysNothing(verdict)) endInterrupted(d, child);
  else if (refusesSession(phase.launch, phase, verdict)) {
    const fresh = { retryAt: d.now, how: 'brief' } as const;
    enterPause(d, uncount(child, phase.launch), pauseOf(verdict, 'interrupted', fresh));
  } else endByItself(d, child, phase, verdict);
}

function saysNothing(verdict: Verdict): boolean {
  return verdict.class === 'none' || verdict.class === 'unknown' || verdict.class === 'process_crash';
}

/** A resume that the agent refuses at once, by an unknown session or on replay, goes on with the brief instead. */
function refusesSession(launch: Launch, phase: Running, verdict: Verdict): boolean {
  const refusal = verdict.class === 'invalid_request' || verdict.class === 'context_overflow';
  return launch.how === 'session' && !phase.progressed && refusal;
}

function endAtGate(d: Draft, child: Child, verdict: Verdict): void {
  const before = d.child(child.key) ?? child;
  const episodes = new Map(Object.values(d.state.gates).map((gate) => [gate.key, gate.episode]));
  const gate = hearLimit(d, before, verdict);
  if (!verdict.recoverable && verdict.class === 'auth_denied') {
    fail(d, before, {
      class: 'auth_denied',
      message: verdict.message,
      needsUser: true,
      steps: verdict.steps,
    });
    return;
  }
  const joined = episodes.get(gate.key) === gate.episode;
  const launch = before.phase.name === 'running' ? before.phase.launch : null;
  const counted = launch !== null && launch.counted && isCounted(d, verdict, joined);
  const tried = counted || launch === null ? before : uncount(before, launch);
  const reason = verdict.class === 'none' ? 'unknown' : verdict.class;
  enterPause(d, tried, pauseOf(verdict, reason, { gate, agreed: isAgreedAt(d, gate) }));
}

function isAgreedAt(d: Draft, ref: GateRef): boolean {
  const gate = d.gate(ref.key);
  return gate !== undefined && gate.episode === ref.episode && isAgreed(gate);
}

/**
 * A resume counts against the child only if it was refused at the reset that was stated. Joining a closing that is
 * known, and tries that are guesses from the start, are the gate's doing.
 */
function isCounted(d: Draft, verdict: Verdict, joined: boolean): boolean {
  return !joined && verdict.resetAt !== null && verdict.resetAt > d.now && !isSoon(verdict.class);
}

/** Found dead: at once the first time, then after a while. */
function endInterrupted(d: Draft, child: Child): void {
  const wait = child.crashes === 0 ? 0 : backOff(child.crashes - 1, `${child.key} ${child.attempt}`);
  const pause = pauseFor('interrupted', '', { retryAt: d.now + wait });
  enterPause(d, { ...child, crashes: child.crashes + 1 }, pause);
}

/** The child's own failures: some are tried again after a while, some are asked about, the rest is terminal. */
function endByItself(d: Draft, child: Child, phase: Running, verdict: Verdict): void {
  const { policy } = d.batchOf(child);
  const consent = consentOf(policy, verdict.class, verdict.window, false);
  const seed = `${child.key} ${child.attempt}`;
  const ask = { needsUser: true } as const;
  switch (verdict.class) {
    case 'process_crash':
    case 'none': {
      const crashes = child.crashes + 1;
      const retry = { retryAt: d.now + backOff(child.crashes, seed) };
      const change = consent === 'auto' ? retry : ask;
      enterPause(d, { ...child, crashes }, pauseOf(verdict, 'process_crash', change));
      return;
    }
    case 'unknown': {
      const retry = { retryAt: d.now + backOff(0, seed) };
      const change = child.unknowns > 0 ? ask : consent === 'auto' ? retry : ask;
      enterPause(d, { ...child, unknowns: child.unknowns + 1 }, pauseOf(verdict, 'unknown', change));
      return;
    }
    case 'timeout':
      enterPause(d, child, timeoutPause(d, child, phase.progressed, pauseOf(verdict, 'timeout')));
      return;
    case 'context_overflow': {
      const change = consent === 'auto' ? { retryAt: d.now } : ask;
      if (verdict.recoverable)
        enterPause(d, child, pauseOf(verdict, 'context_overflow', { ...change, how: 'brief' }));
      else failBy(d, child, verdict);
      return;
    }
    case 'cancelled':
      // Nobody here asked for it: a machine that shuts down ends its agents so, and that is no failure of theirs.
      enterPause(d, child, pauseOf(verdict, 'cancelled', ask));
      return;
    case 'invalid_request':
    case 'content_policy':
      failBy(d, child, verdict);
      return;
    case 'usage_limit':
    case 'rate_limit':
    case 'credits_exhausted':
    case 'overloaded':
    case 'stream_interrupted':
    case 'network':
    case 'auth_expired':
    case 'auth_denied':
      throw new Error(`${verdict.class} is a gate's matter`);
    default:
      verdict.class satisfies never;
  }
}

function failBy(d: Draft, child: Child, verdict: Verdict): void {
  const reason = verdict.class === 'none' ? 'unknown' : verdict.class;
  const { message, needsUser, steps } = verdict;
  fail(d, child, { class: reason, message, needsUser, steps });
}

/** After a time-out it goes on by itself once, if it had got anywhere; else a person looks at it. */
export function timeoutPause(d: Draft, child: Child, progressed: boolean, pause: Pause): Pause {
  const first = pausesSincePerson(child, 'timeout') === 0;
  const { policy } = d.batchOf(child);
  const goesOn =
    progressed &&
    first &&
    child.resumesWithoutProgress < policy.maxAutoResumes &&
    consentOf(policy, 'timeout', null, false) === 'auto';
  return goesOn ? { ...pause, retryAt: d.now } : { ...pause, needsUser: true };
}
