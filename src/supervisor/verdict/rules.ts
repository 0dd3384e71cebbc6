import { RE2JS } from 're2js';
import { z } from 'zod';
import { fold } from './text/plain.js';
import type { Matcher, Rule, RuleSet } from './rules/rule.js';

export type { RuleSet } from './rules/rule.js';

const Pattern = z.union([z.string().min(1).max(1000), z.array(z.string().min(1).max(1000)).min(1).max(20)]);

const UserRule = z
  .object({
    name: z.string().min(1).max(80).optional(),
    when: z
      .object({
        /** Regular expressions (RE2), matched without regard to case and accents. */
        text: Pattern.optional(),
        code: Pattern.optional(),
        agent: Pattern.optional(),
        not: Pattern.optional(),
        status: z.union([z.number().int(), z.array(z.number().int()).min(1)]).optional(),
      })
      .strict()
      .refine((when) => when.text !== undefined || when.code !== undefined || when.status !== undefined, {
        message: 'needs text, code or status',
      }),
    class: z.enum([
      'none',
      'usage_limit',
      'rate_limit',
      'credits_exhausted',
      'overloaded',
      'stream_interrupted',
      'network',
      'auth_expired',
      'auth_denied',
      'timeout',
      'context_overflow',
      'invalid_request',
      'content_policy',
      'process_crash',
      'cancelled',
      'unknown',
    ]),
    scope: z.enum(['account', 'model', 'session', 'request']).optional(),
    window: z.enum(['minute', 'five_hour', 'daily', 'weekly', 'monthly', 'unknown']).optional(),
    recoverable: z.boolean().optional(),
    needsUser: z.boolean().optional(),
  })
  .strict();

/** Rules of a user, and what is wrong with those that were left out. */
export interface ParsedRules {
  readonly rules: RuleSet;
  readonly problems: readonly string[];
}

/**
 * Reads the setting `swarm.verdict.rules`: a list of `{ when, class, scope?, window? }`. A bad rule is named and left
 * out, the rest work. The expressions run on an engine that cannot backtrack, so none of them can hang the supervisor.
 */
export function parseRules(value: unknown): ParsedRules {
  if (value === undefined || value === null) return { rules: { user: [] }, problems: [] };
  if (!Array.isArray(value)) return { rules: { user: [] }, problems: ['expected a list of rules'] };
  const problems: string[] = [];
  const user: Rule[] = [];
  value.slice(0, 500).forEach((entry: unknown, index) => {
    const label = `rule ${index + 1}${nameOf(entry)}`;
    const parsed = UserRule.safeParse(entry);
    if (!parsed.success) {
      problems.push(
        ...parsed.error.issues.map(
          (issue) => `${label}: ${issue.path.join('.') || 'rule'}: ${issue.message}`,
        ),
      );
      return;
    }
    try {
      user.push(toRule(parsed.data, `user:${parsed.data.name ?? String(index + 1)}`));
    } catch (error) {
      problems.push(`${label}: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
  return { rules: { user }, problems };
}

function toRule(given: z.infer<typeof UserRule>, name: string): Rule {
  const { text, code, agent, not, status } = given.when;
  return {
    name,
    when: {
      ...(text === undefined ? {} : { words: safeMatcher(text) }),
      ...(code === undefined ? {} : { code: safeMatcher(code) }),
      ...(agent === undefined ? {} : { agent: safeMatcher(agent) }),
      ...(not === undefined ? {} : { not: safeMatcher(not) }),
      ...(status === undefined ? {} : { status: typeof status === 'number' ? [status] : status }),
    },
    class: given.class,
    ...(given.scope === undefined ? {} : { scope: given.scope }),
    ...(given.window === undefined ? {} : { window: given.window }),
    ...(given.recoverable === undefined ? {} : { recoverable: given.recoverable }),
    ...(given.needsUser === undefined ? {} : { needsUser: given.needsUser }),
  };
}

/** The messages are read in folded spelling, so the expression is folded too, but for its escapes: `\D` is not `\d`. */
function safeMatcher(source: string | readonly string[]): Matcher {
  const sources = typeof source === 'string' ? [source] : source;
  const expressions = sources.map((one) =>
    RE2JS.compile(
      one.replace(/\\[pP]\{[^}]{0,40}\}|\\.|[^\\]/gs, (part) => (part.startsWith('\\') ? part : fold(part))),
      RE2JS.CASE_INSENSITIVE,
    ),
  );
  return {
    find(text) {
      for (const expression of expressions) {
        const matcher = expression.matcher(text);
        if (matcher.find()) return { index: matcher.start(), text: matcher.group() ?? '' };
      }
      return null;
    },
  };
}

function nameOf(entry: unknown): string {
  const name =
    typeof entry === 'object' && entry !== null
      ? (entry as Readonly<Record<string, unknown>>)['name']
      : undefined;
  return typeof name === 'string' ? ` (${name.slice(0, 80)})` : '';
}
