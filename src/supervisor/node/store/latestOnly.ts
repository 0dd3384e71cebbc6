interface Waiting<T> {
  readonly value: T;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Work of which at most one runs; of the requests that come meanwhile only the last is done, for all of them. */
export class LatestOnly<T> {
  private waiting: Waiting<T>[] = [];
  private running: Promise<void> | null = null;

  constructor(private readonly work: (value: T) => Promise<void>) {}

  put(value: T): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ value, resolve, reject });
      this.running ??= this.run();
    });
  }

  /** Resolves when nothing is under way. */
  idle(): Promise<void> {
    return this.running ?? Promise.resolve();
  }

  private async run(): Promise<void> {
    await Promise.resolve();
    for (;;) {
      const group = this.waiting;
      const last = group.at(-1);
      if (last === undefined) break;
      this.waiting = [];
      try {
        await this.work(last.value);
        for (const one of group) one.resolve();
      } catch (error) {
        for (const one of group) one.reject(error);
      }
    }
    this.running = null;
  }
}
