import { alternation, DAY_OFFSETS, MONTHS, WEEKDAYS } from './words.js';

/** A calendar date found in a text, as far as it was said. */
export type FoundDate = { readonly index: number; readonly end: number } & (
  | { readonly kind: 'date'; readonly year: number | null; readonly month: number; readonly day: number }
  | { readonly kind: 'weekday'; readonly weekday: number; readonly next: boolean }
  | { readonly kind: 'offset'; readonly days: number; readonly night: boolean }
  /** A day of a month to come: `on the 1st`, `next month`. */
  | { readonly kind: 'dayOfMonth'; readonly day: number; readonly nextMonth: boolean }
);

const MONTH = alternation(MONTHS.keys());
const LATIN_DAY = alternation([...WEEKDAYS.keys()].filter((word) => /[a-zа-яء-ي]/.test(word)));
const CJK_DAY = alternation([...WEEKDAYS.keys()].filter((word) => !/[a-zа-яء-ي]/.test(word)));
const OFFSET = alternation(DAY_OFFSETS.keys());
const YEAR = String.raw`(?:,?\s{0,2}(?:de\s|del\s|-|/)?(20\d{2}|(?<=-)\d{2})(?!\d|:))?`;
const START = '(?<![a-zа-я0-9])';
const MONTH_DAY = new RegExp(
  `${START}(${MONTH})\\.?\\s{1,3}(\\d{1,2})(?:st|nd|rd|th|\\.)?(?![\\d:]|\\s?(?:am|pm|a\\.m|p\\.m)(?![a-z]))${YEAR}`,
);
const DAY_MONTH = new RegExp(
  `(?<![\\d:.])(\\d{1,2})(?:st|nd|rd|th|er|º|ª|°|\\.)?\\s{0,2}(?:of\\s|de\\s|del\\s|d')?(?:-)?(${MONTH})(?![a-zа-я])\\.?-?${YEAR}`,
);
const YEAR_MONTH = new RegExp(`(?<!\\d)(20\\d{2})[.,]?\\s(${MONTH})\\.?\\s(\\d{1,2})(?!\\d)\\.?`);
const VIETNAMESE = /ngay\s(\d{1,2})(?:\sthang\s|\/)(\d{1,2})(?:(?:\snam\s|\/)(20\d{2}))?/;
const ASIAN = /(?:(20\d{2})\s?[年년]\s?)?(?<!\d)(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日号號일]/;
const YMD = /(?<![\d-])(20\d{2})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)/;
const DOTS = /(?<![\d.])(\d{1,2})\.(\d{1,2})\.(20\d{2}|\d{2})?(?!\d)/;
const SLASHES = /(?<![\d/])(\d{1,2})\/(\d{1,2})(?:\/(20\d{2}|\d{2}))?(?![\d/])/;
const WEEKDAY = new RegExp(
  `${START}(next\\s|kommenden\\s|nachsten\\s|prochain\\s)?(${LATIN_DAY})(?![a-zа-яء-ي])|((?:下|来|다음)\\s?)?(${CJK_DAY})`,
);
const RELATIVE = new RegExp(`(?<![a-zа-я])(${OFFSET})(?![a-zа-я])`);
const DAYS_AHEAD =
  /(?<![a-zа-я])(?:in|after|dans|en|em|nach|tra|fra|через|om|za)\s(\d{1,3})\s(?:days?|tage?n?|jours?|dias?|днеи|дня|giorni|dagen|dagar)(?=[\s,]{1,3}(?:at|@|um|a|as|alle|om|в|kl)[\s.])/;
const ORDINAL =
  /(?<![a-z])(?:on\s)?(?:the\s)?(\d{1,2})(?:st|nd|rd|th)(?:\s?(?:day\s)?of\s(?:(the\snext|next|the\sfollowing)|each|every|the|this)\smonth)?(?![a-z])/;
const NEXT_MONTH =
  /(?:start|beginning|first(?:\sday)?|1st)\sof\s(?:the\s)?(?:next|following)(?:\scalendar|\sbilling)?\smonth|下个月\s?1\s?[日号]|下月\s?1\s?[日号]|来月\s?1\s?日|翌月\s?1\s?日|다음\s?달\s?1일/;
const EACH_MONTH =
  /first\s(?:day\s)?of\s(?:the|each|every)\smonth|每月\s?1\s?[日号]|毎月\s?1\s?日|매월\s?1일/;

