import { beforeAll, describe, expect, it } from 'vitest';
import { buildDriver } from '../support/driverBuild.js';
import { countPoints, failAt } from '../support/crashRounds.js';

/** A sample of what `test/faults` does at every point. */
describe('an owner that fails at any point', () => {
  let driver = '';
  let points: readonly number[] = [];
  beforeAll(async () => {
    driver = await buildDriver('storeWriter');
    const count = await countPoints(driver);
    points = Array.from({ length: count }, (_, index) => index + 1).filter((point) => point % 37 === 3);
  });

  it.each([
    ['killed before a call', (point: number) => `kill:${point}`],
    ['killed half-way through a write', (point: number) => `torn:${point}`],
    ['refused once for want of space', (point: number) => `ENOSPC:${point}`],
    ['refused once by the device', (point: number) => `EIO:${point}`],
  ])('%s loses nothing that was acknowledged', async (_name, fault) => {
    const { violations } = await failAt(driver, points, fault);
    expect(violations).toEqual([]);
  });
});
