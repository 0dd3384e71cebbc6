import { describe, expect, test } from 'vitest';
import { often, part } from '../../support/long.js';
import { hunt, readAgain } from './hunt.js';

/** `SWARM_HUNT_STEPS=100000` for the long one, `SWARM_HUNT_SEED` for one seed again. */
const steps = Number(process.env['SWARM_HUNT_STEPS'] ?? often(5000, 1000));
const first = Number(process.env['SWARM_HUNT_SEED'] ?? 1);
const perSeed = often(500, 250);

describe('whatever happens, in whatever order', () => {
  test(`nothing that must never be is seen in ${steps} random steps, and a kind world ends every child`, () => {
    const seeds = Array.from({ length: Math.max(1, Math.ceil(steps / perSeed)) }, (_, n) => first + n);
    for (const seed of seeds) {
      try {
        hunt(seed, Math.min(perSeed, steps));
      } catch (error) {
        throw new Error(`seed ${seed}: SWARM_HUNT_SEED=${seed} SWARM_HUNT_STEPS=${perSeed}`, {
          cause: error,
        });
      }
    }
    console.log(`hunted ${steps} steps, seeds ${seeds[0]} to ${seeds.at(-1)}`);
  }, 600_000);

  test('the journal read from the start gives the same state', () => {
    for (const seed of part([3, 4, 5], 2)) {
      const world = hunt(seed, 200);
      const settings = { maxConcurrent: 5, askAbove: seed % 3 === 0 ? 40_000 : null };
      expect(readAgain(world, settings)).toEqual(world.state);
    }
  });
});
