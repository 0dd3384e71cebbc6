import type { Clock, Disposable } from '../ports.js';

/** Work that is wanted often and done at most once per span, one at a time; later wishes merge. */
export interface Soon {
  want(): void;
  /** Does what is wanted now, after what is being done; resolves when it is done. */
  flush(): Promise<void>;
  dispose(): void;
}

/**
 * The first wish is met at once, the next ones at least `span` ms after the start of the last, which it is told (by the
 * monotonic clock).
 */
export function createSoon(clock: Clock, span: (last: number) => number, work: () => Promise<void>): Soon {
  let wanted = false;
  let disposed = false;
  let timer: Disposable | null = null;
  let last = Number.NEGATIVE_INFINITY;
  let running: Promise<void> = Promise.resolve();
  let busy = false;

  function start(): Promise<void> {
    timer?.dispose();
    timer = null;
    if (!wanted || disposed) return running;
    wanted = false;
    busy = true;
    last = clock.monotonic();
    running = running.then(work).finally(() => {
      busy = false;
      if (wanted) arm();
    });
    return running;
  }

  function arm(): void {
    if (timer !== null || disposed || busy) return;
    const wait = Number.isFinite(last) ? last + span(last) - clock.monotonic() : 0;
    if (wait <= 0) {
      void start(); // `work` reports its own failures
      return;
    }
    timer = clock.timer(clock.now() + wait, () => {
      timer = null;
      void start();
    });
  }

  return {
    want() {
      wanted = true;
      arm();
    },
    async flush() {
      await running;
      await start();
    },
    dispose() {
      disposed = true;
      timer?.dispose();
      timer = null;
    },
  };
}

/**
 * Until the next beat that is not just now. What keeps to one beat is done together, and what follows from it (a line
 * in the journal, a view) once for all.
 */
export function untilBeat(last: number, every: number): number {
  const left = every - (last % every);
  return left < every / 5 ? left + every : left;
}
