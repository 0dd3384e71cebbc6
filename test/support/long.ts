/**
 * The long run (`SWARM_LONG=1`; `npm test` sets it) tries every case. The inner loop states the same rules on a part of
 * the cases, so that it stays short.
 */
export const long = process.env['SWARM_LONG'] === '1';

/** A number for the long run, and one for the inner loop. */
export function often(all: number, few: number): number {
  return long ? all : few;
}

/** All items in the long run; else each nth of them, with the first and the last. */
export function part<T>(items: readonly T[], nth: number): readonly T[] {
  return long ? items : items.filter((_, at) => at % nth === 0 || at === items.length - 1);
}
