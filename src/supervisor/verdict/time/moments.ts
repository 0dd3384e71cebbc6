import { instantOf } from './calendar.js';
import { alternativesOf, finder, type Finder } from '../rules/literals.js';
import { findClock, type FoundClock } from './clocks.js';
import { findDate, type FoundDate } from './dates.js';
import { findDuration } from './durations.js';
import { zoneAt, type StatedZone } from './zones.js';

/** A moment that a text states for the end of a wait. */
export interface StatedMoment {
  /** Epoch milliseconds, not rounded. */
  readonly at: number;
  readonly zoneAssumed: boolean;
  /** How it is written. A length of time and an epoch are exact; a clock is good to its minute. */
  readonly kind: 'clock' | 'date' | 'duration' | 'epoch';
  readonly approximate: boolean;
  /** The words that say it. */
  readonly found: string;
  readonly index: number;
}

/** What a moment is read against. */
export interface MomentContext {
  readonly observedAt: number;
  readonly localTimeZone: string;
  /** The zone of the provider's own clock, where it prints dates without one. */
  readonly providerTimeZone?: string | undefined;
}

const ENGLISH =
  'resets?(?![a-z])|resetting|refresh(?:es|ed)?\\b|renews?\\b|renewed|replenish\\w*|restored?\\b|try(?:ing)?(?: your request)? again|try your request|retry(?:ing|able)?\\b|retries|retry[-_ ]?after|available|unlocks?\\b|regain|resum(?:e|es|ed)\\b|wait(?:ing)?\\b|come back|check back|hold (?:on|off)|back off|return(?: on| at| in| after)|be back|back (?:at|in|on)\\b|until|unblock(?:ed|s)?\\b|lifted|expires?\\b|cool-?down|next (?:request|window|reset|refill|attempt|slot)|(?:re)?opens?(?: again)?\\b|ends? (?:at|in|on)|remaining|time left|\\bleft\\b|starts? (?:at|on|over)|roll(?:s|ing)? over|recharg\\w+|refill\\w*|continue (?:at|in|on|after)|again (?:at|in|on|after)|more (?:at|on|in|after)|(?:access|use|send|ask|start) (?:from|at|on|in|after)|delay';
const FOREIGN = [
  'versuch\\w*|moglich|zuruckgesetzt|zurucksetz\\w*|zuruck|erneut|wieder|verfugbar|warten|erneuert|ruckset\\w*',
  'reinitialis\\w*|reessa\\w*|disponible|reprend\\w*|attend\\w*|patient\\w*|renouvel\\w*|nouveau',
  'restablec\\w*|reinici\\w*|intent[aeo]\\w*|esper[ae]\\w*|vuelv\\w*|renuev\\w*|renov\\w*|nuevo',
  'redefin\\w*|tent[ea]\\w*|disponivel|aguard\\w*|novamente|volt\\w*',
  'ripristin\\w*|riprov\\w*|disponibil\\w*|attend\\w*|reimpost\\w*|azzer\\w*|rinnov\\w*',
  'сброс\\w*|сброс|сбро[сш]\\S*|обнов\\S*|повтор\\S*|попроб\\S*|доступ\\S*|подожд\\S*|возобнов\\S*|снова|восстанов\\S*|онов\\S*|скин\\S*|спроб\\S*',
  'znovu|obnov\\w*|ujra|uudelleen|din nou|reseteaz\\w*|sifirlan\\w*|tekrar|yenilen\\w*|bekle\\w*|zresetuj\\w*|zresetow\\w*|ponow\\w*|odnow\\w*|odnawi\\w*|sprobuj|dostepn\\w*|opnieuw|gereset|hersteld|vernieuwd|beschikbaar|aterstall\\w*|forsok|igjen|dat lai|thu lai|coba lagi|tersedia|diatur ulang|prov igen|nollstall\\w*',
  'إعادة|اعادة|حاول|المحاولة|يعاد|تجدد|تجديد|الانتظار|تعيين|انتظر|ลองใหม่|ลองอีกครั้ง|รีเซ็ต|รีเซต|נסה|איפוס|रीसेट|पुनः|दोबारा|بازنشانی|دوباره',
].join('|');
const ASIAN =
  '重置|重试|恢复|刷新|再试|解除|可用|等待|重設|重試|恢復|更新|再次|リセット|再試行|再開|回復|利用可能|お試し|お待ち|再度|재설정|초기화|다시|재시도|갱신|복구|이용|리셋|기다';
