import { gateFinder } from './gateLookup.js';
import { parseChildKey } from './keys.js';
import { priceToGoOn } from './price.js';
import { quietUntil } from './quietHours.js';
import type { Child, ChildKey, Gate, GateKey, Instant, Policy, State } from './state.js';
import { goesOn, isOverBudget, mayTry } from './waiting.js';

/** What must be known of all children at once before one of them or a gate can be drawn. */
export interface Facts {
  readonly busy: number;
  readonly busyByBatch: ReadonlyMap<string, number>;
  readonly gates: ReadonlyMap<GateKey, GateFacts>;
  /** Place in the line after a reset. */
  readonly order: ReadonlyMap<ChildKey, number>;
}

export interface GateFacts {
  readonly held: number;
  readonly waiting: number;
  readonly first: { readonly id: string; readonly title: string; readonly tokens: number | null } | null;
  readonly canaryTitle: string | null;
  readonly quietUntil: Instant | null;
  readonly overBudget: boolean;
  /** One that waits goes on without a question. */
  readonly someGoOn: boolean;
  readonly policy: Policy | null;
}

export function iso(at: Instant): string;
export function iso(at: Instant | null): string | null;
export function iso(at: Instant | null): string | null {
  if (at === null || !Number.isFinite(at) || Math.abs(at) > 8.64e15) return null;
  return new Date(at).toISOString();
}

/** One walk over all children. */
export function gatherFacts(state: State): Facts {
  let busy = 0;
  const busyByBatch = new Map<string, number>();
  const waiting = new Map<GateKey, { paused: Child[]; held: Child[]; counted: number; spent: boolean }>();
  const find = gateFinder(state);
  for (const id of state.batchOrder)
    for (const key of state.batches[id]?.children ?? []) {
      const child = state.children[key];
      if (child === undefined) continue;
      const { phase } = child;
      if ('launch' in phase) {
        busy++;
        busyByBatch.set(id, (busyByBatch.get(id) ?? 0) + 1);
      }
      if (phase.name !== 'paused' && phase.name !== 'queued') continue;
      const spent = phase.name === 'paused' && phase.pause.reason === 'budget';
      if (phase.name === 'paused' && phase.pause.gate === null && !spent && !goesOn(child, state.at))
        continue;
      for (const gate of find(child)) {
        if (gate.position.name === 'open' && gate.near === null && gate.wake === null) continue;
        const at = waiting.get(gate.key) ?? { paused: [], held: [], counted: 0, spent: false };
        at.counted++;
        if (spent) at.spent = true;
        if (phase.name === 'queued') at.held.push(child);
        else if (goesOn(child, state.at)) at.paused.push(child);
        waiting.set(gate.key, at);
      }
    }
  const order = new Map<ChildKey, number>();
  const gates = new Map<GateKey, GateFacts>();
  for (const gate of Object.values(state.gates)) {
    const at = waiting.get(gate.key);
    const line = at === undefined ? [] : lineAt(state, gate, at.paused, at.held);
    if (gate.position.name !== 'open') {
      // While one is tried, and while they follow it, the first place is taken.
      const before = gate.position.name === 'closed' ? 1 : 2;
      line.forEach(({ key }, place) => order.set(key, Math.max(place + before, order.get(key) ?? 0)));
      if (gate.position.name === 'probing') order.set(gate.position.canary, 1);
    }
    gates.set(
      gate.key,
      factsOf(state, gate, line, {
        held: at?.held.length ?? 0,
        waiting: at?.counted ?? 0,
        spent: at?.spent ?? false,
      }),
    );
  }
  return { busy, busyByBatch, gates, order };
}

/** First the one that is cheapest to resume, then the others that were paused, then the new ones. */
function lineAt(
  state: State,
  gate: Gate,
  paused: readonly Child[],
  held: readonly Child[],
): readonly Child[] {
  let first: Child | null = null;
  let price = Infinity;
  // Once one is tried, the others follow in their order.
  for (const child of gate.position.name === 'closed' ? paused : []) {
    const own = priceToGoOn(child, state.at);
    if (own < price) [first, price] = [child, own];
  }
  return [...(first === null ? [] : [first]), ...paused.filter((child) => child !== first), ...held];
}

function factsOf(
  state: State,
  gate: Gate,
  line: readonly Child[],
  counts: { readonly held: number; readonly waiting: number; readonly spent: boolean },
): GateFacts {
  const first = line[0];
  const { position } = gate;
  const canary = position.name === 'probing' ? state.children[position.canary] : undefined;
  const policy = first === undefined ? null : (state.batches[first.batch]?.policy ?? null);
  return {
    held: position.name === 'closed' || position.name === 'probing' || gate.near !== null ? counts.held : 0,
    waiting: counts.waiting,
    first:
      first === undefined
        ? null
        : {
            id: parseChildKey(first.key).id,
            title: first.task.title,
            tokens: Math.round(priceToGoOn(first, state.at)),
          },
    canaryTitle: canary?.task.title ?? null,
    quietUntil: policy === null ? null : quietUntil(policy, state.at, state.offset),
    overBudget:
      counts.spent ||
      line.some((child) => {
        const own = state.batches[child.batch]?.policy;
        return own !== undefined && isOverBudget(state, child, own);
      }),
    someGoOn:
      position.name === 'closed' &&
      line.some((child) => {
        const own = state.batches[child.batch]?.policy;
        return own !== undefined && mayTry(state, child, position, own, state.at);
      }),
    policy,
  };
}
