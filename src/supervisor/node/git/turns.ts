const turns = new Map<string, Promise<unknown>>();

/** Runs pieces of work with the same key one after the other, in this process. */
export async function inTurn<Result>(key: string, act: () => Promise<Result>): Promise<Result> {
  const before = turns.get(key) ?? Promise.resolve();
  const mine = before.catch(() => undefined).then(act);
  turns.set(key, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(key) === mine) turns.delete(key);
  }
}

/** Runs pieces of work at most `places` at a time, in the order in which they came. */
export function createPlaces(places: number): <Result>(act: () => Promise<Result>) => Promise<Result> {
  let free = places;
  const waiting: (() => void)[] = [];
  return async (act) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
