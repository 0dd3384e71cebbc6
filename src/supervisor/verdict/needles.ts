/** A text to be found, in lower case and of three characters at least; `#` stands for a hex digit. */
export interface Needle<T> {
  readonly needle: string;
  readonly of: T;
}

/**
 * Finds many needles in one walk over a text, in upper or lower case (of ASCII). At each place the low bits of the last
 * three characters are looked up in a table; only where a needle may begin like that the needle itself is compared.
 */
export class Needles<T> {
  /** By the bits of their first three characters. */
  private readonly starts = new Map<number, readonly Needle<T>[]>();
  private readonly begins = new Uint8Array(places);

  constructor(needles: readonly Needle<T>[]) {
    for (const each of needles)
      for (const place of placesOf(each.needle)) {
        this.begins[place] = 1;
        this.starts.set(place, [...(this.starts.get(place) ?? []), each]);
      }
  }

  someIn(text: string): boolean {
    return this.walk(text, () => true);
  }

  /** Whose needles are in the text. */
  allIn(text: string): ReadonlySet<T> {
    const all = new Set<T>();
    this.walk(text, (of) => {
      all.add(of);
      return false;
    });
    return all;
  }

  /** Until one that stands there is enough. */
  private walk(text: string, isEnough: (of: T) => boolean): boolean {
    const { begins } = this;
    const { length } = text;
    let place = 0;
    for (let at = 0; at < length; at++) {
      place = ((place << 5) | (text.charCodeAt(at) & 31)) & (places - 1);
      if (begins[place] === 0) continue;
      for (const { needle, of } of this.starts.get(place) ?? [])
        if (standsAt(text, at - 2, needle) && isEnough(of)) return true;
    }
    return false;
  }
}

/** Three characters of five bits each. */
const places = 32 ** 3;

function placesOf(needle: string): readonly number[] {
  let found = [0];
  for (const sign of needle.slice(0, 3)) {
    const signs = sign === '#' ? [...'0123456789abcdef'] : [sign];
    found = found.flatMap((place) => signs.map((each) => (place << 5) | (each.charCodeAt(0) & 31)));
  }
  return found;
}

function standsAt(text: string, from: number, needle: string): boolean {
  if (from < 0 || from + needle.length > text.length) return false;
  for (let at = 0; at < needle.length; at++) {
    const code = text.charCodeAt(from + at);
    const lower = code >= 0x41 && code <= 0x5a ? code | 0x20 : code;
    const wanted = needle.charCodeAt(at);
    const fits = wanted === 0x23 ? isHexDigit(lower) : lower === wanted;
    if (!fits) return false;
  }
  return true;
}

function isHexDigit(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x66);
}
