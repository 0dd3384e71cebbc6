import { Temporal } from 'temporal-polyfill';
import { foldHan } from '../text/plain.js';

/** A zone that a text names, as an id that Temporal knows. `rule` keeps a stated standard or summer time. */
export interface StatedZone {
  readonly id: string;
  readonly rule: 'local' | 'standard' | 'summer';
  /** Where the name ends in the text that was given. */
  readonly end: number;
}

/** What a zone name is resolved against, where the name alone is ambiguous. */
export interface ZoneContext {
  readonly observedAt: number;
  readonly localTimeZone: string;
}

type Row = readonly [zones: readonly string[], rule: StatedZone['rule']];

/** Abbreviations and spoken names. Several zones: the one that goes like the local zone, else the first. */
const NAMES: Readonly<Record<string, Row>> = {
  utc: [['UTC'], 'local'],
  gmt: [['UTC'], 'local'],
  z: [['UTC'], 'local'],
  zulu: [['UTC'], 'local'],
  'coordinated universal time': [['UTC'], 'local'],
  pt: [['America/Los_Angeles'], 'local'],
  pst: [['America/Los_Angeles'], 'standard'],
  pdt: [['America/Los_Angeles'], 'summer'],
  'pacific time': [['America/Los_Angeles'], 'local'],
  pacific: [['America/Los_Angeles'], 'local'],
  'pacific standard time': [['America/Los_Angeles'], 'standard'],
  'pacific daylight time': [['America/Los_Angeles'], 'summer'],
  mt: [['America/Denver'], 'local'],
  mst: [['America/Denver'], 'standard'],
  mdt: [['America/Denver'], 'summer'],
  'mountain time': [['America/Denver'], 'local'],
  ct: [['America/Chicago'], 'local'],
  cst: [['America/Chicago', 'Asia/Shanghai'], 'standard'],
  cdt: [['America/Chicago'], 'summer'],
  'central time': [['America/Chicago'], 'local'],
  et: [['America/New_York'], 'local'],
  est: [['America/New_York'], 'standard'],
  edt: [['America/New_York'], 'summer'],
  'eastern time': [['America/New_York'], 'local'],
  eastern: [['America/New_York'], 'local'],
  'eastern standard time': [['America/New_York'], 'standard'],
  'eastern daylight time': [['America/New_York'], 'summer'],
  'central standard time': [['America/Chicago'], 'standard'],
  'central daylight time': [['America/Chicago'], 'summer'],
  akst: [['America/Anchorage'], 'standard'],
  akdt: [['America/Anchorage'], 'summer'],
  hst: [['Pacific/Honolulu'], 'local'],
  nst: [['America/St_Johns'], 'standard'],
  ndt: [['America/St_Johns'], 'summer'],
  ast: [['America/Halifax'], 'standard'],
  adt: [['America/Halifax'], 'summer'],
  brt: [['America/Sao_Paulo'], 'local'],
  art: [['America/Argentina/Buenos_Aires'], 'local'],
  clt: [['America/Santiago'], 'standard'],
  cot: [['America/Bogota'], 'local'],
  wet: [['Europe/Lisbon'], 'standard'],
  west: [['Europe/Lisbon'], 'summer'],
  bst: [['Europe/London', 'Asia/Dhaka'], 'local'],
  'uk time': [['Europe/London'], 'local'],
  cet: [['Europe/Paris'], 'standard'],
  cest: [['Europe/Paris'], 'summer'],
  mez: [['Europe/Berlin'], 'standard'],
  mesz: [['Europe/Berlin'], 'summer'],
  eet: [['Europe/Helsinki'], 'standard'],
  eest: [['Europe/Helsinki'], 'summer'],
  msk: [['Europe/Moscow'], 'local'],
  мск: [['Europe/Moscow'], 'local'],
  'по москве': [['Europe/Moscow'], 'local'],
  'по московскому времени': [['Europe/Moscow'], 'local'],
  trt: [['Europe/Istanbul'], 'local'],
  ist: [['Asia/Kolkata', 'Asia/Jerusalem', 'Europe/Dublin'], 'local'],
  idt: [['Asia/Jerusalem'], 'summer'],
  pkt: [['Asia/Karachi'], 'local'],
  gst: [['Asia/Dubai'], 'local'],
  npt: [['Asia/Kathmandu'], 'local'],
  ict: [['Asia/Bangkok'], 'local'],
  wib: [['Asia/Jakarta'], 'local'],
  sgt: [['Asia/Singapore'], 'local'],
  myt: [['Asia/Kuala_Lumpur'], 'local'],
  hkt: [['Asia/Hong_Kong'], 'local'],
  pht: [['Asia/Manila'], 'local'],
  jst: [['Asia/Tokyo'], 'local'],
  日本時間: [['Asia/Tokyo'], 'local'],
  日本標準時: [['Asia/Tokyo'], 'local'],
  kst: [['Asia/Seoul'], 'local'],
  '한국 시간': [['Asia/Seoul'], 'local'],
  한국시간: [['Asia/Seoul'], 'local'],
  '한국 표준시': [['Asia/Seoul'], 'local'],
  北京时间: [['Asia/Shanghai'], 'local'],
  北京時間: [['Asia/Shanghai'], 'local'],
  中国标准时间: [['Asia/Shanghai'], 'local'],
  'beijing time': [['Asia/Shanghai'], 'local'],
  'china standard time': [['Asia/Shanghai'], 'local'],
  bjt: [['Asia/Shanghai'], 'local'],
  awst: [['Australia/Perth'], 'local'],
  acst: [['Australia/Adelaide'], 'standard'],
  acdt: [['Australia/Adelaide'], 'summer'],
  aest: [['Australia/Sydney'], 'standard'],
  aedt: [['Australia/Sydney'], 'summer'],
  nzst: [['Pacific/Auckland'], 'standard'],
  nzdt: [['Pacific/Auckland'], 'summer'],
  sast: [['Africa/Johannesburg'], 'local'],
  wat: [['Africa/Lagos'], 'local'],
  eat: [['Africa/Nairobi'], 'local'],
  cat: [['Africa/Maputo'], 'local'],
};

