import type { Draft } from './draft.js';
import { choiceOf, gatesOf, isCanary, isShut } from './gateLookup.js';
import type { Closed, Probing } from './gates.js';
import { consentOf, isSoon } from './policy.js';
import { priceToGoOn } from './price.js';
import { quietUntil } from './quietHours.js';
import type { Child, Consent, Gate, Instant, Pause, Policy, State } from './state.js';

/** Whether a paused child goes on as soon as its gates let it: by itself, or because a person wants it. */
export function goesOn(child: Child, now: Instant): boolean {
  if (child.phase.name !== 'paused') return false;
  const { pause } = child.phase;
  if (pause.wanted) return true;
  if (pause.declined || pause.needsUser || pause.chosen) return false;
  if (pause.retryAt !== null) return now >= pause.retryAt;
  return pause.gate !== null;
}

/** Whether this child may be tried at this closed gate, by what a person has said, else by its batch's consent. */
export function mayTry(state: State, child: Child, position: Closed, policy: Policy, now: Instant): boolean {
  if (child.phase.name === 'paused') {
    if (!goesOn(child, now)) return false;
    if (child.phase.pause.wanted) return true;
  }
  if (position.answer !== null) return position.answer === 'resume';
  if (position.byUser) return false;
  return consentAt(position, policy) === 'auto' && !tooDear(state, child, now);
}

/** What a batch's policy says to going on behind this closing. */
export function consentAt(position: Closed | Probing, policy: Policy): Consent {
  return consentOf(policy, position.reason, position.window, position.asks);
}

/** Costs more than may be spent without a question. */
export function tooDear(state: State, child: Child, now: Instant): boolean {
  const { askAbove } = state.settings;
  return askAbove !== null && child.attempt > 0 && priceToGoOn(child, now) > askAbove;
}

/** What keeps a child from starting by itself although its gates are open; null: nothing. */
export function heldBack(
  d: Draft,
  child: Child,
  policy: Policy,
): 'quiet' | 'budget' | 'dear' | 'consent' | null {
  if (child.phase.name === 'paused') {
    const { pause } = child.phase;
    if (pause.wanted) return null;
    if (!pause.agreed && asksFirst(pause, policy)) return 'consent';
  }
  if (isOverBudget(d.state, child, policy)) return 'budget';
  if (child.phase.name === 'paused' && quietUntil(policy, d.now, d.offset) !== null && !isHiccup(child))
    return 'quiet';
  if (child.phase.name === 'paused' && tooDear(d.state, child, d.now)) return 'dear';
  return null;
}

/** Its gate is open, but its own batch asks before it goes on after such a limit. */
export function asksFirst(pause: Pause, policy: Policy): boolean {
  if (pause.gate === null || pause.retryAt !== null) return false;
  const { reason } = pause;
  if (reason === 'user' || reason === 'interrupted' || reason === 'disk' || reason === 'budget') return false;
  return consentOf(policy, reason, pause.window, false) !== 'auto';
}

/** What passes within minutes is no wake: quiet hours do not hold it. */
function isHiccup(child: Child): boolean {
  if (child.phase.name !== 'paused') return false;
  const { reason } = child.phase.pause;
  if (reason === 'user' || reason === 'interrupted' || reason === 'disk' || reason === 'budget') return true;
  return isSoon(reason) || reason === 'rate_limit' || reason === 'process_crash' || reason === 'timeout';
}

/** The ceiling per wake is reached on the account of this child. */
export function isOverBudget(state: State, child: Child, policy: Policy): boolean {
  const ceiling = policy.tokensPerWake;
  if (ceiling === null) return false;
  return gatesOf(state, choiceOf(child)).some((gate) => gate.wake !== null && gate.wake.tokens >= ceiling);
}

/** Whether the other gates of a child that would be tried at this one let it. */
export function othersLet(state: State, child: Child, gate: Gate, now: Instant): boolean {
  const isNew = child.phase.name === 'queued' && !child.phase.startNext && child.attempt === 0;
  return gatesOf(state, choiceOf(child)).every(
    (each) =>
      each.key === gate.key ||
      // Near the limit of the account nobody new begins, also not to try one of its models.
      (!(isNew && each.near !== null) && (!isShut(each) || isCanary(each, child) || isDue(each, now))),
  );
}

export function isDue(gate: Gate, now: Instant): boolean {
  const { position } = gate;
  return position.name === 'closed' && position.tryAt !== null && now >= position.tryAt;
}
