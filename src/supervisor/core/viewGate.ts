import type { GateAction, GateView } from '../../protocol/view.js';
import { probeWait, isSoon, defaultPolicy } from './policy.js';
import type { Gate, State } from './state.js';
import { iso, type GateFacts } from './viewFacts.js';

/** One gate, as a strip would say it. */
export function viewGate(state: State, gate: Gate, facts: GateFacts): GateView {
  const { position } = gate;
  const display = displayOf(state, gate, facts);
  const shut = position.name === 'closed' || position.name === 'probing';
  const until = shut ? (position.until ?? (position.name === 'closed' ? position.tryAt : null)) : null;
  const near = gate.near;
  return {
    credential: gate.credential,
    ...(gate.model === null ? {} : { model: gate.model }),
    state: shut ? position.name : 'open',
    until: iso(shut ? until : (near?.resetAt ?? null)),
    reason: shut ? position.reason : 'none',
    source: shut ? position.source : null,
    held: facts.held,
    display,
    episode: gate.episode,
    since: position.name === 'open' ? null : iso(position.since),
    window: shut ? position.window : (near?.window ?? null),
    waiting: facts.waiting,
    utilization: near === null ? null : Math.round(near.utilization * 100),
    nextTry: iso(nextTryOf(state, gate, display, facts)),
    needsUser: needsPerson(gate) && !facts.someGoOn,
    canary: position.name === 'probing' ? facts.canaryTitle : null,
    first: facts.first,
    resumed: position.name === 'opening' ? { done: position.resumed, of: position.of } : null,
    message: shut ? position.message : '',
    actions: actionsOf(display),
  };
}

/** It waits for a person's word, and for nothing else. */
export function needsPerson(gate: Gate): boolean {
  const { position } = gate;
  return (
    position.name === 'closed' && position.consent === 'ask' && position.answer === null && !position.byUser
  );
}

function displayOf(state: State, gate: Gate, facts: GateFacts): GateView['display'] {
  const { position } = gate;
  switch (position.name) {
    case 'probing':
      return 'probing';
    case 'opening':
      return facts.overBudget ? 'budget' : 'opening';
    case 'open':
      if (facts.overBudget) return 'budget';
      return gate.near === null ? 'open' : 'near';
    case 'closed': {
      const open = position.answer === 'resume';
      if (position.reason === 'auth_expired') return open ? 'closedSoon' : 'signedOut';
      if (position.reason === 'auth_denied') return open ? 'closedSoon' : 'denied';
      if (position.answer === 'decline' || (position.consent === 'never' && !open)) return 'noResume';
      if (position.reason === 'credits_exhausted') return 'credits';
      if (needsPerson(gate) && !facts.someGoOn) return 'weekly';
      if (position.tryAt !== null && state.at >= position.tryAt && facts.quietUntil !== null)
        return 'quietHours';
      if (isSoon(position.reason)) return 'closedSoon';
      if (position.until !== null) return 'closedUntil';
      return position.reason === 'rate_limit' ? 'closedSoon' : 'closedGuess';
    }
    default:
      return position satisfies never;
  }
}

function nextTryOf(state: State, gate: Gate, display: GateView['display'], facts: GateFacts): number | null {
  const { position } = gate;
  if (display === 'quietHours') return facts.quietUntil;
  if (position.name === 'closed') return position.answer === 'decline' ? null : position.tryAt;
  if (position.name !== 'probing' || position.source !== 'probe') return null;
  const policy = facts.policy ?? defaultPolicy;
  return state.at + probeWait(policy, position.tries + 1);
}

function actionsOf(display: GateView['display']): readonly GateAction[] {
  switch (display) {
    case 'closedUntil':
    case 'closedGuess':
      return ['resumeNow', 'resumeAt', 'dontResume'];
    case 'closedSoon':
      return ['resumeNow', 'dontResume'];
    case 'weekly':
      return ['resumeAtReset', 'resumeNow', 'resumeAt', 'dontResume'];
    case 'signedOut':
      return ['signIn', 'tryAgain'];
    case 'denied':
      return ['openSetting', 'tryAgain'];
    case 'credits':
      return ['tryAgain', 'resumeAt', 'dontResume'];
    case 'noResume':
      return ['resumeNow', 'resumeAt'];
    case 'quietHours':
      return ['resumeNow'];
    case 'budget':
      return ['resumeNow', 'openSetting'];
    case 'open':
    case 'near':
    case 'probing':
    case 'opening':
      return [];
    default:
      return display satisfies never;
  }
}
