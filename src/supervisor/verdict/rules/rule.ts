import type { FailureClass, LimitScope, LimitWindow } from '../../../protocol/verdict.js';
import { finder, type Found } from './literals.js';

/** Finds words; a JavaScript expression of ours, or a user's on an engine that cannot backtrack. */
export interface Matcher {
  /** The matched span in a folded text, or null. */
  find(text: string): { readonly index: number; readonly text: string } | null;
}

/** One row of provider knowledge: when it is said, what it means. All conditions that are given must hold. */
export interface Rule {
  readonly name: string;
  readonly when: {
    /** Who prints it: matched on the folded name of the provider or CLI. */
    readonly agent?: Matcher;
    /** Words of the message, folded. */
    readonly words?: Matcher;
    /** Words that must not be there. */
    readonly not?: Matcher;
    /** Error codes, types, reasons, one a line, lower case. */
    readonly code?: Matcher;
    readonly status?: readonly number[];
  };
  readonly class: FailureClass;
  readonly scope?: LimitScope;
  readonly window?: LimitWindow;
  readonly recoverable?: boolean;
  readonly needsUser?: boolean;
  /** A limit without a name: more than five minutes to wait make it a usage limit, fewer a rate limit. */
  readonly byWait?: boolean;
  /** A time that is stated with it is known to be wrong. */
  readonly timeless?: boolean;
  /** Too weak for a program's plain text: counts only beside an error event, a status or a non-zero exit. */
  readonly needsCorroboration?: boolean;
}

/** Rules in the order in which they are tried, and what the user adds before them. */
export interface RuleSet {
  readonly user: readonly Rule[];
}

/** What the rules look at. */
export interface RuleInput {
  readonly agent: string;
  readonly words: string;
  readonly codes: string;
  readonly status: number | null;
}

/** A rule that matched, and the words or code that decided. */
export interface RuleMatch {
  readonly rule: Rule;
  readonly index: number;
  readonly found: string;
  readonly by: 'words' | 'code' | 'status';
}

/** The first rule that holds and that `accepts` takes, or null. */
export function firstMatch(
  rules: readonly Rule[],
  input: RuleInput,
  accepts: (match: RuleMatch) => boolean = () => true,
): RuleMatch | null {
  for (const rule of rules) {
    const match = matchRule(rule, input);
    if (match && accepts(match)) return match;
  }
  return null;
}

function matchRule(rule: Rule, input: RuleInput): RuleMatch | null {
  const { agent, words, not, code, status } = rule.when;
  if (status && (input.status === null || !status.includes(input.status))) return null;
  if (agent && !agent.find(input.agent)) return null;
  const byCode = code ? code.find(input.codes) : undefined;
  if (byCode === null) return null;
  const byWords = words ? words.find(input.words) : undefined;
  if (byWords === null) return null;
  if (not?.find(input.words)) return null;
  if (byWords) return { rule, index: byWords.index, found: byWords.text, by: 'words' };
  if (byCode) return { rule, index: 0, found: byCode.text, by: 'code' };
  return { rule, index: 0, found: `HTTP ${input.status ?? '?'}`, by: 'status' };
}

/** A matcher of one of our own expressions: its first match that is not in bad company. */
export function words(expression: RegExp, unless?: RegExp): Matcher {
  const find = finder(expression);
  return {
    find(text) {
      if (!unless) return find.first(text);
      return find.all(text, MOST).find((match) => !unless.test(around(text, match))) ?? null;
    },
  };
}

/** Like `words`, but the last match counts: the newest notice of a screen. */
export function lastWords(expression: RegExp, unless?: RegExp): Matcher {
  const find = finder(expression);
  return {
    find(text) {
      const matches = find.all(text, MOST);
      return matches.filter((match) => !unless?.test(around(text, match))).pop() ?? null;
    },
  };
}

const MOST = 40;

/** The match and the words before it in the same clause. */
function around(text: string, match: Found): string {
  const before = text.slice(Math.max(0, match.index - 26), match.index);
  return (before.split(/[:.!?\n]\s/).pop() ?? before) + match.text;
}
