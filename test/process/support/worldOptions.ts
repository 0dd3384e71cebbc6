import { randomBytes } from 'node:crypto';
import type { SupervisorOptions } from '../../../src/supervisor/api.js';
import { createClock } from '../../../src/supervisor/node/clock.js';
import { createGit } from '../../../src/supervisor/node/git/index.js';
import { createProcesses } from '../../../src/supervisor/node/processes/index.js';
import { openStore } from '../../../src/supervisor/node/store/index.js';
import { parseSettings } from '../../../src/supervisor/settings.js';

/** Real ports for a test world. */
export function createWorldOptions(given: {
  readonly folder: string;
  readonly root: string;
  readonly memory: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string>>;
  readonly log: (line: string) => void;
}): SupervisorOptions {
  const { folder, root, memory, settings, env, log } = given;
  return {
    folder,
    version: '0.0.0-test',
    clock: createClock(),
    log: {
      info: (message) => log(`info ${message}`),
      warn: (message) => log(`warn ${message}`),
      error: (message) => log(`error ${message}`),
    },
    git: createGit(),
    processes: createProcesses(),
    openStore: (swarm, options) => openStore(swarm, { ...options, version: '0.0.0-test' }),
    settings: parseSettings(settings).settings,
    env: { PATH: process.env['PATH'], HOME: root, TEST_MEMORY: memory, ...env },
    random: (bytes) => randomBytes(bytes).toString('hex'),
  };
}
