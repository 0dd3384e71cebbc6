import path from 'node:path';
import { expect, it } from 'vitest';
import { Contender, race } from '../support/contenders.js';
import { buildDriver } from '../support/driverBuild.js';
import { temporary } from '../support/storeFixtures.js';

const rounds = Number(process.env['SWARM_ROUNDS'] ?? 1_000);

it(`${rounds} times three processes open one folder at the same moment: one owner each time`, async () => {
  const driver = await buildDriver('contender');
  const contenders = [new Contender(driver), new Contender(driver), new Contender(driver)];
  try {
    const wrong = await race(contenders, path.join(temporary(), '.swarm'), rounds);
    console.log(`owners: ${rounds} rounds, ${wrong.length} violations`);
    expect(wrong).toEqual([]);
  } finally {
    await Promise.all(contenders.map((one) => one.end()));
  }
});
