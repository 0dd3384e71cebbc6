import type { Draft } from './draft.js';
import { trySwitch } from './fallback.js';
import { choiceOf, gateFinder, gatesOf, isShut } from './gateLookup.js';
import { openGate, rampPatience, type Closed } from './gates.js';
import { nextStretch, startedAt } from './history.js';
import { isSoon } from './policy.js';
import { priceToGoOn } from './price.js';
import { quietUntil } from './quietHours.js';
import { start } from './start.js';
import type { Batch, Child, ChildKey, Gate, GateKey } from './state.js';
import { goesOn, heldBack, isDue, mayTry, othersLet } from './waiting.js';

/** What is at work, counted once per event. */
interface Usage {
  all: number;
  readonly byBatch: Map<string, number>;
  /** Started since the gate began to open, without progress yet. */
  readonly unproven: Map<GateKey, number>;
}

/**
 * Derives what may start now. First the one that is tried at each closed gate whose time has come, then paused
 * children, then new ones; never more than the caps, and nothing into a gate that is closed, near or being tried.
 */
export function schedule(d: Draft): void {
  if (d.state.diskFullSince !== null) return;
  const { usage, waiting } = look(d);
  for (const gate of Object.values(d.state.gates)) openUnawaited(d, gate);
  for (const child of waiting.paused) trySwitch(d, child);
  for (const child of waiting.queued) trySwitch(d, child);
  for (const { key } of Object.values(d.state.gates)) tryFirst(d, key, waiting, usage);
  const { maxConcurrent } = d.state.settings;
  for (const child of waiting.paused) if (usage.all < maxConcurrent) goOn(d, child.key, usage);
  for (const child of waiting.queued) if (usage.all < maxConcurrent) begin(d, child.key, usage);
  settleOpening(d, waiting, usage);
  const find = gateFinder(d.state);
  for (const child of waiting.queued) noteHeld(d, child.key, find);
}

interface Waiting {
  readonly paused: readonly Child[];
  readonly queued: readonly Child[];
}

/** One walk over all children, in the order of batches and manifests; what a person wants next goes first. */
function look(d: Draft): { readonly usage: Usage; readonly waiting: Waiting } {
  const usage: Usage = { all: 0, byBatch: new Map(), unproven: new Map() };
  const opening = Object.values(d.state.gates).filter((gate) => gate.position.name === 'opening');
  const paused: Child[] = [];
  const queued: Child[] = [];
  const first: Child[] = [];
  const { children } = d.state;
  for (const id of d.state.batchOrder)
    for (const key of d.batch(id)?.children ?? []) {
      // A key that a batch names is never one of an object's own making.
      const child = children[key];
      if (child === undefined) continue;
      const { phase } = child;
      if ('launch' in phase) {
        take(usage, child);
        if (opening.length > 0) countUnproven(d, child, usage);
      } else if (phase.name === 'queued') (phase.startNext ? first : queued).push(child);
      else if (phase.name === 'paused' && goesOn(child, d.now)) paused.push(child);
    }
  return { usage, waiting: { paused: paused.sort(byWish), queued: [...first, ...queued] } };
}

function countUnproven(d: Draft, child: Child, usage: Usage): void {
  const { phase } = child;
  if ((phase.name === 'running' || phase.name === 'parking') && phase.progressed) return;
  const since = phase.name === 'preparing' ? phase.since : (startedAt(child) ?? phase.since);
  for (const gate of gatesOf(d.state, choiceOf(child)))
    if (gate.position.name === 'opening' && since >= gate.position.since)
      usage.unproven.set(gate.key, (usage.unproven.get(gate.key) ?? 0) + 1);
}

function byWish(a: Child, b: Child): number {
  return Number(isWanted(b)) - Number(isWanted(a));
}

function isWanted(child: Child): boolean {
  return child.phase.name === 'paused' && child.phase.pause.wanted;
}

function hasSlot(d: Draft, batch: Batch, usage: Usage): boolean {
  return (
    usage.all < d.state.settings.maxConcurrent && (usage.byBatch.get(batch.id) ?? 0) < batch.maxConcurrent
  );
}