const START = '(?<![a-zа-я])';
const ENGLISH_ANCHORS = anchors(ENGLISH, START);
const FOREIGN_ANCHORS = anchors(FOREIGN, START);
const ASIAN_ANCHORS = anchors(ASIAN, '');

function anchors(alternatives: string, start: string): Finder {
  return finder(
    new RegExp(
      alternativesOf(alternatives)
        .map((one) => start + one)
        .join('|'),
    ),
  );
}

/** What may stand between the word that announces a time and the time, at most. */
const REACH = 64;
const WINDOW = 130;
const MAX_ANCHORS = 12;

/**
 * The moment that a folded text announces for a notice at `from`: the first behind it, else the last before it; one that
 * calls itself approximate only where there is no other.
 */
export function statedMoment(given: string, context: MomentContext, from = 0): StatedMoment | null {
  // What was waited already is no wait to come.
  const text = given.includes('wait')
    ? given.replace(
        /(?:total (?:retry )?wait(?: time)?|waited)(?: for)?:? ?[\d.]{1,12} ?\w{1,20}/g,
        (waited) => ' '.repeat(waited.length),
      )
    : given;
  const found = anchorsOf(text);
  const ahead = found.filter((anchor) => anchor.index >= from).slice(0, MAX_ANCHORS);
  const behind = found
    .filter((anchor) => anchor.index < from)
    .slice(-MAX_ANCHORS)
    .reverse();
  let approximate: StatedMoment | null = null;
  for (const anchor of [...ahead, ...behind]) {
    const moment = momentAt(text, anchor, context);
    if (moment && !moment.approximate) return moment;
    approximate ??= moment;
  }
  return approximate;
}

interface Anchor {
  readonly index: number;
  readonly text: string;
  readonly kind: 'english' | 'foreign' | 'asian';
}

function anchorsOf(text: string): readonly Anchor[] {
  const found: Anchor[] = ENGLISH_ANCHORS.all(text, 60).map((match) => ({
    ...match,
    kind: 'english' as const,
  }));

  if (found.length === 0 || /[^\x00-\x7f]/.test(text)) {
    found.push(...FOREIGN_ANCHORS.all(text, 20).map((match) => ({ ...match, kind: 'foreign' as const })));
    found.push(...ASIAN_ANCHORS.all(text, 20).map((match) => ({ ...match, kind: 'asian' as const })));
    found.sort((a, b) => a.index - b.index);
  }
  return found;
}

function momentAt(text: string, anchor: Anchor, context: MomentContext): StatedMoment | null {
  const start = anchor.index;
  const end = start + anchor.text.length;
  if (
    /^wait|^delay/.test(anchor.text) &&
    /(?:total|retry|max(?:imum)?) (?:\w+ )?$/.test(text.slice(Math.max(0, start - 20), start))
  )
    return null;
  const options = { dayFirst: anchor.kind !== 'english', anchor: anchor.text };
  const [near, far] = anchor.kind === 'asian' ? [before, after] : [after, before];
  return (
    near(text, near === before ? start : end, context, options) ??
    far(text, far === before ? start : end, context, options)
  );
}

/** A moment written alone, such as the value of a field: the whole text is the time. */
export function momentOf(text: string, context: MomentContext): StatedMoment | null {
  return momentIn(text, context, { dayFirst: false, anchor: '' });
}

interface Options {
  /** What follows the sentence: a zone in brackets may stand behind the verb. */
  readonly tail?: string;
  readonly dayFirst: boolean;
  readonly anchor: string;
}

function after(text: string, from: number, context: MomentContext, options: Options): StatedMoment | null {
  const window = text
    .slice(from, from + WINDOW)
    .replace(/\s*\n\s*\n\s*/g, ' ; ')
    .replace(/\s*\n\s*/g, ' ');
  const moment = momentIn(window, context, options);
  if (!moment || moment.index > REACH) return null;
  // A new sentence, or another subject, says something else.
  if (
    /[!?。！？;]|(?<!\d)\.\s|\|\s|\bif\b|\bused\b|%/.test(
      window.slice(0, moment.index).replace(/\b(?:approx|ca|kl|ok)\.\s/g, ''),
    )
  )
    return null;
  return { ...moment, index: from + moment.index };
}

