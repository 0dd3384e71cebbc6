import { expect, test } from 'vitest';
import { batchOf, launchRequest, sixTasks, Town } from './town.js';

test('an attempt that was ordered before its gate closed is not started after it', async () => {
  const town = new Town();
  // Between the order and the start the program is looked for once more; there `b` is held.
  const { processes } = town;
  const resolve = processes.resolve.bind(processes);
  let release = (): void => undefined;
  const held = new Promise<void>((done) => (release = done));
  let prepared = 0;
  let spawning = 0;
  processes.resolve = async (program) => {
    const preparing = prepared < 3;
    if (preparing) prepared++;
    else if (++spawning === 2) await held;
    return resolve(program);
  };
  processes.onStart = (process) => {
    process.print({
      type: 'limit',
      status: 'rejected',
      resetsAt: Math.floor(town.clock.now() / 1000) + 3600,
      window: 'five_hour',
    });
    process.exit(1);
  };
  const supervisor = await town.open();
  const tasks = ['a', 'b'].map((id) => ({ id, prompt: `make ${id}` }));
  batchOf(await supervisor.request(launchRequest({ ...sixTasks, tasks })));
  const closed = new Promise<void>((done) => {
    supervisor.onView((view) => {
      if (view.gates[0]?.state === 'closed') done();
    });
  });
  await town.clock.advance(2000);
  await closed;
  release();
  await town.rest(supervisor);
  expect(spawning).toBe(2);
  const started = processes.started.map(({ request }) => request.env['SWARM_CHILD']);
  expect(started).toEqual(['a']);
  expect(supervisor.view().batches[0]?.children[1]).toMatchObject({ id: 'b', status: 'held' });
  await supervisor.close({ stopAgents: false });
});
