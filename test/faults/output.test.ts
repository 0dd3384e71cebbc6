import { it } from 'vitest';
import { createProcesses } from '../../src/supervisor/node/processes/index.js';
import { expectBounded } from '../support/muchOutput.js';

it('a gigabyte of one child passes in bounded memory, and its middle is given back to the disk', async () => {
  const started = Date.now();
  const { rss } = await expectBounded(createProcesses(), 1024 * 1024 * 1024);
  console.log(
    `1 GiB of output: ${Math.round((Date.now() - started) / 1000)} s, ${Math.round(rss / 1024 / 1024)} MiB more memory at most`,
  );
});
