/** Waits that double from 5 s to 5 min, spread so that not all come back in the same second. */
export function backOff(tries: number, seed: string): number {
  const doubled = Math.min(first * 2 ** Math.min(tries, 16), longest / (1 + spread));
  return Math.round(doubled * (1 + spread * fractionOf(seed)));
}

const first = 5_000;
const longest = 300_000;
const spread = 0.25;

/** A fraction from 0 to 1 that a text always has: the machine knows no chance. FNV-1a, then mixed, so that near texts lie far apart. */
export function fractionOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x1_0000_0000;
}
