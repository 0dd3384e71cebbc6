import { beforeAll, describe, expect, it } from 'vitest';
import { buildDriver } from '../support/driverBuild.js';
import { countPoints, failAt } from '../support/crashRounds.js';

describe('an owner that fails at every point', () => {
  let driver = '';
  let points: readonly number[] = [];
  beforeAll(async () => {
    driver = await buildDriver('storeWriter');
    points = Array.from({ length: await countPoints(driver) }, (_, index) => index + 1);
  });

  it.each(['kill', 'torn', 'ENOSPC', 'EIO'])('%s: nothing that was acknowledged is lost', async (what) => {
    const rounds = await failAt(driver, points, (point) => `${what}:${point}`);
    console.log(`store, ${what}: ${rounds.points} points, ${rounds.violations.length} violations`);
    expect(rounds.violations).toEqual([]);
  });
});
