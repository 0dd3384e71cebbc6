import { describe, expect, test } from 'vitest';
import { choiceOf, gatesOf, isCanary, isShut } from '../../../src/supervisor/core/gateLookup.js';
import { often } from '../../support/long.js';
import { chanceOf } from './hunt.js';
import { batchLaunched, start, verdictOf, World } from './world.js';

const credentials = ['c1', 'c2', 'c3', 'c4', 'c5'];
const perCredential = 40;

/** 200 children (or `each` per account) on five accounts that have all met their limits, with resets in the same second. */
function herd(each = perCredential): World {
  const world = new World({ maxConcurrent: 200, askAbove: null });
  for (const kind of ['prepare', 'spawn', 'snapshot'] as const) world.automatic.add(kind);
  for (const credential of credentials)
    world.send(
      batchLaunched({
        id: credential,
        tasks: Array.from({ length: each }, (_, n) => `t${n + 1}`),
        max: each,
        chain: [credential],
        idle: 36_000_000,
      }),
    );
  world.settle();
  const resetAt = start + 1_800_000;
  const limit = verdictOf('usage_limit', { resetAt, resetSource: 'event', window: 'five_hour' });
  for (const key of Object.keys(world.state.children)) world.exit(key, 1, limit, {}, { progress: false });
  world.send({ type: 'settingsChanged', settings: { maxConcurrent: 20, askAbove: null } });
  return world;
}

const running = (world: World) =>
  Object.values(world.state.children).filter((child) => 'launch' in child.phase);

describe('a herd behind five gates', () => {
  test('at the reset each account sends exactly one', () => {
    const world = herd(often(perCredential, 10));
    world.advance(1_801_000);
    expect(
      running(world)
        .map((child) => child.batch)
        .sort(),
    ).toEqual(credentials);
  });

  test('half are refused again: nothing is launched into a closed gate, nobody starves, all end', () => {
    const each = often(perCredential, 15);
    const world = herd(each);
    const chance = chanceOf(7);
    const launches = new Map<string, number>();
    world.watch = (_event, effects) => {
      for (const effect of effects) {
        if (effect.type !== 'spawn') continue;
        const child = world.child(effect.child);
        launches.set(child.key, (launches.get(child.key) ?? 0) + 1);
        for (const gate of gatesOf(world.state, choiceOf(child)))
          expect(isShut(gate) && !isCanary(gate, child), `${child.key} into ${gate.key}`).toBe(false);
      }
    };
    const left = () =>
      Object.values(world.state.children).filter((child) => child.phase.name !== 'succeeded');
    let rounds = 0;
    while (left().length > 0 && rounds++ < 3000) {
      world.advance(1_000);
      for (const child of running(world)) {
        if (child.phase.name !== 'running') continue;
        const refused = chance() < 0.5 && rounds < 2700;
        if (refused)
          world.exit(
            child.key,
            child.attempt,
            verdictOf('usage_limit', {
              resetAt: world.now + 20_000,
              resetSource: 'event',
              window: 'five_hour',
            }),
            {},
            { progress: chance() < 0.6 },
          );
        else world.exit(child.key, child.attempt, verdictOf('none'), {}, { result: 'done', progress: true });
        world.settle();
      }
      for (const child of left())
        if (child.phase.name === 'paused' && child.phase.pause.needsUser)
          world.send({ type: 'resumeRequested', children: [child.key], how: 'auto' });
      world.settle();
    }
    expect(left()).toEqual([]);
    expect(launches.size).toBe(credentials.length * each);
  });

  test('200 that meet the limit in the same second are cheap', () => {
    const from = performance.now();
    herd();
    expect(performance.now() - from).toBeLessThan(10_000);
  });
});
