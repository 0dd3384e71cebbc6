/** Waits that double from 5 s to 5 min, spread so that not all come back in the same second. */
export function backOff(tries: number, seed: string): number {
  const doubled = Math.min(first * 2 ** Math.min(tries, 16), longest / (1 + spread));
  return Math.round(doubled * (1 + spread * fractionOf(seed)));
}

const first = 5_000;
const longest = 300_000;
const spread = 0.25;

/** A fraction from 0 to 1 that a text always has: the machine knows no chance. FNV-1a. */
export function fractionOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0) / 0x1_0000_0000;
}
