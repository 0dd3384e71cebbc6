/** Runs work of one key in turn; work of other keys at the same time. */
export interface Turns {
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return {
    run(key, work) {
      const before = last.get(key) ?? Promise.resolve();
      const mine = before.then(work, work);
      // The end of a turn lets the next one go, however it ended; its caller hears of a failure.
      const ended = mine.then(
        () => undefined,
        () => undefined,
      );
      last.set(key, ended);
      void ended.then(() => {
        if (last.get(key) === ended) last.delete(key);
      });
      return mine;
    },
  };
}
