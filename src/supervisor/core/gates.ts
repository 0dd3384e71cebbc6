import type { Verdict } from '../../protocol/verdict.js';
import type { Draft } from './draft.js';
import { choiceOf, gatesOf, isCanary, isShut, shutGateOf, type GateRef } from './gateLookup.js';
import { countWaiting, gateNotice } from './notices.js';
import { replacesReset, waitFor } from './gateWait.js';
import { startedAt } from './history.js';
import { gateKey, lookUp } from './keys.js';
import { askIfTooOften, pauseBehind } from './pauses.js';
import { consentOf, isSoon, probeWait, severity } from './policy.js';
import type { Child, Gate, GateKey, GatePosition, Instant, Policy, State } from './state.js';

export type Closed = Extract<GatePosition, { name: 'closed' }>;
export type Probing = Extract<GatePosition, { name: 'probing' }>;

/** No sign for this long behind a closed gate is taken for an agent that hangs in its own retries. */
export const hangsAfter = 30_000;
/** A start that has neither progressed nor been refused for this long lets one more follow. */
export const rampPatience = 30_000;

/**
 * Whether a start order may still be carried out. The loop asks right before it starts the process: a gate may have
 * closed since the order was given. If not, it says `spawnFailed`, and the child waits without having spent anything.
 */
export function maySpawn(state: State, key: string, attempt: number): boolean {
  const child = lookUp(state.children, key);
  return (
    child !== undefined &&
    child.attempt === attempt &&
    child.phase.name === 'running' &&
    state.diskFullSince === null &&
    shutGateOf(state, child) === null
  );
}

/** A child has met what closes a gate: closes it, joins the closing that is known, or refuses the one tried first. */
export function hearLimit(d: Draft, child: Child, verdict: Verdict): GateRef {
  const gate = gateFor(d, child, verdict);
  const { position } = gate;
  const refused = isCanary(gate, child);
  if (isShut(gate) && !refused && position.name !== 'open' && position.name !== 'opening') {
    if (severity(verdict.class) <= severity(position.reason)) return join(d, gate, position, child, verdict);
  } else if (!refused && isStale(d, gate, child, verdict)) return { key: gate.key, episode: gate.episode };
  return close(d, gate, child, verdict);
}

function gateFor(d: Draft, child: Child, verdict: Verdict): Gate {
  const choice = choiceOf(child);
  const model = verdict.scope === 'model' ? (choice.model ?? verdict.model) : null;
  const key = gateKey(choice.credential, model);
  const known = d.gate(key);
  const coversDefault = model !== null && choice.model === null;
  if (known !== undefined) return coversDefault ? { ...known, coversDefault } : known;
  return {
    key,
    credential: choice.credential,
    model,
    coversDefault,
    episode: 0,
    closedAt: null,
    openedAt: null,
    wake: null,
    near: null,
    position: { name: 'open' },
  };
}

/** The word of an attempt from before the last closing on a reset that has passed: old news. */
function isStale(d: Draft, gate: Gate, child: Child, verdict: Verdict): boolean {
  if (gate.closedAt === null || gate.openedAt === null || (startedAt(child) ?? Infinity) > gate.closedAt)
    return false;
  if (verdict.resetAt !== null) return verdict.resetAt <= d.now;
  return child.phase.name === 'running' && child.phase.lastSign <= gate.openedAt;
}

function close(d: Draft, gate: Gate, child: Child, verdict: Verdict): GateRef {
  const { position } = gate;
  const { policy } = d.batchOf(child);
  const episode = gate.episode + 1;
  const consent = consentOf(policy, verdict.class, verdict.window, verdict.needsUser);
  const again =
    position.name === 'probing' &&
    position.canary === child.key &&
    severity(position.reason) === severity(verdict.class);
  const tries = again ? position.tries + 1 : 0;
  const wait = waitFor(policy, verdict, { gate: gate.key, episode, tries, consent, now: d.now });
  const closed: Gate = {
    ...gate,
    episode,
    closedAt: d.now,
    position: {
      name: 'closed',
      since: d.now,
      reason: verdict.class,
      ...wait,
      window: verdict.window,
      message: verdict.message,
      tries,
      consent,
      answer: null,
      needsUser: consent !== 'auto',
      byUser: false,
      asks: verdict.needsUser,
      heard: [child.key],
    },
  };
  d.putGate(closed);
  d.order({ type: 'clearTimer', timer: { kind: 'gate', gate: gate.key, episode: gate.episode } });
  armGate(d, closed);
  forgetWishes(d, closed, child);
  watchRunning(d, closed);
  const notice = gateNotice(d.state, closed);
  if (notice !== null) d.order({ type: 'notify', key: `gate/${gate.key}/${episode}`, notice });
  return { key: gate.key, episode };
}

/** What a person said of the closing before does not count for this one; who was wanted waits for it. */
function forgetWishes(d: Draft, gate: Gate, closer: Child): void {
  for (const child of Object.values(d.state.children)) {
    if (child.phase.name !== 'paused' || child.key === closer.key || !isOn(d.state, child, gate.key))
      continue;
    const { pause } = child.phase;
    if (!pause.wanted && (!pause.agreed || pause.gate === null)) continue;
    // Who waited for itself now waits for the gate like the others.
    const ref = { key: gate.key, episode: gate.episode };
    const behind = pause.gate === null ? { ...pauseBehind(gate, ref), how: pause.how } : pause;
    const waits = askIfTooOften(d, child, { ...behind, wanted: false, agreed: false });
    d.putChild({ ...child, phase: { ...child.phase, pause: waits } });
  }
}