function take(usage: Usage, child: Child): void {
  usage.all++;
  usage.byBatch.set(child.batch, (usage.byBatch.get(child.batch) ?? 0) + 1);
}

/** Exactly one goes first: the paused child that is cheapest to resume, or without one the first that is held. */
function tryFirst(d: Draft, key: GateKey, waiting: Waiting, usage: Usage): void {
  const gate = d.gate(key);
  if (gate?.position.name !== 'closed' || !isDue(gate, d.now)) return;
  const { position } = gate;
  const candidate = pickFirst(d, gate, position, waiting, usage);
  if (candidate === null) {
    return;
  }
  const byUser = position.byUser || isWanted(candidate);
  take(usage, candidate);
  for (const each of gatesOf(d.state, choiceOf(candidate))) probe(d, each, candidate.key, byUser);
  const canary = { gate: gate.key, episode: gate.episode };
  start(d, candidate, { by: byUser ? 'user' : 'auto', canary });
}

function probe(d: Draft, gate: Gate, canary: ChildKey, byUser: boolean): void {
  if (gate.position.name !== 'closed') return;
  const { tryAt: _tryAt, byUser: _byUser, ...rest } = gate.position;
  d.putGate({
    ...gate,
    wake: byUser ? null : { since: d.now, tokens: 0 },
    position: { ...rest, name: 'probing', canary, byUser, since: d.now },
  });
}

function pickFirst(d: Draft, gate: Gate, position: Closed, waiting: Waiting, usage: Usage): Child | null {
  let best: Child | null = null;
  let bestPrice = Infinity;
  for (const each of waiting.paused) {
    const child = d.child(each.key);
    if (child === undefined || !mayBeFirst(d, child, gate, position, usage)) continue;
    // A wish of a person goes before any price.
    const price = priceToGoOn(child, d.now) - (isWanted(child) ? 1e15 : 0);
    if (price < bestPrice) [best, bestPrice] = [child, price];
  }
  if (best !== null) return best;
  for (const each of waiting.queued) {
    const child = d.child(each.key);
    if (child !== undefined && mayBeFirst(d, child, gate, position, usage)) return child;
  }
  return null;
}

function mayBeFirst(d: Draft, child: Child, gate: Gate, position: Closed, usage: Usage): boolean {
  if (child.phase.name !== 'paused' && child.phase.name !== 'queued') return false;
  const batch = d.batchOf(child);
  return (
    gatesOf(d.state, choiceOf(child)).some((each) => each.key === gate.key) &&
    hasSlot(d, batch, usage) &&
    mayTry(d.state, child, position, batch.policy, d.now) &&
    othersLet(d.state, child, gate, d.now) &&
    ((position.byUser && position.answer === 'resume') || isAllowed(d, child, batch, position))
  );
}

/** A wake in quiet hours waits; one that a person wants does not. */
function isAllowed(d: Draft, child: Child, batch: Batch, position: Closed): boolean {
  if (isWanted(child)) return true;
  const brief = isSoon(position.reason) || position.reason === 'rate_limit';
  if (brief || quietUntil(batch.policy, d.now, d.offset) === null) return true;
  armQuiet(d, batch);
  return false;
}

function armQuiet(d: Draft, batch: Batch): void {
  const at = quietUntil(batch.policy, d.now, d.offset);
  if (at !== null) d.order({ type: 'setTimer', timer: { kind: 'quiet' }, at });
}

/** A stated reset has passed and nobody waits to try it: whoever comes may start. */
function openUnawaited(d: Draft, gate: Gate): void {
  const { position } = gate;
  if (position.name !== 'closed' || position.until === null || !isDue(gate, d.now)) return;
  if (!isAwaited(d, gate)) openGate(d, gate, 0, 1);
}

/** Somebody will still want this gate. */
function isAwaited(d: Draft, gate: Gate): boolean {
  return Object.values(d.state.children).some(
    (child) =>
      child.phase.name !== 'succeeded' &&
      child.phase.name !== 'failed' &&
      child.phase.name !== 'canceled' &&
      gatesOf(d.state, choiceOf(child)).some((each) => each.key === gate.key),
  );
}

