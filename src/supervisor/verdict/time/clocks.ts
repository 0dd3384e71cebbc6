/** A time of day found in a text. `hour` 24 is the midnight that ends the day. */
export interface FoundClock {
  readonly index: number;
  readonly end: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** A bare hour without am or pm: either half of the day. */
  readonly half: 'known' | 'either';
  /** The text states a part of a second, which is rounded up. */
  readonly fraction: boolean;
}

const AM = String.raw`a\.?\s?m\.?|vorm\.|утра|ص|صباحا`;
const PM = String.raw`p\.?\s?m\.?|nachm\.|вечера|дня|م|مساء`;
const TWELVE = new RegExp(
  String.raw`(?<![\d:.])(\d{1,2})(?:\s?[:.h]\s?(\d{2}))?(?::(\d{2})(?:\.\d{1,6})?)?\s{0,2}(?:(${AM})|(${PM}))(?![a-zа-я])`,
);
const TWENTY_FOUR =
  /(?<![\d:.,/-])([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d)(?:[.,]\d{1,9})?)?(?![\d:])(?:\s?(?:uhr|uur|hrs?)(?![a-z]))?/;
const DOTTED =
  /(?:^|\s|@)(?:at|um|kl\.?|klo|alle|ore|pukul|kell|o)\s{1,2}(?:ore\s)?([01]?\d|2[0-4])\.([0-5]\d)(?!\d|\.\d)|(?<![\d.])([01]?\d|2[0-4])\.([0-5]\d)\s?(?:uhr|uur|wib|h(?![a-z]))/;
const LETTERED =
  /(?:^|\s)(?:a|as|vers|des|partir de|at|las)\s{1,2}([01]?\d|2[0-4])\s?h\s?([0-5]\d)?(?![\d:a-z])|(?<!(?:over|binnen|nog|ongeveer)\s)(?<![\d:.])([01]?\d|2[0-4])\s?(?:uhr|uur)\s?([0-5]\d)?(?![\d:a-z])/;
const HOURS =
  /(?<!(?:in|after|for|dans|en|em|nach|of|wait)\s)(?<![\d:.a-z])([01]?\d|2[0-4])\s?h\s?([0-5]\d)(?![\d:a-z])/;
const OCLOCK = /(?<![\d:.])(\d{1,2})\s?(?:o'?clock|ч\.|часов)(?![a-zа-я])/;
const CJK_HALF =
  '上午|下午|凌晨|清晨|早上|早晨|晚上|傍晚|中午|夜里|午前|午後|午后|朝|夜|오전|오후|새벽|저녁|밤';
const CJK = new RegExp(
  String.raw`(?:(${CJK_HALF})\s?)(\d{1,2})\s?[:時时點点시]\s?(?:(\d{1,2})\s?分?)?(半)?(?::?(\d{2})\s?秒?)?|(?<![\d:.])(\d{1,2})\s?[時时點点시](?![间間간])\s?(?:(\d{1,2})\s?분?分?)?(半)?`,
);
const NAMED =
  /(?<![a-zа-я])(?:(12\s)?(midnight|mitternacht|minuit|medianoche|meia-noite|mezzanotte|полночь|полуночи|middernacht|polnoc|gece yarisi|午夜|零点|零點|深夜0時|자정|منتصف الليل|midnatt)|(12\s)?(noon|midday|mittag|midi|mediodia|meio-dia|mezzogiorno|полдень|正午|정오|الظهر))(?![a-zа-я])/;
const BARE = /^(?:\s|at|around|about|by|@|um|a las|as|kl\.?|:){0,6}\s(\d{1,2})(?![\d:.,%/-]|\s?[a-z%])/;

/** The first time of day in a folded text. `bare`: an hour alone counts too, where it stands at the very start. */
export function findClock(text: string, bare = false): FoundClock | null {
  const found = [
    twelve(text),
    twentyFour(text),
    dotted(text),
    lettered(text),
    hours(text),
    cjk(text),
    named(text),
  ].filter((clock) => clock !== null);
  found.sort((a, b) => a.index - b.index || b.end - a.end);
  const [earliest, next] = found;
  // `at 5.30 pm`: of two readings of the same digits the one that reads more of them.
  const first =
    earliest && next && next.index < earliest.end && next.end > earliest.end ? next : (earliest ?? null);
  if (first || !bare) return first;
  const alone = BARE.exec(text) ?? OCLOCK.exec(text);
  const hour = Number(alone?.[1] ?? 99);
  if (!alone || hour > 23) return null;
  return {
    index: alone.index,
    end: alone.index + alone[0].length,
    hour,
    minute: 0,
    second: 0,
    half: hour >= 1 && hour <= 12 ? 'either' : 'known',
    fraction: false,
  };
}

function twelve(text: string): FoundClock | null {
  const match = TWELVE.exec(text);
  if (!match) return null;
  const hour = Number(match[1]);
  const afternoon = match[5] !== undefined;
  // `15:05 pm` is said too; the clock of 24 hours then wins.
  const full = hour > 12 ? hour : (hour % 12) + (afternoon ? 12 : 0);
  return clock(match, full, match[2], match[3]);
}

function twentyFour(text: string): FoundClock | null {
  const match = TWENTY_FOUR.exec(text);
  return match ? clock(match, Number(match[1]), match[2], match[3]) : null;
}

function dotted(text: string): FoundClock | null {
  const match = DOTTED.exec(text);
  return match ? clock(match, Number(match[1] ?? match[3]), match[2] ?? match[4], undefined) : null;
}

function lettered(text: string): FoundClock | null {
  const match = LETTERED.exec(text);
  return match ? clock(match, Number(match[1] ?? match[3]), match[2] ?? match[4], undefined) : null;
}

function hours(text: string): FoundClock | null {
  const match = HOURS.exec(text);
  return match ? clock(match, Number(match[1]), match[2], undefined) : null;
}

function cjk(text: string): FoundClock | null {
  const match = CJK.exec(text);
  if (!match) return null;
  const half = match[1];
  const said = Number(match[2] ?? match[6]);
  const minute =
    match[3] ?? match[7] ?? (match[4] !== undefined || match[8] !== undefined ? '30' : undefined);
  if (half === undefined) return clock(match, said, minute, match[5]);
  const evening = /下午|晚上|傍晚|午後|午后|夜|오후|저녁|밤/.test(half);
  const noon = half === '中午';
  const hour = said > 12 ? said : noon ? (said >= 11 ? said : said + 12) : (said % 12) + (evening ? 12 : 0);
  // 夜12時 and 晚上12点 are midnight, not noon.
  const midnight = said === 12 && /晚上|夜|밤/.test(half);
  return clock(match, midnight ? 24 : hour, minute, match[5]);
}

function named(text: string): FoundClock | null {
  const match = NAMED.exec(text);
  return match ? clock(match, match[2] === undefined ? 12 : 0, undefined, undefined) : null;
}

function clock(
  match: RegExpExecArray,
  hour: number,
  minute: string | undefined,
  second: string | undefined,
): FoundClock | null {
  const found = {
    index: match.index,
    end: match.index + match[0].length,
    hour,
    minute: Number(minute ?? 0),
    second: Number(second ?? 0),
    half: 'known' as const,
    fraction: /[.,]\d*[1-9]\d*$/.test(match[0]) && second !== undefined,
  };
  return found.hour > 24 || found.minute > 59 || found.second > 59 || (found.hour === 24 && found.minute > 0)
    ? null
    : found;
}
