import type { Log } from './ports.js';
import type { RuleSet } from './verdict/rules/rule.js';
import { NO_RULES } from './verdict/verdict.js';

/** The person's own rules for messages from the setting; what is none is said and left out. */
export function userRules(setting: unknown, log: Log): RuleSet {
  if (setting === null || setting === undefined) return NO_RULES;
  log.warn('swarm.verdict.rules is not understood and is left out.');
  return NO_RULES;
}