/** Gates open, room in the ramp, a slot. */
function mayStart(d: Draft, child: Child, batch: Batch, usage: Usage): boolean {
  if (!hasSlot(d, batch, usage)) return false;
  return gatesOf(d.state, choiceOf(child)).every((gate) => {
    if (isShut(gate)) return false;
    if (gate.position.name !== 'opening') return true;
    return (usage.unproven.get(gate.key) ?? 0) < gate.position.allowed;
  });
}

function countOpening(d: Draft, child: Child, usage: Usage): void {
  take(usage, child);
  for (const gate of gatesOf(d.state, choiceOf(child))) {
    if (gate.position.name !== 'opening') continue;
    usage.unproven.set(gate.key, (usage.unproven.get(gate.key) ?? 0) + 1);
    // Whoever comes newly, or once more, was not among those that waited.
    const resumed = Math.min(gate.position.resumed + 1, gate.position.of);
    d.putGate({ ...gate, position: { ...gate.position, resumed } });
    d.order({
      type: 'setTimer',
      timer: { kind: 'ramp', gate: gate.key, episode: gate.episode },
      at: d.now + rampPatience,
    });
  }
}

function goOn(d: Draft, key: ChildKey, usage: Usage): void {
  const child = d.child(key);
  if (child?.phase.name !== 'paused') return;
  const batch = d.batchOf(child);
  if (!mayStart(d, child, batch, usage)) return;
  const held = heldBack(d, child, batch.policy);
  if (held === 'quiet') armQuiet(d, batch);
  if (held !== null) return;
  countOpening(d, child, usage);
  const by = child.phase.pause.wanted ? 'user' : 'auto';
  start(d, child, { by, canary: null });
}

function begin(d: Draft, key: ChildKey, usage: Usage): void {
  const child = d.child(key);
  if (child?.phase.name !== 'queued') return;
  const batch = d.batchOf(child);
  const near = !child.phase.startNext && nearGateOf(d, child) !== null;
  if (near || !mayStart(d, child, batch, usage) || heldBack(d, child, batch.policy) !== null) return;
  countOpening(d, child, usage);
  start(d, child, { by: child.attempt > 0 ? 'user' : 'queue', canary: null });
}

/** The gate that is near its limit, where new children wait. */
export function nearGateOf(d: Pick<Draft, 'state'>, child: Child): Gate | null {
  return gatesOf(d.state, choiceOf(child)).find((gate) => gate.near !== null) ?? null;
}

/** Opening ends when all that waited have started. */
function settleOpening(d: Draft, waiting: Waiting, usage: Usage): void {
  for (const gate of Object.values(d.state.gates)) {
    const { position } = gate;
    if (position.name !== 'opening') continue;
    const left = [...waiting.paused, ...waiting.queued].some((each) => {
      const child = d.child(each.key);
      const waits = child?.phase.name === 'paused' || child?.phase.name === 'queued';
      return waits && gatesOf(d.state, choiceOf(child)).some((other) => other.key === gate.key);
    });
    if (left || (usage.unproven.get(gate.key) ?? 0) > 0) continue;
    d.putGate({ ...gate, position: { name: 'open' } });
    d.order({ type: 'clearTimer', timer: { kind: 'ramp', gate: gate.key, episode: gate.episode } });
  }
}

/** Keeps the timeline's line between queued and held. */
function noteHeld(d: Draft, key: ChildKey, find: (child: Child) => readonly Gate[]): void {
  const child = d.child(key);
  if (child?.phase.name !== 'queued') return;
  const { startNext } = child.phase;
  const kind = find(child).some((gate) => isShut(gate) || (gate.near !== null && !startNext))
    ? 'held'
    : 'queued';
  const last = child.history.at(-1);
  if (last?.kind === kind && last.to === null) return;
  const stretch = { kind, attempt: null, reason: null, how: null } as const;
  d.putChild({ ...child, history: nextStretch(child.history, d.now, stretch) });
}
