import type { Policy } from '../core/state.js';
import type { Manifest } from './shape.js';
import { durationOf, quietHoursOf } from './words.js';

/** How waits and resumes are allowed where the manifest says nothing. */
export function policyOf(policy: Manifest['policy'], holdAbove: number): Policy {
  const consent = Object.fromEntries(
    Object.entries(policy?.consent ?? {}).filter(([, value]) => value !== undefined),
  ) as Policy['consent'];
  return {
    consent,
    probe: (policy?.probe ?? ['15m', '30m', '1h']).map((text) => durationOf(text) ?? 3_600_000),
    margin: durationOf(policy?.margin ?? '1s') ?? 1000,
    ramp: policy?.ramp ?? 1,
    maxAutoResumes: policy?.maxAutoResumes ?? 3,
    holdAbove: policy?.holdAbove ?? holdAbove,
    fallbackAfter: typeof policy?.fallbackAfter === 'string' ? durationOf(policy.fallbackAfter) : null,
    quietHours: typeof policy?.quietHours === 'string' ? quietHoursOf(policy.quietHours) : null,
    tokensPerWake: policy?.tokensPerWake ?? null,
  };
}