/** The first date in a folded text. `dayFirst`: `4/3` is the fourth of March (all languages but English). */
export function findDate(text: string, dayFirst: boolean): FoundDate | null {
  const found = [
    monthDay(text),
    dayMonth(text),
    yearMonth(text),
    asian(text),
    yearFirst(text),
    dots(text),
    slashes(text, dayFirst),
    relative(text),
    weekday(text),
    monthly(text),
  ].filter((date) => date !== null);
  found.sort((a, b) => a.index - b.index || b.end - a.end);
  // `Wed, 21 Oct 2026`: the weekday only repeats what the date says.
  const [first, second] = found;
  if (first?.kind === 'weekday') {
    const full = found.find(
      (other) => other.kind === 'date' && other.index >= first.end && other.index - first.end <= 12,
    );
    if (full) return { ...full, index: first.index };
  }
  return first ?? second ?? null;
}

function monthDay(text: string): FoundDate | null {
  const match = MONTH_DAY.exec(text);
  return match ? date(match, match[3], MONTHS.get(match[1] ?? ''), match[2]) : null;
}

function dayMonth(text: string): FoundDate | null {
  const match = DAY_MONTH.exec(text);
  return match ? date(match, match[3], MONTHS.get(match[2] ?? ''), match[1]) : null;
}

function yearMonth(text: string): FoundDate | null {
  const match = YEAR_MONTH.exec(text);
  if (match) return date(match, match[1], MONTHS.get(match[2] ?? ''), match[3]);
  const spoken = VIETNAMESE.exec(text);
  return spoken ? date(spoken, spoken[3], Number(spoken[2]), spoken[1]) : null;
}

function asian(text: string): FoundDate | null {
  const match = ASIAN.exec(text);
  return match ? date(match, match[1], Number(match[2]), match[3]) : null;
}

function yearFirst(text: string): FoundDate | null {
  const match = YMD.exec(text);
  return match ? date(match, match[1], Number(match[3]), match[4]) : null;
}

function dots(text: string): FoundDate | null {
  const match = DOTS.exec(text);
  return match ? date(match, match[3], Number(match[2]), match[1]) : null;
}

function slashes(text: string, dayFirst: boolean): FoundDate | null {
  const match = SLASHES.exec(text);
  if (!match) return null;
  // `1/5` may be the first of five tries; without a year it takes a word that announces a date.
  if (match[3] === undefined && !/(?:on|by|until|resets?|am|le|el|em|il)\s$/.test(text.slice(0, match.index)))
    return null;
  const [first, second] = [Number(match[1]), Number(match[2])];
  const day = (dayFirst && second <= 12) || first > 12;
  return date(match, match[3], day ? second : first, String(day ? first : second));
}

function relative(text: string): FoundDate | null {
  const ahead = DAYS_AHEAD.exec(text);
  if (ahead) return { kind: 'offset', days: Number(ahead[1]), night: false, ...span(ahead) };
  const match = RELATIVE.exec(text);
  const days = DAY_OFFSETS.get(match?.[1] ?? '');
  if (!match || days === undefined) return null;
  return { kind: 'offset', days, night: /tonight|今晚|今夜/.test(match[1] ?? ''), ...span(match) };
}

function weekday(text: string): FoundDate | null {
  const match = WEEKDAY.exec(text);
  const day = WEEKDAYS.get(match?.[2] ?? match?.[4] ?? '');
  return match && day !== undefined ? { kind: 'weekday', weekday: day, next: false, ...span(match) } : null;
}

function monthly(text: string): FoundDate | null {
  const next = NEXT_MONTH.exec(text);
  if (next) return { kind: 'dayOfMonth', day: 1, nextMonth: true, ...span(next) };
  const each = EACH_MONTH.exec(text);
  if (each) return { kind: 'dayOfMonth', day: 1, nextMonth: false, ...span(each) };
  const ordinal = ORDINAL.exec(text);
  const day = Number(ordinal?.[1] ?? 0);
  return ordinal && day >= 1 && day <= 31
    ? { kind: 'dayOfMonth', day, nextMonth: ordinal[2] !== undefined, ...span(ordinal) }
    : null;
}

function date(
  match: RegExpExecArray,
  year: string | undefined,
  month: number | undefined,
  day: string | undefined,
): FoundDate | null {
  const dayNumber = Number(day);
  if (month === undefined || month < 1 || month > 12 || dayNumber < 1 || dayNumber > 31) return null;
  const fullYear = year === undefined ? null : Number(year.length === 2 ? `20${year}` : year);
  return { kind: 'date', year: fullYear, month, day: dayNumber, ...span(match) };
}

function span(match: RegExpExecArray): { readonly index: number; readonly end: number } {
  return { index: match.index, end: match.index + match[0].length };
}