function before(text: string, to: number, context: MomentContext, options: Options): StatedMoment | null {
  const from = Math.max(0, to - 90);
  const window = text.slice(from, to).replace(/\n/g, ' ');
  const sentence = window.slice(lastBreak(window));
  const moment = momentIn(sentence, context, { ...options, tail: text.slice(to, to + 44) });
  if (!moment) return null;
  const gap = sentence.length - (moment.index + moment.found.length);
  return gap > 34 ? null : { ...moment, index: from + (window.length - sentence.length) + moment.index };
}

function lastBreak(window: string): number {
  let at = 0;
  for (const match of window.matchAll(/[!?。！？;,，]|(?<!\d)\.\s|[·∙|]/g)) {
    // A comma inside of a date is no break.
    if (/[,]/.test(match[0]) && /^[,]\s?(?:20\d\d|\d)/.test(window.slice(match.index))) continue;
    at = match.index + match[0].length;
  }
  return at;
}

/** Every time has a digit, or is one of a few words. */
const MAY_BE_TIME =
  /\d|day|tomorrow|night|noon|hour|minute|week|month|morgen|demain|manana|amanha|domani|завтра|mitt|minui|mezz|полн|полд|понедел|втор|сред|четв|пятн|субб|воскр|tag\b|di\b|lun|mar|mie|jue|vie|sab|dom|feira|[^\x00-\x7f]/;

const NOT_A_WAIT =
  /^\s?-?\s?(?:limit|window|usage|quota|session|cap\b|period|rolling|plan\b|ago|elapsed|per\b|of\b|cycle|用量|使用|限|上限|额度|窗口|的使用|的用量|前|以内|利用|の利用|の使用|制限|の制限|사용|한도|전\b|limite\b|nutzung)/;
const EVERY =
  /(?:every|per|each|last|past|rolling|within(?: an?)?|jede[nr]?|alle|chaque|toutes les|cada|ogni|кажды[ех]|每|毎|매|last|took|after running for|baked for|elapsed:?|of)\s?$/;

function momentIn(given: string, context: MomentContext, options: Options): StatedMoment | null {
  // The short form of ISO 8601: `20260611T040000Z`
  const window = given.replace(/(?<!\d)(20\d\d)(\d\d)(\d\d)t(\d\d)(\d\d)(\d\d)(?!\d)/, '$1-$2-$3t$4:$5:$6');
  if (!MAY_BE_TIME.test(window)) return null;
  const candidates = [
    epochIn(window),
    lengthIn(window, context, options),
    wallIn(window, context, options),
  ].filter((moment) => moment !== null);
  candidates.sort((a, b) => a.index - b.index || b.found.length - a.found.length);
  return candidates[0] ?? null;
}

function epochIn(window: string): StatedMoment | null {
  const match = /(?<![\d.])(1[4-9]\d{8}|20\d{8})(\d{3})?(?:\.\d{1,6})?(?!\d)/.exec(window);
  if (!match) return null;
  const at = match[2] === undefined ? Number(match[0]) * 1000 : Number(`${match[1] ?? ''}${match[2]}`);
  return { at, zoneAssumed: false, kind: 'epoch', approximate: false, found: match[0], index: match.index };
}

function lengthIn(window: string, context: MomentContext, options: Options): StatedMoment | null {
  const bare = /after|wait|delay|cool-?down/.test(options.anchor) || /^[-_ ]?after/.test(window);
  const seconds = bare
    ? /^(?:[-_ ]?after)?["']?\s?[:= ]\s?["']?(\d{1,9}(?:\.\d{1,9})?)["']?(?![\d:]|\s?[a-zа-я/-])/.exec(window)
    : null;
  if (seconds && Number(seconds[1]) < 1e8) {
    return {
      at: context.observedAt + Number(seconds[1]) * 1000,
      zoneAssumed: false,
      kind: 'duration',
      approximate: false,
      found: seconds[0],
      index: 0,
    };
  }
  let from = 0;
  for (let tries = 0; tries < 4; tries++) {
    const rest = window.slice(from);
    const length = findDuration(
      rest,
      /(?:^|\s)(?:in|after|for|dans|en|em|nach|через)\s|:\s$/.test(rest.slice(0, 24)),
    );
    if (!length) return null;
    const told = window.slice(0, from + length.index);
    const follows = window.slice(from + length.end);
    // `18h00 (Europe/Brussels)` is a time of day.
    const isClock =
      /^\d{1,2}\s?h\s?\d{2}$/.test(rest.slice(length.index, length.end)) && zoneAt(follows, context) !== null;
    // `30-day free trial` tells what kind, not how long.
    const isKind =
      /^\d{1,4}-[a-z]+$/.test(rest.slice(length.index, length.end)) &&
      /^\s(?!wait|delay|cool)[a-z]/.test(follows);
    const endsSentence = rest[length.end - 1] === '.';
    if ((endsSentence || !NOT_A_WAIT.test(follows)) && !EVERY.test(told) && !isClock && !isKind) {
      const found = rest.slice(length.index, length.end);
      return {
        at: context.observedAt + length.ms,
        zoneAssumed: false,
        kind: 'duration',
        approximate: length.approximate,
        found,
        index: from + length.index,
      };
    }
    from += length.end;
  }
  return null;
}

