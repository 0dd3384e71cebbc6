import { randomBytes } from 'node:crypto';
import type { SupervisorOptions } from '../../src/supervisor/api.js';
import { createClock } from '../../src/supervisor/node/clock.js';
import { createGit } from '../../src/supervisor/node/git/index.js';
import { createProcesses } from '../../src/supervisor/node/processes/index.js';
import { openStore } from '../../src/supervisor/node/store/index.js';
import { parseSettings } from '../../src/supervisor/settings.js';

/** The real ports, quiet. */
export function optionsFor(folder: string, root: string): SupervisorOptions {
  return {
    folder,
    version: '0',
    clock: createClock(),
    log: { info: () => undefined, warn: () => undefined, error: (line) => process.stderr.write(`${line}\n`) },
    git: createGit(),
    processes: createProcesses(),
    openStore: (swarm, how) => openStore(swarm, { ...how, version: '0' }),
    settings: parseSettings({ maxConcurrent: 100 }).settings,
    env: { PATH: process.env['PATH'], HOME: root },
    random: (bytes) => randomBytes(bytes).toString('hex'),
  };
}
