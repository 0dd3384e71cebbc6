/** The nearest of the known words, if it is near enough to have been meant. */
export function suggestion(word: string, known: readonly string[]): string | null {
  let best: { readonly word: string; readonly distance: number } | null = null;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (best === null || distance < best.distance) best = { word: candidate, distance };
  }
  return best !== null && best.distance <= Math.max(1, Math.floor(best.word.length / 3)) ? best.word : null;
}

/** Splits a command as a person writes it: blanks part words, quotes keep them together. No shell is involved. */
export function splitCommand(text: string): readonly string[] | null {
  const words: string[] = [];
  let word = '';
  let inWord = false;
  let quote: string | null = null;
  for (const character of text) {
    if (quote !== null) {
      if (character === quote) quote = null;
      else word += character;
    } else if (character === '"' || character === "'") {
      quote = character;
      inWord = true;
    } else if (/\s/.test(character)) {
      if (inWord) words.push(word);
      word = '';
      inWord = false;
    } else {
      word += character;
      inWord = true;
    }
  }
  if (quote !== null) return null;
  if (inWord) words.push(word);
  return words;
}

const unitMilliseconds: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
export const durationPattern = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** Milliseconds of `4s`, `15m`, `1h`; null where it is no duration. */
export function durationOf(text: string): number | null {
  const match = durationPattern.exec(text.trim());
  const unit = unitMilliseconds[match?.[2] ?? ''];
  return match === null || unit === undefined ? null : Math.round(Number(match[1]) * unit);
}

export const quietPattern = /^([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-3]):([0-5]\d)$/;

/** Minutes of the day of `23:00-07:00`. */
export function quietHoursOf(text: string): { readonly from: number; readonly to: number } | null {
  const match = quietPattern.exec(text.trim());
  if (match === null) return null;
  return {
    from: Number(match[1]) * 60 + Number(match[2]),
    to: Number(match[3]) * 60 + Number(match[4]),
  };
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++)
      row[j] = Math.min(
        (previous[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
    previous = row;
  }
  return previous[b.length] ?? 0;
}