const GLUE =
  /^[\s,·.@()[\]t:-]{0,6}(?:(?:at|um|a|a las|a la|as|om|kl\.?|klo|klokken|alle|alle ore|ore|o|v|в|во|на|的|에|の|on|for|ab|dia|el|am|den|le|les|saat|pukul|jam|vers|by|around|about|klo|heure de|в течение|lúc|luc|vao|في|الساعة|الساعة|을|에)\s?){0,2}[\s,(]{0,3}$/;

function wallIn(window: string, context: MomentContext, options: Options): StatedMoment | null {
  const said = findDate(window, options.dayFirst);
  const bare = /reset|again|until|available|wieder|nouveau|nuevo/.test(options.anchor);
  const clock = findClock(window, bare && said === null);
  // `kl. 15.10.` is a time of day, not the fifteenth of October.
  const date = said && clock && clock.index < said.index && said.index < clock.end ? null : said;
  const joined = date && clock ? joins(window, date, clock) : false;
  const useDate = date !== null && (joined || !clock || date.index < clock.index);
  const useClock = clock !== null && (joined || !useDate);
  if (!useDate && !useClock) return null;
  const first = Math.min(useDate ? date.index : Infinity, useClock ? clock.index : Infinity);
  let end = Math.max(useDate ? date.end : 0, useClock ? clock.end : 0);
  // `Wed Oct 21 07:28:00 2026`
  const lateYear =
    useDate && useClock && date.kind === 'date' && date.year === null
      ? /^,?\s(20\d{2})(?![\d:])/.exec(window.slice(end))
      : null;
  if (lateYear) end += lateYear[0].length;
  const day = useDate
    ? lateYear && date.kind === 'date'
      ? { ...date, year: Number(lateYear[1]) }
      : date
    : null;
  // `tomorrow` alone is no time of day; only what resets by the day does so at midnight.
  if (day?.kind === 'offset' && !useClock && !/reset|renew|refresh/.test(options.anchor)) return null;
  if (
    day?.kind === 'dayOfMonth' &&
    !useClock &&
    !/reset|renew|refresh|available|again|until|重置|リセット|更新|刷新|恢复/.test(options.anchor)
  )
    return null;
  const stated =
    zoneAt(window.slice(end), context) ??
    (useDate && useClock ? zoneAt(window.slice(Math.min(date.end, clock.end)), context) : null) ??
    zoneBehind(window.slice(end) + (options.tail ?? ''), context);
  const provider = useDate && useClock ? context.providerTimeZone : undefined;
  const zone = stated ?? {
    id: provider ?? context.localTimeZone,
    rule: 'local' as const,
    end: 0,
  };
  const at = instantOf({ date: day, clock: useClock ? clock : null, zone }, context.observedAt);
  if (at === null) return null;
  const found = window.slice(first, end + zone.end);
  return {
    at: at + (useClock && clock.fraction ? 1000 : 0),
    zoneAssumed: stated === null,
    kind: useDate ? 'date' : 'clock',
    approximate: false,
    found,
    index: first,
  };
}

/** A zone in brackets further on in the same sentence. */
function zoneBehind(text: string, context: MomentContext): StatedZone | null {
  const bracket = /^[^!?\n;]{0,34}?(\([^()\n]{2,32}\))/.exec(text)?.[1];
  const zone = bracket === undefined ? null : zoneAt(bracket, context);
  return zone && { ...zone, end: 0 };
}

function joins(window: string, date: FoundDate, clock: FoundClock): boolean {
  const [left, right] = date.index <= clock.index ? [date, clock] : [clock, date];
  if (right.index < left.end) return false;
  const gap = window.slice(left.end, right.index);
  return (
    GLUE.test(gap) || (left === clock && GLUE.test(gap.replace(/^[\s,(]{0,3}[a-z/_+:0-9-]{1,32}\)?/, '')))
  );
}
