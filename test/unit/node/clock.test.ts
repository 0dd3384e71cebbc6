import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createClock } from '../../../src/supervisor/node/clock.js';
import type { Disposable } from '../../../src/supervisor/ports.js';
import { FakeClock } from '../../support/fakeClock.js';

const day = 24 * 60 * 60 * 1000;

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => vi.useRealTimers());

/** A machine whose wall clock and sleeping are set by the test; system timers count only the time awake. */
class Machine {
  wall = Date.parse('2026-03-28T22:00:00Z');
  readonly clock = createClock(() => this.wall);

  async awake(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 100) {
      this.wall += Math.min(100, left);
      await vi.advanceTimersByTimeAsync(Math.min(100, left));
    }
  }

  asleep(ms: number): void {
    this.wall += ms;
  }
}

describe('a timer', () => {
  it('fires once, not before its instant and soon after it', async () => {
    const machine = new Machine();
    const fired: number[] = [];
    const at = machine.wall + 90_000;
    machine.clock.timer(at, () => fired.push(machine.wall));
    await machine.awake(89_900);
    expect(fired).toEqual([]);
    await machine.awake(60_000);
    expect(fired).toHaveLength(1);
    expect((fired[0] ?? 0) - at).toBeLessThanOrEqual(200);
  });

  it('that came due while the machine slept fires within five seconds of waking', async () => {
    const machine = new Machine();
    let fired = 0;
    machine.clock.timer(machine.wall + 3_600_000, () => (fired += 1));
    await machine.awake(10_000);
    machine.asleep(8 * 3_600_000);
    await machine.awake(5_000);
    expect(fired).toBe(1);
    await machine.awake(60_000);
    expect(fired).toBe(1);
  });

  it('that a clock set forward makes due fires within five seconds; one set back fires not before its instant', async () => {
    const machine = new Machine();
    const fired: number[] = [];
    const at = machine.wall + 600_000;
    machine.clock.timer(at, () => fired.push(machine.wall));
    machine.wall -= 300_000;
    await machine.awake(600_000);
    expect(fired).toEqual([]);
    machine.wall = at;
    await machine.awake(5_000);
    expect(fired).toHaveLength(1);
  });

  it('forty days ahead is not at once', async () => {
    const machine = new Machine();
    let fired = 0;
    machine.clock.timer(machine.wall + 40 * day, () => (fired += 1));
    await machine.awake(20_000);
    expect(fired).toBe(0);
    machine.asleep(40 * day);
    await machine.awake(5_000);
    expect(fired).toBe(1);
  });

  it('that was given up does not fire, also when it was due in the same moment', async () => {
    const machine = new Machine();
    let fired = 0;
    const rest: Disposable[] = [];
    machine.clock.timer(machine.wall + 1_000, () => rest[0]?.dispose());
    rest.push(machine.clock.timer(machine.wall + 1_000, () => (fired += 1)));
    machine.clock.timer(machine.wall + 1_000, () => (fired += 1)).dispose();
    await machine.awake(3_000);
    expect(fired).toBe(0);
  });

  it('that is given up or has fired leaves no system timer behind', async () => {
    const machine = new Machine();
    machine.clock.timer(machine.wall + 1_000, () => undefined);
    machine.clock.timer(machine.wall + day, () => undefined).dispose();
    expect(vi.getTimerCount()).toBe(1);
    await machine.awake(1_200);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('the clock turned by hand', () => {
  it('fires in order, each at its instant', async () => {
    vi.useRealTimers();
    const clock = new FakeClock(1_000);
    const seen: string[] = [];
    clock.timer(3_000, () => seen.push(`b ${clock.now()}`));
    clock.timer(2_000, () => {
      seen.push(`a ${clock.now()}`);
      clock.timer(2_500, () => seen.push(`c ${clock.now()}`));
    });
    await clock.advance(5_000);
    expect(seen).toEqual(['a 2000', 'c 2500', 'b 3000']);
    expect(clock.monotonic()).toBe(5_000);
    await clock.sleep(1_000);
    expect([clock.now(), clock.monotonic()]).toEqual([7_000, 5_000]);
  });
});
