import type { Notice } from './effect.js';
import { choiceOf, gatesOf } from './gateLookup.js';
import type { Gate, GateKey, State } from './state.js';

/**
 * What a person is told of a closing that waits for one; null: it goes on by itself, or there is nothing to decide.
 * The child that met it counts too (it still runs), unless it fails by it.
 */
export function gateNotice(state: State, gate: Gate): Notice | null {
  const { position, credential } = gate;
  if (position.name !== 'closed' || !position.needsUser || position.consent === 'never') return null;
  const waiting = countWaiting(state, gate.key) + (position.reason === 'auth_denied' ? 0 : 1);
  switch (position.reason) {
    case 'auth_expired':
      return { kind: 'signedOut', credential, waiting };
    case 'auth_denied':
      return { kind: 'denied', credential, waiting };
    case 'credits_exhausted':
      return { kind: 'credits', credential, waiting };
    default:
      return { kind: 'weekly', credential, waiting, resetAt: position.until };
  }
}

/** Children that have met the gate or are held behind it. Those that run when it closes join when they meet it. */
export function countWaiting(state: State, key: GateKey): number {
  let count = 0;
  for (const child of Object.values(state.children)) {
    const { phase } = child;
    const waits = phase.name === 'queued' || (phase.name === 'paused' && phase.pause.gate !== null);
    if (waits && gatesOf(state, choiceOf(child)).some((gate) => gate.key === key)) count++;
  }
  return count;
}
