import { gateKey, lookUp } from './keys.js';
import type { Child, ExecutorChoice, Gate, GateKey, State } from './state.js';

/** One closing of a gate. */
export interface GateRef {
  readonly key: GateKey;
  readonly episode: number;
}

/** The executor that a child would run on now. */
export function choiceOf(child: Child): ExecutorChoice {
  const choice = child.task.chain[child.chosen];
  if (choice === undefined) throw new Error(`child ${child.key} has no executor`);
  return choice;
}

/** The gates that must be open for this executor: the account's, and its model's. */
export function gatesOf(state: State, choice: ExecutorChoice): readonly Gate[] {
  const gates: Gate[] = [];
  const account = lookUp(state.gates, gateKey(choice.credential, null));
  if (account !== undefined) gates.push(account);
  if (choice.model !== null) {
    const model = lookUp(state.gates, gateKey(choice.credential, choice.model));
    if (model !== undefined) gates.push(model);
  } else
    for (const gate of Object.values(state.gates))
      if (gate.coversDefault && gate.credential === choice.credential) gates.push(gate);
  return gates;
}

/** The gates of a child; children of one executor share the look-up. */
export function gateFinder(state: State): (child: Child) => readonly Gate[] {
  const known = new Map<string, readonly Gate[]>();
  return (child) => {
    const choice = choiceOf(child);
    const key = choice.model === null ? `${choice.credential}\n` : gateKey(choice.credential, choice.model);
    let gates = known.get(key);
    if (gates === undefined) known.set(key, (gates = gatesOf(state, choice)));
    return gates;
  };
}

/** Closed or being tried by one child: nothing else may start. */
export function isShut(gate: Gate): boolean {
  return gate.position.name === 'closed' || gate.position.name === 'probing';
}

/** The gate that keeps this child from starting, unless it is the one tried first there. */
export function shutGateOf(state: State, child: Child): Gate | null {
  for (const gate of gatesOf(state, choiceOf(child))) if (isShut(gate) && !isCanary(gate, child)) return gate;
  return null;
}

export function isCanary(gate: Gate, child: Child): boolean {
  return gate.position.name === 'probing' && gate.position.canary === child.key;
}