const BY_NAME: ReadonlyMap<string, Row> = new Map(
  Object.entries(NAMES).map(([name, row]) => [foldHan(name), row]),
);
const SPOKEN = [...BY_NAME.keys()].sort((a, b) => b.length - a.length).join('|');
const OPENING = String.raw`^[\s,]{0,3}[([]?\s?`;
const IANA = new RegExp(`${OPENING}([a-z][a-z_+-]{1,30}(?:/\\s?[a-z][a-z0-9_+-]{0,30}){1,2})`);
const OFFSET = new RegExp(
  `${OPENING}(?:(?:utc|gmt)\\s?)?([+-])(\\d{1,2})(?::?(\\d{2}))?(?![\\d:-])(?:\\s?\\(?(?:${SPOKEN})(?![a-z0-9])\\)?)?`,
);
const NAMED = new RegExp(`${OPENING}(${SPOKEN})(?![a-z0-9_/+-])`);

/** The zone that stands at the start of a folded text, behind a clock; null where it names none, or one that does not exist. */
export function zoneAt(text: string, context: ZoneContext): StatedZone | null {
  const iana = IANA.exec(text);
  if (iana?.[1] !== undefined) {
    const id = iana[1].replace(/\s/g, '');
    return isZone(id) ? { id, rule: 'local', end: iana[0].length } : null;
  }
  const offset = OFFSET.exec(text);
  if (offset) {
    const id = `${offset[1] ?? '+'}${(offset[2] ?? '').padStart(2, '0')}:${offset[3] ?? '00'}`;
    return isZone(id) ? { id, rule: 'local', end: offset[0].length } : null;
  }
  const named = NAMED.exec(text);
  const row = named?.[1] === undefined ? undefined : BY_NAME.get(named[1]);
  if (!named || !row) return null;
  const local = offsetAt(context.localTimeZone, context.observedAt);
  const id = row[0].find((zone) => offsetAt(zone, context.observedAt) === local) ?? row[0][0] ?? 'UTC';
  return { id, rule: row[1], end: named[0].length };
}

/** The zone id for one date: where a text says standard or summer time, the fixed offset that the zone's own data give it. */
export function zoneForDate(zone: Pick<StatedZone, 'id' | 'rule'>, year: number): string {
  if (zone.rule === 'local') return zone.id;
  const winter = Temporal.PlainDate.from({ year, month: 1, day: 15 }).toZonedDateTime(zone.id);
  const summer = Temporal.PlainDate.from({ year, month: 7, day: 15 }).toZonedDateTime(zone.id);
  const [low, high] =
    winter.offsetNanoseconds <= summer.offsetNanoseconds ? [winter, summer] : [summer, winter];
  return zone.rule === 'standard' ? low.offset : high.offset;
}

const known = new Map<string, boolean>();

/** True for an IANA zone or an offset that Temporal knows. */
export function isZone(id: string): boolean {
  const before = known.get(id);
  if (before !== undefined) return before;
  let found = true;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(id);
  } catch {
    found = false;
  }
  // What agents name is a handful of zones; garbage must not fill the memory.
  if (known.size < 1000) known.set(id, found);
  return found;
}

function offsetAt(zone: string, instant: number): number | null {
  return isZone(zone)
    ? Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone).offsetNanoseconds
    : null;
}
