import { expect, test } from 'vitest';
import type { Supervisor } from '../../../src/supervisor/api.js';
import { batchOf, launchRequest, sixTasks, Town } from './town.js';

/** Two batches: the agent of the first is done, that of the second waits for its limit to end. */
async function twoBatches(): Promise<{
  readonly town: Town;
  readonly supervisor: Supervisor;
  readonly done: string;
  readonly waiting: string;
}> {
  const town = new Town();
  town.processes.onStart = (process) => {
    const { SWARM_CHILD = '', SWARM_SESSION = '' } = process.request.env;
    process.print({ type: 'session', id: SWARM_SESSION });
    town.git.edits.set(process.request.cwd, 1);
    process.print({ type: 'write', path: `${SWARM_CHILD}.txt` });
    if (SWARM_CHILD === 'b')
      process.print({
        type: 'limit',
        status: 'rejected',
        resetsAt: (town.clock.now() + 3_600_000) / 1000,
        window: 'five_hour',
      });
    else process.print({ type: 'done', result: 'made' });
    process.exit(SWARM_CHILD === 'b' ? 1 : 0);
  };
  const supervisor = await town.open();
  const launch = async (id: string) => {
    const tasks = [{ id, prompt: `make ${id}` }];
    return batchOf(await supervisor.request(launchRequest({ ...sixTasks, tasks })));
  };
  const done = await launch('a');
  await town.rest(supervisor);
  const waiting = await launch('b');
  await town.until(supervisor, 'paused', (view) => view.gates[0]?.state === 'closed');
  await town.rest(supervisor);
  return { town, supervisor, done, waiting };
}

function applyOf(supervisor: Supervisor, batch: string) {
  return supervisor.view().batches.find(({ id }) => id === batch)?.children[0]?.apply;
}

test('work of all batches is compared; a child of another batch goes by its whole name', async () => {
  const { town, supervisor, done, waiting } = await twoBatches();
  expect(town.git.forecasts.at(-1)).toEqual([`${done}/a`, `${waiting}/b`]);
  town.git.overlaps.set(`${waiting}/b`, [
    { who: 'you', path: 'x.txt' },
    { who: `${done}/a`, path: 'y.txt' },
  ]);
  town.git.mark = 'edited';
  await town.clock.advance(15_000);
  await town.rest(supervisor);
  expect(applyOf(supervisor, waiting)).toEqual({
    state: 'forecastConflict',
    with: [
      { who: 'you', path: 'x.txt' },
      { who: `${done}/a`, path: 'y.txt' },
    ],
  });
  await supervisor.close({ stopAgents: false });
});

test('an edit of the user is seen within one look; while nothing changes nothing is merged', async () => {
  const { town, supervisor } = await twoBatches();
  const before = town.git.forecasts.length;
  const looks = town.git.looks;
  for (let look = 0; look < 4; look++) {
    await town.clock.advance(15_000);
    await town.rest(supervisor);
  }
  expect([town.git.looks - looks, town.git.forecasts.length - before]).toEqual([4, 0]);
  town.git.mark = 'edited';
  await town.clock.advance(15_000);
  await town.rest(supervisor);
  expect(town.git.forecasts.length - before).toBe(1);
  await supervisor.close({ stopAgents: false });
});

test('the tree is looked at again after a restart, and not any more when nobody is live', async () => {
  const { town, supervisor, waiting } = await twoBatches();
  await supervisor.close({ stopAgents: false });
  const next = await town.open();
  await town.rest(next);
  const before = town.git.forecasts.length;
  await town.clock.advance(15_000);
  await town.rest(next);
  expect(town.git.forecasts.length - before).toBe(1);
  expect(await next.request({ type: 'stop', targets: [{ batch: waiting, child: 'b' }] })).toEqual({
    ok: true,
  });
  await town.rest(next);
  await town.clock.advance(15_000);
  await town.rest(next);
  const { looks } = town.git;
  await town.clock.advance(60_000);
  await town.rest(next);
  expect(town.git.looks).toBe(looks);
  await next.close({ stopAgents: false });
});
