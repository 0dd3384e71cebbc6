import { performance } from 'node:perf_hooks';
import type { Clock, Disposable } from '../ports.js';

/**
 * How far ahead a timer is armed. System timers stand still while the machine sleeps, so the wall clock is looked at
 * this often: after waking, after a set clock and for waits beyond 2^31 ms a timer is at most this late.
 */
const longestArm = 4_000;

interface Waiting {
  readonly at: number;
  readonly fire: () => void;
}

/** The machine's clock. All timers share one system timer, which keeps the process alive while any is set. */
export function createClock(wall: () => number = Date.now): Clock {
  const waiting = new Set<Waiting>();
  let armed: NodeJS.Timeout | null = null;
  /** The instant that it is armed for. */
  let armedFor = Infinity;

  const disarm = (): void => {
    if (armed !== null) clearTimeout(armed);
    armed = null;
    armedFor = Infinity;
  };

  const armFor = (at: number): void => {
    disarm();
    armedFor = at;
    armed = setTimeout(tick, Math.min(longestArm, Math.max(0, at - wall())));
  };

  const arm = (): void => {
    disarm();
    if (waiting.size === 0) return;
    let next = Infinity;
    for (const timer of waiting) next = Math.min(next, timer.at);
    armFor(next);
  };

  const tick = (): void => {
    armed = null;
    const now = wall();
    const due = [...waiting].filter((timer) => timer.at <= now).sort((a, b) => a.at - b.at);
    for (const timer of due) waiting.delete(timer);
    arm();
    // One timer's error must not keep the others from firing.
    for (const timer of due) queueMicrotask(timer.fire);
  };

  return {
    now: wall,
    monotonic: () => performance.now(),
    offset: (t) => -new Date(t).getTimezoneOffset(),
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC',
    timer: (at, fire): Disposable => {
      let live = true;
      const timer: Waiting = {
        // An instant that is no number would never come; now is the safe reading.
        at: Number.isNaN(at) ? wall() : at,
        fire: () => {
          if (live) fire();
        },
      };
      waiting.add(timer);
      if (timer.at < armedFor) armFor(timer.at);
      return {
        dispose: () => {
          live = false;
          // What it was armed for may be gone: then it looks once too often, and arms itself anew.
          if (waiting.delete(timer) && waiting.size === 0) disarm();
        },
      };
    },
  };
}