/** Running siblings may finish what they are in; whoever then gives no sign is parked. */
function watchRunning(d: Draft, gate: Gate): void {
  if (gate.position.name !== 'closed' || isSoon(gate.position.reason)) return;
  for (const child of Object.values(d.state.children))
    if (child.phase.name === 'running' && isOn(d.state, child, gate.key))
      d.order({
        type: 'setTimer',
        timer: { kind: 'idle', child: child.key, attempt: child.attempt },
        at: Math.max(d.now, child.phase.lastSign) + hangsAfter,
      });
}

export function isOn(state: State, child: Child, key: GateKey): boolean {
  return gatesOf(state, choiceOf(child)).some((gate) => gate.key === key);
}

function join(d: Draft, gate: Gate, position: Closed | Probing, child: Child, verdict: Verdict): GateRef {
  const newVoice = !position.heard.includes(child.key);
  const heard = newVoice ? [...position.heard, child.key] : position.heard;
  const changes =
    position.reason === verdict.class &&
    replacesReset(position, verdict, newVoice) &&
    verdict.resetAt !== null;
  const told = changes
    ? { until: verdict.resetAt, source: verdict.resetSource, window: verdict.window ?? position.window }
    : {};
  if (position.name === 'probing') d.putGate({ ...gate, position: { ...position, ...told, heard } });
  else {
    const { policy } = d.batchOf(child);
    const keeps = !changes || position.byUser || position.answer !== null;
    const tryAt = keeps
      ? position.tryAt
      : waitFor(policy, verdict, { ...position, gate: gate.key, episode: gate.episode, now: d.now }).tryAt;
    const joined: Gate = { ...gate, position: { ...position, ...told, heard, tryAt } };
    d.putGate(joined);
    if (tryAt !== position.tryAt) armGate(d, joined);
  }
  return { key: gate.key, episode: gate.episode };
}

export function armGate(d: Draft, gate: Gate): void {
  if (gate.position.name !== 'closed' || gate.position.tryAt === null) return;
  d.order({
    type: 'setTimer',
    timer: { kind: 'gate', gate: gate.key, episode: gate.episode },
    at: gate.position.tryAt,
  });
}

/** The first progress of an attempt: opens the gate it was tried at; while a gate opens, lets more follow. */
export function proveGates(d: Draft, child: Child): void {
  for (const gate of gatesOf(d.state, choiceOf(child))) {
    const { position } = gate;
    if (isCanary(gate, child))
      openGate(d, gate, countWaiting(d.state, gate.key), d.batchOf(child).policy.ramp);
    else if (position.name === 'opening' && (startedAt(child) ?? 0) >= position.since)
      d.putGate({ ...gate, position: { ...position, allowed: Math.min(position.allowed * 2, 4096) } });
  }
}

export function openGate(d: Draft, gate: Gate, of: number, ramp: number): void {
  const position: GatePosition =
    of === 0
      ? { name: 'open' }
      : { name: 'opening', since: d.now, allowed: Math.max(1, ramp), resumed: 0, of };
  d.putGate({ ...gate, openedAt: d.now, position });
  d.order({ type: 'clearTimer', timer: { kind: 'gate', gate: gate.key, episode: gate.episode } });
}

/** The one that was tried first has ended without a word on the gate: the next one is tried in its place. */
export function releaseCanary(d: Draft, child: Child): void {
  for (const gate of Object.values(d.state.gates)) {
    const { position } = gate;
    if (position.name !== 'probing' || position.canary !== child.key) continue;
    const { canary: _canary, byUser, ...rest } = position;
    const wanted = isWantedAt(d, gate.key);
    const again = byUser && !wanted && position.answer === null;
    const { policy } = d.batchOf(child);
    const closed: Gate = {
      ...gate,
      position: {
        ...rest,
        name: 'closed',
        tryAt: again ? waitAgain(d.now, policy, position) : d.now,
        byUser: wanted,
      },
    };
    d.putGate(closed);
    armGate(d, closed);
  }
}

function isWantedAt(d: Draft, key: GateKey): boolean {
  return Object.values(d.state.children).some(
    (child) => child.phase.name === 'paused' && child.phase.pause.wanted && isOn(d.state, child, key),
  );
}

/** A try that a person wanted before its time came to nothing: the wait is what it was. */
function waitAgain(now: Instant, policy: Policy, position: Probing): Instant | null {
  if (position.until !== null) return Math.max(now, position.until + policy.margin);
  return position.source === 'probe' ? now + probeWait(policy, position.tries) : null;
}

/** Makes a gate's closing something that is tried at an instant, because a person says so of one child. */
export function tryGateAt(d: Draft, gate: Gate, position: Closed, at: Instant): void {
  const asked: Gate = { ...gate, wake: null, position: { ...position, tryAt: at, byUser: true } };
  d.putGate(asked);
  if (at > d.now) armGate(d, asked);
}

/** A person has answered for all that wait behind the gate. */
export function agreeAt(d: Draft, gate: Gate): void {
  for (const child of Object.values(d.state.children)) {
    if (child.phase.name !== 'paused' || child.phase.pause.agreed || !isOn(d.state, child, gate.key))
      continue;
    d.putChild({ ...child, phase: { ...child.phase, pause: { ...child.phase.pause, agreed: true } } });
  }
}
