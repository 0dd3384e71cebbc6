import { expect, it } from 'vitest';
import { runPoints } from '../support/campaignPlan.js';
import { buildDriver } from '../support/driverBuild.js';
import { buildShim, type Fault } from '../support/shim/control.js';

/** Points of the campaign in `test/faults` at which something was lost once, and one of each kind. */
const points: readonly Fault[] = [
  {
    what: 'kill',
    killCaller: true,
    key: 'git write /repository.worktrees/alone-#/a3/.gitignore',
    occurrence: 1,
  },
  {
    what: 'kill',
    key: 'owner write /repository/.swarm/batches/together-#/children/s1/edits.jsonl',
    occurrence: 1,
  },
  { what: 'torn', killCaller: true, key: 'owner write /repository/.swarm/journal/#.jsonl', occurrence: 9 },
  { what: 'refuse', code: 'ENOSPC', key: 'owner write /repository/.swarm/journal/#.jsonl', occurrence: 7 },
  { what: 'refuse', code: 'EIO', key: 'owner fsync /repository/.swarm/journal/#.jsonl', occurrence: 12 },
  {
    what: 'refuse',
    code: 'EIO',
    key: 'owner truncate /repository/.git/swarm-panel/watched-index',
    occurrence: 1,
  },
  {
    what: 'refuse',
    code: 'ENOSPC',
    stays: true,
    key: 'git open /repository/.git/objects/#/tmp_#',
    occurrence: 2,
  },
  {
    what: 'refuse',
    code: 'ENOSPC',
    stays: true,
    key: 'git mkdir /repository/.git/refs/swarm/together-#',
    occurrence: 1,
  },
  {
    what: 'refuse',
    code: 'EIO',
    stays: true,
    key: 'owner write /repository/.swarm/batches/together-#/children/s1/checkpoint.json.#.#.tmp',
    occurrence: 1,
  },
];

it('killed or refused at a call of its own or of git, a batch ends as without it, and a full disk is told', async () => {
  const shim = buildShim();
  if (shim === null) {
    console.warn(
      'NOTHING WAS INJECTED: this test needs Linux and a C compiler (apt-get install gcc libc6-dev).',
    );
    return;
  }
  const tally = await runPoints({ driver: await buildDriver('story'), shim }, points, { sideBySide: 4 });
  console.log(
    `story, sample: ${tally.points} points, ${tally.hit} hit, ${tally.violations.length} violations`,
  );
  expect(tally.violations).toEqual([]);
  expect(tally.hit).toBeGreaterThanOrEqual(points.length - 1);
  expect(tally.told).toBeGreaterThanOrEqual(2);
}, 300_000);
