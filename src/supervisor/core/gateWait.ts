import type { ResetSource, Verdict } from '../../protocol/verdict.js';
import { backOff } from './backoff.js';
import { isSoon, probeWait } from './policy.js';
import type { Consent, GateKey, Instant, Policy } from './state.js';

/** Until when a gate is closed, as somebody stated it, and when the first child tries. */
export interface GateWait {
  readonly until: Instant | null;
  readonly source: ResetSource | null;
  /** Null: only a person can say. */
  readonly tryAt: Instant | null;
}

export interface Refusal {
  readonly gate: GateKey;
  readonly episode: number;
  /** Refusals of this kind in a row before this one. */
  readonly tries: number;
  readonly consent: Consent;
  readonly now: Instant;
}

/**
 * A stated reset plus the margin. One that has passed is taken at its word, after a short back-off. Without one a
 * guess: what passes by itself is tried from 5 s on, a limit by the policy's probes, and what only a person can mend
 * not at all unless the policy says so.
 */
export function waitFor(policy: Policy, verdict: Verdict, refusal: Refusal): GateWait {
  const { now, tries } = refusal;
  const short = backOff(tries, `${refusal.gate} ${refusal.episode}`);
  if (verdict.resetAt !== null)
    return {
      until: verdict.resetAt,
      source: verdict.resetSource,
      tryAt: verdict.resetAt > now ? verdict.resetAt + policy.margin : now + short,
    };
  const guess = (wait: number): GateWait => ({ until: null, source: 'probe', tryAt: now + wait });
  if (isSoon(verdict.class)) return guess(short);
  if (verdict.class === 'rate_limit') return guess(Math.min(short, probeWait(policy, tries)));
  if (verdict.class === 'usage_limit' || refusal.consent === 'auto') return guess(probeWait(policy, tries));
  return { until: null, source: null, tryAt: null };
}

const rank: Readonly<Record<ResetSource, number>> = { probe: 0, text: 1, body: 2, header: 3, event: 4 };

export interface StatedReset {
  readonly until: Instant | null;
  readonly source: ResetSource | null;
  readonly window: Verdict['window'];
}

/**
 * Whether a further word on the same closing changes its reset: a better source does; an equally good one only if it
 * says later and is said by somebody new or of another window; a worse one never, so that a text of whole minutes does
 * not displace the exact time. So a wait never slides by being read again. Where the worse source was right, the one
 * that is tried first is refused, and what it hears begins the next episode.
 */
export function replacesReset(known: StatedReset, said: Verdict, newVoice: boolean): boolean {
  if (said.resetAt === null || said.resetSource === null) return false;
  const better = rank[said.resetSource] - (known.source === null ? 0 : rank[known.source]);
  if (known.until === null || better > 0) return true;
  if (better < 0 || said.resetAt <= known.until) return false;
  return newVoice || (said.window !== null && said.window !== known.window);
}
