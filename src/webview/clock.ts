/** One timer for the panel, on the full second; it stands while the page is hidden or nothing counts. */
export interface SecondClock {
  /** Starts or stops it; what is asked twice happens once. */
  run(on: boolean): void;
}

export function secondClock(tick: () => void): SecondClock {
  let wanted = false;
  let timer: number | undefined;
  const arm = () => {
    clearTimeout(timer);
    timer = undefined;
    if (!wanted || document.hidden) return;
    // Re-armed from the wall clock each time, so sleep and clock changes cannot make it drift.
    timer = window.setTimeout(
      () => {
        tick();
        arm();
      },
      1000 - (Date.now() % 1000),
    );
  };
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && wanted) tick();
    arm();
  });
  return {
    run(on) {
      if (on === wanted) return;
      wanted = on;
      arm();
    },
  };
}
