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
