import fs from 'node:fs';
import { runWithFault, type CallClass, type Programs } from './campaign.js';
import type { Fault } from './shim/control.js';

export type Kind = 'kill' | 'torn' | 'ENOSPC' | 'EIO' | 'fsync' | 'full' | 'broken';

/** What each kind does, and to which calls. */
export const kinds: Readonly<
  Record<
    Kind,
    { readonly name: string; readonly calls: RegExp; readonly fault: Omit<Fault, 'key' | 'occurrence'> }
  >
> = {
  kill: { name: 'the owner is killed before a call', calls: /./, fault: { what: 'kill' } },
  torn: {
    name: 'the owner is killed after half of a write',
    calls: / write /,
    fault: { what: 'torn', killCaller: true },
  },
  ENOSPC: {
    name: 'no space, once',
    calls: / (write|open|mkdir|link|symlink) /,
    fault: { what: 'refuse', code: 'ENOSPC' },
  },
  EIO: {
    name: 'an input/output error, once',
    calls: / (?!fsync)\w+ /,
    fault: { what: 'refuse', code: 'EIO' },
  },
  fsync: { name: 'a sync that fails, once', calls: / fsync /, fault: { what: 'refuse', code: 'EIO' } },
  full: {
    name: 'no space until it is freed',
    calls: / (write|open|mkdir|link|symlink) /,
    fault: { what: 'refuse', code: 'ENOSPC', stays: true },
  },
  broken: {
    name: 'every call fails until the disk is mended',
    calls: / (?!start)\w+ /,
    fault: { what: 'refuse', code: 'EIO', stays: true },
  },
};

/** All points of one kind: each class of calls at its first, a middle and its last call, in an order by seed. */
export function pointsOf(kind: Kind, calls: readonly CallClass[], seed: number): readonly Fault[] {
  const { calls: wanted, fault } = kinds[kind];
  const random = randomOf(seed + kind.length * 7919 + kind.charCodeAt(0));
  const fitting = shuffled(
    calls.filter(({ key }) => wanted.test(key) && !key.startsWith('runner start')),
    random,
  );
  const round = (pick: (count: number) => number): Fault[] =>
    fitting.map(({ key, count }) => ({
      ...fault,
      ...(fault.what === 'kill' ? { killCaller: random() < 0.5 } : {}),
      key,
      occurrence: pick(count),
    }));
  const all = [
    ...round(() => 1),
    ...round((count) => count),
    ...round((count) => 1 + Math.floor(random() * count)),
  ];
  const seen = new Set<string>();
  return all.filter(({ key, occurrence }) => {
    const name = `${occurrence} ${key}`;
    return !seen.has(name) && seen.add(name);
  });
}

export interface Tally {
  points: number;
  hit: number;
  told: number;
  readonly violations: string[];
}

/** What came of one point, as a line of the file of results. */
interface PointResult {
  readonly fault: Fault;
  readonly hit: boolean;
  readonly told: boolean;
  readonly milliseconds: number;
  readonly violations: readonly string[];
  /** What the story said, where something is wrong. */
  readonly lines: readonly string[];
}

/**
 * Runs points side by side, and says of each that went wrong how to run it again. `results`: a file that gets a line for
 * each point as it ends; what is in it already is counted and not run again, so a campaign can be cut and goes on.
 */
export async function runPoints(
  programs: Programs,
  faults: readonly Fault[],
  {
    sideBySide,
    until = Infinity,
    results,
  }: Readonly<{ sideBySide: number; until?: number; results?: string | undefined }>,
): Promise<Tally> {
  const tally: Tally = { points: 0, hit: 0, told: 0, violations: [] };
  const count = ({ fault, hit, told, violations, lines }: PointResult): void => {
    tally.points += 1;
    if (hit) tally.hit += 1;
    if (told) tally.told += 1;
    if (violations.length > 0)
      tally.violations.push(
        `${JSON.stringify(fault)}: ${violations.join('; ')}\n${lines.join('\n').slice(-6000)}`,
      );
  };
  const known = new Map(resultsIn(results).map((result) => [JSON.stringify(result.fault), result]));
  const open: Fault[] = [];
  for (const fault of faults) {
    const result = known.get(JSON.stringify(fault));
    if (result === undefined) open.push(fault);
    else count(result);
  }
  const work = async (): Promise<void> => {
    for (;;) {
      const fault = open.shift();
      if (fault === undefined || Date.now() > until) return;
      const started = Date.now();
      const { hit, told, violations, lines } = await runWithFault(programs, fault);
      const milliseconds = Date.now() - started;
      const kept = violations.length > 0 ? lines : [];
      const result: PointResult = { fault, hit, told, milliseconds, violations, lines: kept };
      if (results !== undefined) fs.appendFileSync(results, `${JSON.stringify(result)}\n`);
      count(result);
    }
  };
  await Promise.all(Array.from({ length: sideBySide }, work));
  return tally;
}

function resultsIn(file: string | undefined): PointResult[] {
  if (file === undefined || !fs.existsSync(file)) return [];
  const lines = fs.readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as PointResult);
}

/** A small generator of its own, so that a seed means the same everywhere. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const copy = [...items];
  for (let last = copy.length - 1; last > 0; last--) {
    const at = Math.floor(random() * (last + 1));
    const [a, b] = [copy[last], copy[at]];
    if (a !== undefined && b !== undefined) [copy[last], copy[at]] = [b, a];
  }
  return copy;
}
