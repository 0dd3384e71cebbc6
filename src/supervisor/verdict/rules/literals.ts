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
  readonly number: number;
  /** Compiled when it is first tried: of the thousands most never are. */
  readonly expression: () => RegExp;
  /** Numbers of literals; of each set at least one must be in the text. */
  readonly needs: readonly (readonly number[])[];
}

/** A finder for one of our own expressions (no look-around at its very top that spans alternatives). */
export function finder(source: RegExp): Finder {
  const flags = source.flags.includes('u') ? 'gu' : 'g';
  let made: Registered | null = null;
  const possible = (text: string): readonly Alternative[] => {
    made ??= register(foldHan(source.source), flags);
    if (text === '') return made.always;
    const told = readText(text).candidates.get(made);
    return told ?? made.always;
  };
  return {
    first(text, from = 0) {
      let best: Found | null = null;
      for (const alternative of possible(text)) {
        const expression = alternative.expression();
        expression.lastIndex = from;
        const match = expression.exec(text);
        if (match && (best === null || match.index < best.index))
          best = { index: match.index, text: match[0], alternative: alternative.number };
      }
      return best;
    },
    all(text, limit) {
      const found: Found[] = [];
      for (const alternative of possible(text)) {
        const expression = alternative.expression();
        expression.lastIndex = 0;
        let count = 0;
        for (
          let match = expression.exec(text);
          match && count < limit;
          match = expression.exec(text), count++
        ) {
          found.push({ index: match.index, text: match[0], alternative: alternative.number });
          if (match[0] === '') expression.lastIndex++;
        }
      }
      return found.sort((a, b) => a.index - b.index || a.alternative - b.alternative);
    },
  };
}

/** An expression whose literals are in the common index. */
interface Registered {
  /** Alternatives that no literal can rule out. */
  readonly always: readonly Alternative[];
}

/** All literals of all expressions, so that a text is read once for all of them. */
const literals: string[] = [];
const numberOf = new Map<string, number>();
/** Numbers of literals by their first letters: three, or one where the literal is shorter. */
const byStart = new Map<number, number[]>();
const byLetter = new Map<number, number[]>();
/** For each literal the alternatives that are worth a try once it was seen. */
const wants: { readonly owner: Registered; readonly alternative: Alternative }[][] = [];

function register(source: string, flags: string): Registered {
  const always: Alternative[] = [];
  const owner: Registered = { always };
  alternativesOf(source).forEach((part, number) => {
    const sets = literalsOf(part);
    const key = sets.reduce<readonly string[] | null>((best, set) => better(best, set), null);
    let compiled: RegExp | null = null;
    const alternative: Alternative = {
      number,
      expression: () => (compiled ??= new RegExp(part, flags)),
      needs: sets.filter((set) => set !== key).map((set) => set.map(literalNumber)),
    };
    if (key === null) always.push(alternative);
    else for (const literal of new Set(key.map(literalNumber))) wants[literal]?.push({ owner, alternative });
  });
  recent.length = 0;
  return owner;
}

function literalNumber(text: string): number {
  const known = numberOf.get(text);
  if (known !== undefined) return known;
  const number = literals.push(text) - 1;
  numberOf.set(text, number);
  wants.push([]);
  const [index, start] = text.length >= 3 ? [byStart, startOf(text, 0)] : [byLetter, text.charCodeAt(0)];
  const listed = index.get(start);
  if (listed) listed.push(number);
  else index.set(start, [number]);
  return number;
}

/** What one text holds, and which alternatives are worth a try in it. */
interface TextRead {
  readonly text: string;
  readonly candidates: ReadonlyMap<Registered, readonly Alternative[]>;
}
/** The last texts that were asked about; the tables ask about the same few again and again. */
const recent: TextRead[] = [];

function readText(text: string): TextRead {
  for (const entry of recent) if (entry.text === text) return entry;
  const held = literalsIn(text);
  const chosen = new Map<Registered, Set<Alternative>>();
  for (const literal of held) {
    for (const { owner, alternative } of wants[literal] ?? []) {
      if (!alternative.needs.every((set) => set.some((other) => held.has(other)))) continue;
      const list = chosen.get(owner);
      if (list) list.add(alternative);
      else chosen.set(owner, new Set([...owner.always, alternative]));
    }
  }
  const candidates = new Map(
    [...chosen].map(([owner, list]) => [owner, [...list].sort((a, b) => a.number - b.number)] as const),
  );
  const entry = { text, candidates };
  if (recent.length >= 8) recent.pop();
  recent.unshift(entry);
  return entry;
}

function literalsIn(text: string): ReadonlySet<number> {
  const held = new Set<number>();
  for (let at = 0; at < text.length; at++) {
    for (const list of [
      byLetter.get(text.charCodeAt(at)),
      at + 2 < text.length ? byStart.get(startOf(text, at)) : undefined,
    ]) {
      if (!list) continue;
      for (const number of list)
        if (!held.has(number) && text.startsWith(literals[number] ?? '', at)) held.add(number);
    }
  }
  return held;
}

/** The first three letters as one number. */
function startOf(text: string, at: number): number {
  return (text.charCodeAt(at) * 65536 + text.charCodeAt(at + 1)) * 65536 + text.charCodeAt(at + 2);
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
