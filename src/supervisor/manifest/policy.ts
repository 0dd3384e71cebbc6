import type { Policy } from '../core/state.js';
import type { Manifest } from './shape.js';
import { durationOf, quietHoursOf } from './words.js';

/** What the person's settings say where the manifest says nothing. */
export interface PolicyDefaults {
  readonly holdAbove: number;
  readonly resume?: Pick<Policy, 'consent' | 'quietHours' | 'tokensPerWake'>;
}

/** How waits and resumes are allowed: key by key the manifest's word, else the person's settings, else the defaults. */
export function policyOf(policy: Manifest['policy'], { holdAbove, resume }: PolicyDefaults): Policy {
  const own = Object.fromEntries(
    Object.entries(policy?.consent ?? {}).filter(([, value]) => value !== undefined),
  ) as Policy['consent'];
  return {
    consent: { ...resume?.consent, ...own },
    probe: (policy?.probe ?? ['15m', '30m', '1h']).map((text) => durationOf(text) ?? 3_600_000),
    margin: durationOf(policy?.margin ?? '1s') ?? 1000,
    ramp: policy?.ramp ?? 1,
    maxAutoResumes: policy?.maxAutoResumes ?? 3,
    holdAbove: policy?.holdAbove ?? holdAbove,
    fallbackAfter: typeof policy?.fallbackAfter === 'string' ? durationOf(policy.fallbackAfter) : null,
    quietHours:
      policy?.quietHours === undefined
        ? (resume?.quietHours ?? null)
        : policy.quietHours === null
          ? null
          : quietHoursOf(policy.quietHours),
    tokensPerWake:
      policy?.tokensPerWake === undefined ? (resume?.tokensPerWake ?? null) : policy.tokensPerWake,
  };
}
