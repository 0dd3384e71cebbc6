import { foldHan } from '../text/plain.js';

/**
 * Runs an expression only where it can match. An expression of a hundred alternatives is slow to try at every letter,
 * but each alternative needs certain literals; what a text does not hold is not tried. The meaning stays: the leftmost
 * match, and of two at one place the one written first.
 */
export interface Finder {
  /** The first match at or after `from`. */
  first(text: string, from?: number): Found | null;
  /** All matches, in the order of the text, at most `limit` of each alternative. */
  all(text: string, limit: number): readonly Found[];
}

/** Where an expression matched. */
export interface Found {
  readonly index: number;
  readonly text: string;
  /** Number of the alternative. */
  readonly alternative: number;
}

interface Alternative {
  readonly expression: RegExp;
  /** Of each set at least one literal must be in the text. */
  readonly needs: readonly (readonly Literal[])[];
}

/** A literal, and the numbers of its threes of letters; short ones are looked for as they are. */
interface Literal {
  readonly text: string;
  readonly grams: readonly number[];
}

/** A finder for one of our own expressions (no look-around at its very top that spans alternatives). */
export function finder(source: RegExp): Finder {
  const alternatives: readonly Alternative[] = alternativesOf(foldHan(source.source)).map((part) => ({
    expression: new RegExp(part, source.flags.includes('u') ? 'gu' : 'g'),
    needs: literalsOf(part).map((set) => set.map(literal)),
  }));
  const possible = (text: string): readonly (readonly [number, RegExp])[] => {
    const grams = gramsOf(text);
    const found: (readonly [number, RegExp])[] = [];
    for (let number = 0; number < alternatives.length; number++) {
      const alternative = alternatives[number];
      if (alternative && canMatch(alternative, text, grams)) found.push([number, alternative.expression]);
    }
    return found;
  };
  return {
    first(text, from = 0) {
      let best: Found | null = null;
      for (const [alternative, expression] of possible(text)) {
        expression.lastIndex = from;
        const match = expression.exec(text);
        if (match && (best === null || match.index < best.index))
          best = { index: match.index, text: match[0], alternative };
      }
      return best;
    },
    all(text, limit) {
      const found: Found[] = [];
      for (const [alternative, expression] of possible(text)) {
        expression.lastIndex = 0;
        let count = 0;
        for (
          let match = expression.exec(text);
          match && count < limit;
          match = expression.exec(text), count++
        ) {
          found.push({ index: match.index, text: match[0], alternative });
          if (match[0] === '') expression.lastIndex++;
        }
      }
      return found.sort((a, b) => a.index - b.index || a.alternative - b.alternative);
    },
  };
}

/** The alternatives at the top of an expression; one that is wrapped in a group as a whole is unwrapped. */
export function alternativesOf(source: string): readonly string[] {
  const parts = split(source);
  const only = parts.length === 1 ? (parts[0] ?? '') : '';
  if (only.startsWith('(?:') && endOfGroup(only, 0) === only.length) return alternativesOf(only.slice(3, -1));
  return parts;
}

