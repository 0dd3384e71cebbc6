import type { Clock, Disposable } from '../../src/supervisor/ports.js';

interface FakeTimer {
  readonly at: number;
  readonly order: number;
  readonly fire: () => void;
}

/** A clock that a test turns by hand. Wall time and monotonic time can be moved apart. */
export class FakeClock implements Clock {
  private wall: number;
  private steady = 0;
  private order = 0;
  private readonly timers = new Set<FakeTimer>();

  constructor(
    start: number | string = '2026-03-02T10:00:00Z',
    readonly zone = 'UTC',
    private readonly offsetOf: (t: number) => number = () => 0,
  ) {
    this.wall = typeof start === 'number' ? start : Date.parse(start);
  }

  now(): number {
    return this.wall;
  }

  monotonic(): number {
    return this.steady;
  }

  offset(t: number): number {
    return this.offsetOf(t);
  }

  timer(at: number, fire: () => void): Disposable {
    const timer = { at, order: this.order++, fire };
    this.timers.add(timer);
    return { dispose: () => void this.timers.delete(timer) };
  }

  /** Instants of the timers that are set, earliest first. */
  pending(): readonly number[] {
    return this.sorted().map((timer) => timer.at);
  }

  /** Time passes; each timer fires at its instant, and what it started is let run before the next. */
  async advance(ms: number): Promise<void> {
    await this.advanceTo(this.wall + ms);
  }

  async advanceTo(instant: number): Promise<void> {
    await settle();
    for (;;) {
      const next = this.sorted()[0];
      if (next === undefined || next.at > instant) break;
      this.move(Math.max(next.at, this.wall));
      this.timers.delete(next);
      next.fire();
      await settle();
    }
    if (instant > this.wall) this.move(instant);
    await settle();
  }

  /** The machine sleeps: wall time goes on, monotonic time does not; on waking, what is due fires late. */
  async sleep(ms: number): Promise<void> {
    await this.setWall(this.wall + ms);
  }

  /** Someone sets the clock, forward or back; what is due by the new time fires. */
  async setWall(instant: number): Promise<void> {
    this.wall = instant;
    await settle();
    for (;;) {
      const next = this.sorted()[0];
      if (next === undefined || next.at > this.wall) break;
      this.timers.delete(next);
      next.fire();
      await settle();
    }
  }

  private move(to: number): void {
    this.steady += to - this.wall;
    this.wall = to;
  }

  private sorted(): readonly FakeTimer[] {
    return [...this.timers].sort((a, b) => a.at - b.at || a.order - b.order);
  }
}

/** Lets everything that is ready run: promise callbacks and what they queue. */
export async function settle(turns = 3): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}
