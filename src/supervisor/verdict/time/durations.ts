import { alternation, NUMBERS, UNITS } from './words.js';

/** A length of time found in a text. */
export interface FoundDuration {
  readonly index: number;
  readonly end: number;
  readonly ms: number;
  /** The text says itself that it is not exact (`~1 day`). */
  readonly approximate: boolean;
}

const UNIT = alternation(UNITS.keys());
const SPACED = alternation([...NUMBERS.keys()].filter((word) => /[a-zа-я]/.test(word)));
const JOINED = alternation([...NUMBERS.keys()].filter((word) => !/[a-zа-я]/.test(word)));
/** A unit of letters ends with the word, but digits may follow: `4h28m20s`. A number word needs a spelled-out unit. */
const PART =
  `(?:(\\d{1,9}(?:[.,]\\d{1,9})?)\\s{0,2}-?\\s?|(?<![a-zа-я])(?:(${SPACED})( and a half)?[\\s-]{1,3}(?=[a-zа-я]{3})|(${JOINED})\\s?))` +
  `(${UNIT})(?![a-zа-яё])\\.?`;
const ONE = new RegExp(PART, 'gu');
const GLUE = /^[\s,]{0,4}(?:and|und|et|y|e|и|i|og|och|en|ve|和|零|و)?\s{0,3}$/u;
const ISO =
  /(?<![a-z0-9])p(?:(\d{1,4})w)?(?:(\d{1,4})d)?(?:t(?:(\d{1,7})h)?(?:(\d{1,7})m)?(?:(\d{1,9}(?:\.\d{1,9})?)s)?)?(?![a-z0-9])/;
const COLONS = /(?<![\d:])(\d{1,3}):(\d{2}):(\d{2})(?![\d:])/;

/** The first length of time in a folded text; `colons`: also `01:30:00`, where the words before it say that it is one. */
export function findDuration(text: string, colons = false): FoundDuration | null {
  const iso = ISO.exec(text);
  const isoMs = iso ? isoLength(iso) : 0;
  const spoken = findSpoken(text);
  if (iso && isoMs > 0 && (!spoken || iso.index <= spoken.index)) {
    return { index: iso.index, end: iso.index + iso[0].length, ms: isoMs, approximate: false };
  }
  if (colons && !spoken) {
    const clock = COLONS.exec(text);
    if (clock) {
      const ms = (Number(clock[1]) * 3600 + Number(clock[2]) * 60 + Number(clock[3])) * 1000;
      return { index: clock.index, end: clock.index + clock[0].length, ms, approximate: false };
    }
  }
  return spoken;
}

function findSpoken(text: string): FoundDuration | null {
  ONE.lastIndex = 0;
  let found: { index: number; end: number; seconds: number; unit: number } | null = null;
  for (let part = ONE.exec(text); part; part = ONE.exec(text)) {
    const unit = UNITS.get(part[5] ?? '') ?? 0;
    const count =
      part[1] === undefined
        ? (NUMBERS.get(part[2] ?? part[4] ?? '') ?? 0) + (part[3] === undefined ? 0 : 0.5)
        : Number(part[1].replace(',', '.'));
    if (!found) {
      found = { index: part.index, end: part.index + part[0].length, seconds: count * unit, unit };
      continue;
    }
    if (unit >= found.unit || !GLUE.test(text.slice(found.end, part.index))) break;
    found = {
      index: found.index,
      end: part.index + part[0].length,
      seconds: found.seconds + count * unit,
      unit,
    };
  }
  if (!found) return null;
  // `3 days, 4:05:06`
  const clock =
    found.unit >= 86_400
      ? /^,?\s{0,2}(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d{1,6})?)?(?![\d:])/.exec(text.slice(found.end))
      : null;
  if (clock)
    found = {
      ...found,
      end: found.end + clock[0].length,
      seconds: found.seconds + Number(clock[1]) * 3600 + Number(clock[2]) * 60 + Number(clock[3] ?? 0),
    };
  // `1h30`: what follows an hour without a unit is minutes.
  const rest =
    found.unit === 3600 ? /^\s?(\d{2})(?![\d:]|[.,]\d|\s?[a-z])/.exec(text.slice(found.end)) : null;
  // `an hour and a half`
  const half = /^ and a half(?![a-z])/.exec(text.slice(found.end));
  const seconds = found.seconds + (rest ? Number(rest[1]) * 60 : 0) + (half ? found.unit / 2 : 0);
  return {
    index: found.index,
    end: found.end + (rest?.[0].length ?? 0) + (half?.[0].length ?? 0),
    ms: seconds * 1000,
    approximate:
      /(?:~|≈|about|approximately|around|roughly|约|約|大约|environ|etwa|ungefahr|около|примерно|약)\s?$/.test(
        text.slice(Math.max(0, found.index - 16), found.index),
      ),
  };
}

function isoLength(parts: RegExpExecArray): number {
  const [, weeks, days, hours, minutes, seconds] = parts;
  const total =
    Number(weeks ?? 0) * 604_800 +
    Number(days ?? 0) * 86_400 +
    Number(hours ?? 0) * 3600 +
    Number(minutes ?? 0) * 60 +
    Number(seconds ?? 0);
  return total * 1000;
}
