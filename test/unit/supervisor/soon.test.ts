import { expect, test } from 'vitest';
import { createSoon, untilBeat } from '../../../src/supervisor/effects/soon.js';
import { FakeClock } from '../../support/fakeClock.js';

test('many that begin at different moments come to do their work on the same beat', async () => {
  const clock = new FakeClock();
  const done: string[][] = [[], []];
  const [one, two] = done.map((mine) =>
    createSoon(
      clock,
      (last) => untilBeat(last, 500),
      () => {
        mine.push(String(clock.monotonic()));
        return Promise.resolve();
      },
    ),
  );
  await clock.advance(130);
  one?.want();
  await clock.advance(200);
  two?.want();
  for (let waited = 330; waited < 1700; waited += 10) {
    one?.want();
    two?.want();
    await clock.advance(10);
  }
  expect(done).toEqual([
    ['130', '500', '1000', '1500'],
    ['330', '500', '1000', '1500'],
  ]);
});

test('a beat that is only just to come is left out', () => {
  expect(untilBeat(499, 500)).toBe(501);
  expect(untilBeat(0, 500)).toBe(500);
});
