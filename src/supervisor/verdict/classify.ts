import { z } from 'zod';
import { verdict, NO_RULES } from './verdict.js';
import type { RuleSet } from './rules/rule.js';
import type { Signal, VerdictContext } from './signal.js';
import { isZone } from './time/zones.js';

/** How a line is to be judged. */
export interface ClassifyOptions {
  readonly explain: boolean;
  readonly rules?: RuleSet | undefined;
}

/** One answer; `bad`: the line was no case. */
export interface ClassifyAnswer {
  readonly json: Readonly<Record<string, unknown>>;
  readonly bad: boolean;
}

const Case = z.object({
  id: z.union([z.string(), z.number()]).nullish(),
  provider_or_cli: z.string().nullish(),
  channel: z.enum(['stdout', 'stderr', 'event', 'result', 'http']),
  exit_code: z.number().int().nullish(),
  http_status: z.number().int().nullish(),
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).nullish(),
  text: z.string().nullish(),
  observed_at: z.string().nullish(),
  local_timezone: z.string().nullish(),
});

/** Judges one JSON line as a case of a failure message, and answers with one JSON object. Pure; never throws. */
export function classifyLine(line: string, options: ClassifyOptions): ClassifyAnswer {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return bad('not JSON');
  }
  const parsed = Case.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return bad(issue ? `${issue.path.join('.') || 'case'}: ${issue.message}` : 'not a case');
  }
  const given = parsed.data;
  const observedAt = Date.parse(given.observed_at ?? '');
  if (!Number.isFinite(observedAt)) return bad('observed_at: not an ISO 8601 date with time');
  const signal: Signal = {
    channel: given.channel,
    text: given.text ?? '',
    providerOrCli: given.provider_or_cli ?? undefined,
    exitCode: given.exit_code ?? undefined,
    httpStatus: given.http_status ?? undefined,
    headers: given.headers
      ? Object.fromEntries(Object.entries(given.headers).map(([name, value]) => [name, String(value ?? '')]))
      : undefined,
  };
  const context: VerdictContext = {
    observedAt,
    localTimeZone: zoneOf(given.local_timezone, given.observed_at ?? ''),
    doing: given.exit_code === undefined || given.exit_code === null ? 'unknown' : 'ended',
  };
  const read = verdict(signal, context, options.rules ?? NO_RULES);
  return {
    bad: false,
    json: {
      id: given.id ?? null,
      class: read.class,
      recoverable: read.recoverable,
      needsUser: read.needsUser,
      resetAt: iso(read.resetAt),
      resetSource: read.resetSource,
      scope: read.scope,
      ...(read.nearLimit
        ? {
            nearLimit: {
              utilization: read.nearLimit.utilization,
              window: read.nearLimit.window,
              resetAt: iso(read.nearLimit.resetAt),
            },
          }
        : {}),
      ...(options.explain ? { explain: read.steps } : {}),
    },
  };
}

function bad(error: string): ClassifyAnswer {
  return { json: { id: null, error }, bad: true };
}

/** The machine's zone; without one the offset in which the time of observation was written. */
function zoneOf(named: string | null | undefined, observedAt: string): string {
  if (named && isZone(named)) return named;
  const offset = /([+-]\d{2}):?(\d{2})$/.exec(observedAt);
  return offset ? `${offset[1] ?? '+00'}:${offset[2] ?? '00'}` : 'UTC';
}

function iso(instant: number | null): string | null {
  return instant === null || !Number.isFinite(instant) || Math.abs(instant) > 8.64e15
    ? null
    : new Date(instant).toISOString().replace('.000Z', 'Z');
}
