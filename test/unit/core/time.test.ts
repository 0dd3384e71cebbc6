import { describe, expect, test } from 'vitest';
import { backOff } from '../../../src/supervisor/core/backoff.js';
import { replacesReset, waitFor } from '../../../src/supervisor/core/gateWait.js';
import { defaultPolicy, probeWait } from '../../../src/supervisor/core/policy.js';
import { quietUntil } from '../../../src/supervisor/core/quietHours.js';
import type { State } from '../../../src/supervisor/core/state.js';
import { batchLaunched, start, verdictOf, World } from './world.js';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

function limited(resetAt: number): World {
  const world = new World();
  for (const kind of ['prepare', 'spawn', 'snapshot'] as const) world.automatic.add(kind);
  world.send(batchLaunched({ id: 'b', tasks: ['a'], idle: 1000 * day }));
  world.settle();
  world.exit('b/a', 1, verdictOf('usage_limit', { resetAt, resetSource: 'event', window: 'five_hour' }));
  return world;
}

const attempt = (world: World) => world.child('b/a').attempt;

describe('time', () => {
  test('a wait of 40 days ends at its instant, not before', () => {
    const world = limited(start + 40 * day);
    world.advance(40 * day);
    expect(attempt(world)).toBe(1);
    world.advance(1_000);
    expect(attempt(world)).toBe(2);
  });

  test('sleep across the reset: it goes on once, at waking', () => {
    const world = limited(start + hour);
    world.jump(9 * hour);
    expect(attempt(world)).toBe(2);
    world.jump(hour);
    expect(attempt(world)).toBe(2);
  });

  test('a clock set back before the reset does not start it early, and time as told never goes back', () => {
    const world = limited(start + hour);
    world.advance(30 * minute);
    world.jump(-20 * minute);
    const seen: number[] = [];
    world.watch = () => seen.push(world.state.at);
    world.send({ type: 'snapshotTaken', child: 'b/a', n: 9, ref: 'r', commit: 'c' });
    world.advance(49 * minute);
    expect(attempt(world)).toBe(1);
    world.advance(2 * minute);
    expect(attempt(world)).toBe(2);
    expect([...seen].sort((a, b) => a - b)).toEqual(seen);
  });

  test('a clock that jumps while the first one is tried neither starts it again nor times it out', () => {
    const world = limited(start + hour);
    world.advance(hour + 1_000);
    world.report('b/a', false);
    world.jump(-hour);
    world.report('b/a', false);
    world.jump(3 * hour);
    expect(world.child('b/a')).toMatchObject({ attempt: 2, phase: { name: 'running' } });
  });

  test('a machine that slept does not time out its children, a silent child is', () => {
    const world = new World();
    for (const kind of ['prepare', 'spawn', 'snapshot'] as const) world.automatic.add(kind);
    world.send(batchLaunched({ id: 'b', tasks: ['a'], idle: 10 * minute }));
    world.settle();
    world.jump(8 * hour);
    expect(world.child('b/a').phase.name).toBe('running');
    world.advance(10 * minute);
    expect(world.child('b/a').phase.name).toBe('parking');
  });

  test.each([
    ['inside', 23 * 60 + 30, (7 * 60 + 30) * minute],
    ['before', 22 * 60 + 59, null],
    ['at the end', 7 * 60, null],
    ['after midnight', 2 * 60, 5 * hour],
  ])('quiet hours over midnight: %s', (_name, local, left) => {
    const now = Date.UTC(2026, 0, 1) + local * minute;
    const policy = { ...defaultPolicy, quietHours: { from: 23 * 60, to: 7 * 60 } };
    expect(quietUntil(policy, now, 0)).toBe(left === null ? null : now + left);
  });

  test('quiet hours follow the local clock through a change of its offset', () => {
    const policy = { ...defaultPolicy, quietHours: { from: 0, to: 6 * 60 } };
    const before = Date.UTC(2026, 2, 29, 0, 30);
    // Berlin, an hour before the jump: 01:30 local, the end is taken for 05:00 UTC.
    expect(quietUntil(policy, before, 60)).toBe(Date.UTC(2026, 2, 29, 5, 0));
    // Looked at again then, with summer time: 07:00 local, it is over.
    expect(quietUntil(policy, Date.UTC(2026, 2, 29, 5, 0), 120)).toBeNull();
    // In autumn the same timer comes an hour early and is set anew.
    expect(quietUntil(policy, Date.UTC(2026, 9, 25, 4, 0), 60)).toBe(Date.UTC(2026, 9, 25, 5, 0));
  });

  test('back-off doubles from 5 s to 5 min, spread, and always the same for the same text', () => {
    const waits = Array.from({ length: 12 }, (_, tries) => backOff(tries, 'x'));
    expect(waits.every((wait, n) => wait >= Math.min(5_000 * 2 ** n, 240_000) && wait <= 300_000)).toBe(true);
    expect(backOff(3, 'x')).toBe(backOff(3, 'x'));
    expect(new Set(Array.from({ length: 50 }, (_, n) => backOff(0, `s${n}`))).size).toBeGreaterThan(40);
  });

  test('probes: 15, 30, 60 minutes, then the last again', () => {
    expect([0, 1, 2, 3, 9].map((tries) => probeWait(defaultPolicy, tries) / minute)).toEqual([
      15, 30, 60, 60, 60,
    ]);
    expect(probeWait({ ...defaultPolicy, probe: [2_000, 4_000] }, 7)).toBe(4_000);
  });

  test('a rate limit without a time is tried soon, one that only a person can mend not at all', () => {
    const refusal = { gate: 'g', episode: 1, tries: 0, consent: 'ask', now: start } as const;
    const wait = (kind: 'rate_limit' | 'auth_expired' | 'credits_exhausted') =>
      waitFor(defaultPolicy, verdictOf(kind), refusal).tryAt;
    expect(wait('rate_limit')).toBeLessThan(start + 7_000);
    expect(wait('auth_expired')).toBeNull();
    expect(wait('credits_exhausted')).toBeNull();
  });

  test('a better source replaces, an equal one if it is later and new or of another window, a worse one never', () => {
    const known = { until: start + hour, source: 'text', window: 'five_hour' } as const;
    const said = (resetAt: number, resetSource: 'text' | 'event', window: 'five_hour' | 'weekly') =>
      verdictOf('usage_limit', { resetAt, resetSource, window });
    expect(replacesReset(known, said(start, 'event', 'five_hour'), false)).toBe(true);
    expect(replacesReset(known, said(start + 2 * hour, 'text', 'five_hour'), true)).toBe(true);
    expect(replacesReset(known, said(start + 2 * hour, 'text', 'five_hour'), false)).toBe(false);
    expect(replacesReset(known, said(start + day, 'text', 'weekly'), false)).toBe(true);
    for (const source of ['event', 'header', 'body'] as const) {
      const exact = { ...known, source };
      expect(replacesReset(exact, said(start + day, 'text', 'weekly'), true)).toBe(false);
      expect(replacesReset(exact, said(start + 2 * hour, 'text', 'five_hour'), true)).toBe(false);
    }
    expect(
      replacesReset({ until: null, source: 'probe', window: null }, said(start, 'text', 'weekly'), false),
    ).toBe(true);
    expect(replacesReset(known, said(start + hour / 2, 'text', 'five_hour'), true)).toBe(false);
  });

  test('a state from before a field was added still goes on', () => {
    const world = limited(start + hour);
    const { offset: _offset, ...older } = world.state;
    world.state = JSON.parse(JSON.stringify(older)) as State;
    world.advance(hour + 1_000);
    expect(attempt(world)).toBe(2);
  });
});
