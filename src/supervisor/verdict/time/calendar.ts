import { Temporal } from 'temporal-polyfill';
import type { FoundClock } from './clocks.js';
import type { FoundDate } from './dates.js';
import { zoneForDate, type StatedZone } from './zones.js';

/** A wall clock time that has to become an instant. */
export interface WallTime {
  readonly date: FoundDate | null;
  readonly clock: Pick<FoundClock, 'hour' | 'minute' | 'second' | 'half'> | null;
  readonly zone: Pick<StatedZone, 'id' | 'rule'>;
}

/**
 * The instant of a wall clock time, in epoch milliseconds; null for a date that no calendar has.
 * Without a date: the next occurrence. A date without a year: the nearest. A weekday or a date alone: its first minute.
 * A clock that was skipped by a change to summer time counts with the offset before; one that comes twice is its first.
 */
export function instantOf(wall: WallTime, observedAt: number): number | null {
  const here = Temporal.Instant.fromEpochMilliseconds(observedAt).toZonedDateTimeISO(
    zoneForDate(wall.zone, Temporal.Instant.fromEpochMilliseconds(observedAt).toZonedDateTimeISO('UTC').year),
  );
  const today = here.toPlainDate();
  const clock = wall.clock ?? { hour: 0, minute: 0, second: 0, half: 'known' as const };
  const on = (day: Temporal.PlainDate): number => at(day, clock, wall.zone);
  if (wall.date === null) return nextOccurrence(today, clock, wall.zone, observedAt);
  switch (wall.date.kind) {
    case 'date': {
      const { year, month, day } = wall.date;
      if (year !== null) return plainDate(year, month, day, on);
      const around = [today.year - 1, today.year, today.year + 1]
        .map((guess) => plainDate(guess, month, day, on))
        .filter((instant) => instant !== null);
      return nearest(around, observedAt);
    }
    case 'offset': {
      const said = on(today.add({ days: wall.date.days }));
      // `tonight at 12am`, `today at midnight`: the midnight to come.
      const passedMidnight =
        wall.date.days === 0 && clock.hour === 0 && wall.clock !== null && said <= observedAt;
      return wall.clock === null && wall.date.days === 0
        ? null
        : passedMidnight
          ? on(today.add({ days: 1 }))
          : said;
    }
    case 'weekday': {
      const ahead = (wall.date.weekday - today.dayOfWeek + 7) % 7;
      const first = on(today.add({ days: ahead }));
      return ahead === 0 && first <= observedAt ? on(today.add({ days: 7 })) : first;
    }
    case 'dayOfMonth': {
      const { day, nextMonth } = wall.date;
      const start = nextMonth ? today.with({ day: 1 }).add({ months: 1 }) : today.with({ day: 1 });
      const months = [0, 1, 2, 3]
        .map((more) => start.add({ months: more }))
        .filter((month) => month.daysInMonth >= day);
      return months.map((month) => on(month.with({ day }))).find((instant) => instant > observedAt) ?? null;
    }
    default:
      return wall.date satisfies never;
  }
}

function nextOccurrence(
  today: Temporal.PlainDate,
  clock: Pick<FoundClock, 'hour' | 'minute' | 'second' | 'half'>,
  zone: WallTime['zone'],
  observedAt: number,
): number {
  const hours = clock.half === 'either' ? [clock.hour % 12, (clock.hour % 12) + 12] : [clock.hour];
  for (const days of [-1, 0, 1]) {
    const day = today.add({ days });
    const instants = hours.flatMap((hour) => occurrences(day, { ...clock, hour }, zone));
    // The minute that is shown may be running: it then ends within the minute.
    const running =
      clock.half === 'known' && clock.second === 0
        ? instants.find((instant) => instant <= observedAt && observedAt - instant < 60_000)
        : undefined;
    if (running !== undefined) return running + 60_000;
    const ahead = instants.filter((instant) => instant > observedAt);
    if (ahead.length > 0) return Math.min(...ahead);
  }
  return at(today.add({ days: 2 }), { ...clock, hour: hours[0] ?? 0 }, zone);
}

/** A clock occurs twice on the day on which summer time ends. */
function occurrences(
  day: Temporal.PlainDate,
  clock: Pick<FoundClock, 'hour' | 'minute' | 'second'>,
  zone: WallTime['zone'],
): readonly number[] {
  const first = at(day, clock, zone);
  const second = at(day, clock, zone, 'later');
  const gap =
    Temporal.Instant.fromEpochMilliseconds(first).toZonedDateTimeISO(zoneForDate(zone, day.year)).hour !==
    clock.hour % 24;
  return first === second || gap ? [first] : [first, second];
}

function at(
  day: Temporal.PlainDate,
  clock: Pick<FoundClock, 'hour' | 'minute' | 'second'>,
  zone: WallTime['zone'],
  disambiguation: 'compatible' | 'later' = 'compatible',
): number {
  const real = clock.hour === 24 ? day.add({ days: 1 }) : day;
  return real
    .toPlainDateTime({ hour: clock.hour % 24, minute: clock.minute, second: clock.second })
    .toZonedDateTime(zoneForDate(zone, real.year), { disambiguation }).epochMilliseconds;
}

function plainDate(
  year: number,
  month: number,
  day: number,
  on: (day: Temporal.PlainDate) => number,
): number | null {
  try {
    return on(Temporal.PlainDate.from({ year, month, day }, { overflow: 'reject' }));
  } catch {
    return null;
  }
}

function nearest(instants: readonly number[], observedAt: number): number | null {
  return instants.reduce<number | null>(
    (best, instant) =>
      best === null || Math.abs(instant - observedAt) < Math.abs(best - observedAt) ? instant : best,
    null,
  );
}
