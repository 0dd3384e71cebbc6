import type { FailureClass, LimitWindow, ReasonClass } from '../../protocol/verdict.js';
import type { Consent, Policy } from './state.js';

const second = 1_000;
const minute = 60 * second;

/** What holds where a manifest says nothing. */
export const defaultPolicy: Policy = {
  consent: {},
  probe: [15 * minute, 30 * minute, 60 * minute],
  margin: second,
  ramp: 1,
  maxAutoResumes: 3,
  holdAbove: 95,
  fallbackAfter: null,
  quietHours: null,
  tokensPerWake: null,
};

/** Asked where the wait is long or money is spent; by itself where it is short. */
const defaultByWindow: Readonly<Record<LimitWindow, Consent>> = {
  minute: 'auto',
  five_hour: 'auto',
  daily: 'auto',
  weekly: 'ask',
  monthly: 'ask',
  unknown: 'auto',
};

const asked: ReadonlySet<ReasonClass> = new Set<ReasonClass>([
  'credits_exhausted',
  'auth_expired',
  'auth_denied',
  'context_overflow',
  'invalid_request',
  'content_policy',
  'cancelled',
]);

/**
 * Whether a wait may end without a person. The window that the manifest names counts before the class that it names,
 * and both before what the verdict says and the defaults.
 */
export function consentOf(
  policy: Policy,
  reason: FailureClass,
  window: LimitWindow | null,
  verdictNeedsUser: boolean,
): Consent {
  const isLimit = reason === 'usage_limit' || reason === 'rate_limit';
  const counted: LimitWindow | null = isLimit
    ? (window ?? (reason === 'rate_limit' ? 'minute' : 'unknown'))
    : null;
  const said = (counted === null ? undefined : policy.consent[counted]) ?? policy.consent[reason];
  if (said !== undefined) return said;
  if (verdictNeedsUser) return 'ask';
  if (counted !== null) return defaultByWindow[counted];
  return reason !== 'none' && asked.has(reason) ? 'ask' : 'auto';
}

/** Failures that are the account's or the server's, not the child's: they close a gate. */
export function closesGate(reason: FailureClass): boolean {
  return severity(reason) >= 0;
}

/** Failures that pass by themselves within minutes; the server's, nobody's limit. */
export function isSoon(reason: FailureClass): boolean {
  return reason === 'overloaded' || reason === 'network' || reason === 'stream_interrupted';
}

/** How much a closing says: one that says more replaces one that says less. -1: closes nothing. */
export function severity(reason: FailureClass): number {
  switch (reason) {
    case 'auth_denied':
    case 'auth_expired':
    case 'credits_exhausted':
      return 3;
    case 'usage_limit':
      return 2;
    case 'rate_limit':
      return 1;
    case 'overloaded':
    case 'network':
    case 'stream_interrupted':
      return 0;
    case 'none':
    case 'timeout':
    case 'context_overflow':
    case 'invalid_request':
    case 'content_policy':
    case 'process_crash':
    case 'cancelled':
    case 'unknown':
      return -1;
    default:
      return reason satisfies never;
  }
}

/** A probe's wait: the last one named repeats. */
export function probeWait(policy: Policy, tries: number): number {
  return policy.probe[Math.min(tries, policy.probe.length - 1)] ?? 60 * minute;
}
