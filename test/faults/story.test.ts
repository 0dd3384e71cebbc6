import { availableParallelism } from 'node:os';
import { beforeAll, describe, expect, it } from 'vitest';
import { countCalls, runWithFault, type CallClass, type Programs } from '../support/campaign.js';
import { kinds, pointsOf, runPoints, type Kind } from '../support/campaignPlan.js';
import { buildDriver } from '../support/driverBuild.js';
import { buildShim, type Fault } from '../support/shim/control.js';

/**
 * A batch with a limit, a resume, a quarantine and an apply, whose every call that writes, syncs, renames, removes or
 * starts something, its own and git's, is killed or refused. `SWARM_SEED`: which points, in which order.
 * `SWARM_POINTS`: so many of each kind, or `all`. `SWARM_FAULT_POINT`: one point again, as a violation names it.
 */
const seed = Number(process.env['SWARM_SEED'] ?? 1);
const wanted = process.env['SWARM_POINTS'] ?? '40';
const sideBySide = Number(process.env['SWARM_SIDE_BY_SIDE'] ?? Math.max(2, availableParallelism()));
const again = process.env['SWARM_FAULT_POINT'];

describe('a story with a fault in it', () => {
  let programs: Programs = { driver: '', shim: '' };
  let calls: readonly CallClass[] = [];
  beforeAll(async () => {
    const shim = buildShim();
    if (shim === null)
      throw new Error('The campaign needs Linux and a C compiler: apt-get install gcc libc6-dev');
    programs = { driver: await buildDriver('story'), shim };
    const counted = await countCalls(programs);
    expect(counted.run.violations).toEqual([]);
    calls = counted.calls;
    const all = calls.reduce((sum, { count }) => sum + count, 0);
    console.log(`story: ${all} calls of ${calls.length} kinds, seed ${seed}`);
  });

  if (again === undefined)
    it.each(Object.keys(kinds) as Kind[])('%s: nothing lost, nothing twice, all end', async (kind) => {
      const points = pointsOf(kind, calls, seed);
      const chosen = wanted === 'all' ? points : points.slice(0, Number(wanted));
      const tally = await runPoints(programs, chosen, sideBySide);
      console.log(
        `story, ${kind} (${kinds[kind].name}): ${tally.points} of ${points.length} points, ${tally.hit} hit, ${tally.told} told to the person, ${tally.violations.length} violations, seed ${seed}`,
      );
      expect(tally.violations).toEqual([]);
      expect(tally.hit).toBeGreaterThan(0.8 * tally.points);
    });
  else
    it('one point again', async () => {
      const run = await runWithFault(programs, JSON.parse(again ?? '') as Fault);
      console.log(run.lines.join('\n'));
      expect(run.violations).toEqual([]);
    });
});
