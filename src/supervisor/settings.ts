import { z } from 'zod';
import type { UserSettings } from './api.js';
import { consentKeys } from './manifest/shape.js';
import { quietHoursOf } from './manifest/words.js';

/**
 * The settings `swarm.*`, from VS Code's configuration or from the command line's settings file: the same names,
 * the same rules. A bad value is named and its default taken, so that one mistake does not switch everything off.
 */
export function parseSettings(values: Readonly<Record<string, unknown>>): {
  readonly settings: UserSettings;
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const get = <T>(name: string, schema: z.ZodType<T>, otherwise: T): T => {
    const value = values[name] ?? values[`swarm.${name}`];
    if (value === undefined || value === null) return otherwise;
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    problems.push(
      `swarm.${name}: ${parsed.error.issues.map((issue) => [issue.path.join('.'), issue.message].filter(Boolean).join(': ')).join('; ')}`,
    );
    return otherwise;
  };
  const words = z.array(z.string());
  const settings: UserSettings = {
    maxConcurrent: get('maxConcurrent', z.number().int().min(1).max(1000), 8),
    executors: cleanProfiles(get('executors', z.record(z.string(), profile), {})),
    defaultExecutor: get('defaultExecutor', z.string().min(1), 'claude'),
    worktrees: {
      location: get('worktrees.location', z.string().min(1).nullable(), null),
      link: get('worktrees.link', z.enum(['link', 'copy', 'none']), 'link'),
      setup: get('worktrees.setup', words, []),
      includeUncommitted: get('worktrees.includeUncommitted', z.boolean(), false),
    },
    check: get('check.command', words.min(1).nullable(), null),
    apply: get('apply.mode', z.enum(['uncommitted', 'commit', 'branch']), 'uncommitted'),
    timeout: {
      idle: get('timeout.idle', duration, 600_000),
      total: get('timeout.total', duration.nullable(), null),
    },
    holdAbove: get('limits.holdAbove', z.number().min(1).max(100), 95),
    resume: {
      consent: get('resume.consent', consent, {}),
      quietHours: get('resume.quietHours', quietHours.nullable(), null),
      tokensPerWake: get('resume.maxTokensPerWake', z.number().int().min(1).nullable(), null),
    },
    verdictRules: values['verdict.rules'] ?? values['swarm.verdict.rules'] ?? null,
  };
  return { settings, problems };
}

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** `4s`, `15m`, `1h` in milliseconds. */
const duration = z
  .string()
  .regex(/^[0-9]{1,6}(s|m|h)$/, 'write a duration such as 4s, 15m or 1h')
  .transform((text) => Number(text.slice(0, -1)) * (units[text.slice(-1)] ?? 1));

const consent = z.partialRecord(z.enum(consentKeys), z.enum(['auto', 'ask', 'never']));

const quietHours = z.string().transform((text, told) => {
  const hours = quietHoursOf(text);
  if (hours !== null) return hours;
  told.addIssue({ code: 'custom', message: 'write hours such as 23:00-07:00' });
  return z.NEVER;
});

const profile = z.object({
  adapter: z.string().min(1),
  command: z
    .union([
      z
        .string()
        .min(1)
        .transform((program) => [program]),
      z.array(z.string()).min(1),
    ])
    .optional(),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  model: z.string().min(1).optional(),
  credential: z.string().min(1).optional(),
  permissions: z.enum(['edit', 'full']).optional(),
});

type Profiles = UserSettings['executors'];

/** Leaves out what was not given, so that defaults can be laid under a profile by spreading. */
function cleanProfiles(profiles: Readonly<Record<string, z.infer<typeof profile>>>): Profiles {
  const clean: Record<string, Profiles[string]> = {};
  for (const [name, given] of Object.entries(profiles)) {
    const kept = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    clean[name] = { ...kept, adapter: given.adapter };
  }
  return clean;
}