/** Sets of literals of which each alternative needs one each: only what cannot be left out is taken. */
export function literalsOf(part: string): readonly (readonly string[])[] {
  const sets: (readonly string[])[] = [];
  let run = '';
  const close = (): void => {
    if (run.length >= 2 || /[^\x20-\x7f]/.test(run)) sets.push([run]);
    run = '';
  };
  for (let at = 0; at < part.length;) {
    const character = part[at] ?? '';
    if (character === '(') {
      close();
      const end = endOfGroup(part, at);
      const look = /^\(\?<?[=!]/.test(part.slice(at, at + 4));
      const inner = part
        .slice(at, end)
        .replace(/^\((?:\?:)?/, '')
        .slice(0, -1);
      if (!look && !isOptional(part, end)) {
        const members = split(inner).map((member) =>
          literalsOf(member).reduce<readonly string[] | null>((best, set) => better(best, set), null),
        );
        if (members.every((member) => member !== null)) sets.push(members.flat());
      }
      at = afterQuantifier(part, end);
      continue;
    }
    const atom = atomAt(part, at);
    const next = afterQuantifier(part, atom.end);
    if (atom.literal === null) close();
    else if (isOptional(part, atom.end)) close();
    else {
      run += atom.literal;
      if (next > atom.end) close();
    }
    at = next;
  }
  close();
  return sets;
}

/** Of two sets the one that says more: its shortest literal is longer. */
function better(best: readonly string[] | null, set: readonly string[]): readonly string[] {
  const weakest = (one: readonly string[]): number => Math.min(...one.map((literal) => literal.length));
  return best === null || weakest(set) > weakest(best) ? set : best;
}

function atomAt(part: string, at: number): { readonly literal: string | null; readonly end: number } {
  const character = part[at] ?? '';
  if (character === '\\') {
    const next = part[at + 1] ?? '';
    if (next === 'p' || next === 'P') return { literal: null, end: part.indexOf('}', at) + 1 };
    return { literal: /[a-zA-Z0-9]/.test(next) ? null : next, end: at + 2 };
  }
  if (character === '[') {
    let end = at + 1;
    while (end < part.length && part[end] !== ']') end += part[end] === '\\' ? 2 : 1;
    return { literal: null, end: end + 1 };
  }
  return { literal: /[.^$]/.test(character) ? null : character, end: at + 1 };
}

function isOptional(part: string, end: number): boolean {
  return /^(?:[?*]|\{0)/.test(part.slice(end, end + 2));
}

function afterQuantifier(part: string, end: number): number {
  return end + (/^(?:[?*+]|\{\d+(?:,\d*)?\})\??/.exec(part.slice(end, end + 12))?.[0].length ?? 0);
}

function endOfGroup(part: string, start: number): number {
  let depth = 0;
  for (let at = start; at < part.length; at++) {
    const character = part[at];
    if (character === '\\') at++;
    else if (character === '[') {
      for (at++; at < part.length && part[at] !== ']'; at++) if (part[at] === '\\') at++;
    } else if (character === '(') depth++;
    else if (character === ')' && --depth === 0) return at + 1;
  }
  return part.length;
}

function split(source: string): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < source.length; at++) {
    const character = source[at];
    if (character === '\\') at++;
    else if (character === '[') {
      for (at++; at < source.length && source[at] !== ']'; at++) if (source[at] === '\\') at++;
    } else if (character === '(') at = endOfGroup(source, at) - 1;
    else if (character === '|') {
      parts.push(source.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, source.slice(start)];
}

const SIZE = 1 << 15;
interface Grams {
  readonly text: string;
  readonly table: Uint8Array;
}
/** The last texts that were asked about; the tables ask about the same few again and again. */
const recent: Grams[] = [];

/** Which three letters in a row a text holds. A table may say yes for a text that has not; never no for one that has. */
function gramsOf(text: string): Uint8Array {
  for (const entry of recent) if (entry.text === text) return entry.table;
  const table =
    recent.length >= 4 ? (recent.pop()?.table.fill(0) ?? new Uint8Array(SIZE)) : new Uint8Array(SIZE);
  for (let at = 0; at + 2 < text.length; at++) table[gram(text, at)] = 1;
  recent.unshift({ text, table });
  return table;
}

function canMatch(alternative: Alternative, text: string, table: Uint8Array): boolean {
  for (const set of alternative.needs) {
    let one = false;
    for (const literal of set) {
      if (holds(literal, text, table)) {
        one = true;
        break;
      }
    }
    if (!one) return false;
  }
  return true;
}

function holds(literal: Literal, text: string, table: Uint8Array): boolean {
  if (literal.grams.length === 0) return text.includes(literal.text);
  for (const number of literal.grams) if (table[number] === 0) return false;
  return true;
}

function literal(text: string): Literal {
  return { text, grams: Array.from({ length: Math.max(0, text.length - 2) }, (_, at) => gram(text, at)) };
}

function gram(text: string, at: number): number {
  return (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) & (SIZE - 1);
}
