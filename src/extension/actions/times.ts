/** When to resume, as a person types it: `18:30`, `tomorrow 9:00`, `in 2 h`, `2026-12-07 09:00`. Null where it is none of these. */
export function parseWhen(text: string, now: Date): number | null {
  const typed = text.trim().toLowerCase();
  const after = /^(?:in\s+)?(\d{1,4})\s*(m|min|minutes?|h|hours?|d|days?)$/.exec(typed);
  if (after !== null)
    return now.getTime() + Number(after[1]) * (units[(after[2] ?? '').charAt(0)] ?? Number.NaN);

  const clock = /^(tomorrow\s+)?(\d{1,2}):(\d{2})$/.exec(typed);
  if (clock !== null) {
    const at = new Date(now);
    if (!setClock(at, clock[2], clock[3])) return null;
    // A time of the day that has passed is tomorrow's.
    if (clock[1] !== undefined || at <= now) at.setDate(at.getDate() + 1);
    return at.getTime();
  }

  const date = /^(\d{4})-(\d{2})-(\d{2})[ t](\d{1,2}):(\d{2})$/.exec(typed);
  if (date === null) return null;
  const at = new Date(Number(date[1]), Number(date[2]) - 1, Number(date[3]));
  if (at.getMonth() !== Number(date[2]) - 1 || !setClock(at, date[4], date[5])) return null;
  return at > now ? at.getTime() : null;
}

/** An instant as it stands in the panel: today `18:30`, within six days `Mon 09:00`, later `7 Dec, 09:00`. */
export function shortTime(at: number, now: number, locale: string): string {
  const date = new Date(at);
  const clock = date.toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit' });
  const days = Math.round((startOfDay(at) - startOfDay(now)) / 86_400_000);
  if (days === 0) return clock;
  if (days > 0 && days < 6) return `${date.toLocaleDateString(locale, { weekday: 'short' })} ${clock}`;
  return `${date.toLocaleDateString(locale, { day: 'numeric', month: 'short' })}, ${clock}`;
}

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function setClock(at: Date, hour: string | undefined, minute: string | undefined): boolean {
  const [h, m] = [Number(hour), Number(minute)];
  if (h > 23 || m > 59) return false;
  at.setHours(h, m, 0, 0);
  return true;
}

function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}
