import type { Log } from './ports.js';
import { parseRules, type RuleSet } from './verdict/rules.js';

/** The person's own rules for messages from the setting; what is wrong with one is said, and the rest work. */
export function userRules(setting: unknown, log: Log): RuleSet {
  const { rules, problems } = parseRules(setting);
  for (const problem of problems) log.warn(`swarm.verdict.rules: ${problem}`);
  return rules;
}
