import type { NearLimit } from '../../protocol/verdict.js';
import type { Draft } from './draft.js';
import { choiceOf } from './gateLookup.js';
import { gateKey } from './keys.js';
import type { Child, Gate, GateKey } from './state.js';

/** Without a stated reset a warning is forgotten after this long; the next one brings it back. */
const forgottenAfter = 900_000;

/** An agent tells its use: from the policy's percentage on, no new child starts on the account. */
export function noteNear(d: Draft, child: Child, near: NearLimit): void {
  if (near.utilization === null) return;
  const choice = choiceOf(child);
  const key = gateKey(choice.credential, null);
  const known = d.gate(key);
  const percent = near.utilization * 100;
  const isNear = percent >= d.batchOf(child).policy.holdAbove && (near.resetAt ?? Infinity) > d.now;
  if (!isNear) {
    // Only word on the same window lifts what was said of it.
    if (known !== undefined && known.near !== null && known.near.window === near.window)
      d.putGate({ ...known, near: null });
    return;
  }
  const gate: Gate = known ?? {
    key,
    credential: choice.credential,
    model: null,
    coversDefault: false,
    episode: 0,
    closedAt: null,
    openedAt: null,
    wake: null,
    near: null,
    position: { name: 'open' },
  };
  const { utilization, window, resetAt } = near;
  d.putGate({ ...gate, near: { utilization, window, resetAt } });
  d.order({
    type: 'setTimer',
    timer: { kind: 'near', gate: key },
    at: resetAt ?? d.now + forgottenAfter,
  });
}

export function nearTimer(d: Draft, key: GateKey): void {
  const gate = d.gate(key);
  if (gate === undefined || gate.near === null) return;
  const { resetAt } = gate.near;
  if (resetAt !== null && d.now < resetAt)
    d.order({ type: 'setTimer', timer: { kind: 'near', gate: key }, at: resetAt });
  else d.putGate({ ...gate, near: null });
}
