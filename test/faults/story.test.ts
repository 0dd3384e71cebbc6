import fs from 'node:fs';
import { availableParallelism } from 'node:os';
import { beforeAll, describe, expect, it } from 'vitest';
import { countCalls, runWithFault, type CallClass, type Programs } from '../support/campaign.js';
import { kinds, pointsOf, runPoints, type Kind } from '../support/campaignPlan.js';
import { buildDriver } from '../support/driverBuild.js';
import { buildShim, type Fault } from '../support/shim/control.js';

/**
 * A batch with a limit, a resume, a quarantine and an apply, whose every call that writes, syncs, renames, removes or
 * starts something, its own and git's, is killed or refused. `SWARM_SEED`: which points, in which order.
 * `SWARM_POINTS`: so many of each kind, or `all`. `SWARM_RESULTS`: a file with a line for each point that has ended; a
 * campaign that was cut goes on from it. `SWARM_FAULT_POINT`: one point again, as a violation names it.
 */
const seed = Number(process.env['SWARM_SEED'] ?? 1);
const wanted = process.env['SWARM_POINTS'] ?? '40';
const sideBySide = Number(process.env['SWARM_SIDE_BY_SIDE'] ?? Math.max(2, availableParallelism()));
const results = process.env['SWARM_RESULTS'];
const again = process.env['SWARM_FAULT_POINT'];

describe('a story with a fault in it', () => {
  let programs: Programs = { driver: '', shim: '' };
  let calls: readonly CallClass[] = [];
  beforeAll(async () => {
    const shim = buildShim();
    if (shim === null)
      throw new Error('The campaign needs Linux and a C compiler: apt-get install gcc libc6-dev');
    programs = { driver: await buildDriver('story'), shim };
    calls = await callsOfStory(programs);
    const all = calls.reduce((sum, { count }) => sum + count, 0);
    console.log(`story: ${all} calls of ${calls.length} kinds, seed ${seed}`);
  });

  if (again === undefined)
    it.each(Object.keys(kinds) as Kind[])('%s: nothing lost, nothing twice, all end', async (kind) => {
      const points = pointsOf(kind, calls, seed);
      const chosen = wanted === 'all' ? points : points.slice(0, Number(wanted));
      const tally = await runPoints(programs, chosen, { sideBySide, results });
      console.log(
        `story, ${kind} (${kinds[kind].name}): ${tally.points} of ${points.length} points, ${tally.hit} hit, ${tally.told} told to the person, ${tally.violations.length} violations, seed ${seed}`,
      );
      expect(tally.violations).toEqual([]);
      // Two runs make not quite the same calls, so some points are never met; most must be.
      expect(tally.hit).toBeGreaterThan(0.6 * tally.points);
    });
  else
    it('one point again', async () => {
      const run = await runWithFault(programs, JSON.parse(again ?? '') as Fault);
      console.log(run.lines.join('\n'));
      expect(run.violations).toEqual([]);
    });
});

/** Counted once for a file of results: the points of a campaign that goes on must be the same. */
async function callsOfStory(programs: Programs): Promise<readonly CallClass[]> {
  const file = results === undefined ? null : `${results}.calls`;
  if (file !== null && fs.existsSync(file))
    return JSON.parse(fs.readFileSync(file, 'utf8')) as readonly CallClass[];
  const counted = await countCalls(programs);
  expect(counted.run.violations).toEqual([]);
  if (file !== null) fs.writeFileSync(file, JSON.stringify(counted.calls));
  return counted.calls;
}
