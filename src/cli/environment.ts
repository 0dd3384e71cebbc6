import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Supervisor, SupervisorOptions, UserSettings } from '../supervisor/api.js';
import { demoExecutor } from '../supervisor/demo/executor.js';
import { helperPrograms } from '../supervisor/helpers.js';
import { createClock } from '../supervisor/node/clock.js';
import { createGit } from '../supervisor/node/git/index.js';
import { createProcesses } from '../supervisor/node/processes/index.js';
import { openStore } from '../supervisor/node/store/index.js';
import type { Log } from '../supervisor/ports.js';
import { parseSettings } from '../supervisor/settings.js';
import { openSupervisor } from '../supervisor/supervisor.js';
import { exitCodes } from './exitCodes.js';
import { complain } from './output/clean.js';

/** The folder of the built files, where the demo's agent lies too. */
export const dist = dirname(fileURLToPath(import.meta.url));

/** An expected end of a command: what to say on stderr, and the exit code. */
export class CommandEnd extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly fix = '',
  ) {
    super(message);
  }
}

export async function packageVersion(): Promise<string> {
  const text = await readFile(join(dist, '..', 'package.json'), 'utf8').catch(() => '{"version":"0.0.0"}');
  const value: unknown = JSON.parse(text);
  return typeof value === 'object' && value !== null && 'version' in value ? String(value.version) : '0.0.0';
}

/** The person's settings file, `$XDG_CONFIG_HOME/swarm/settings.json`; none is fine. */
export async function readUserSettings(): Promise<UserSettings> {
  const file = join(process.env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'), 'swarm', 'settings.json');
  const text = await readFile(file, 'utf8').catch(() => null);
  let values: unknown = {};
  try {
    values = text === null ? {} : JSON.parse(text);
  } catch (error) {
    throw new CommandEnd(
      exitCodes.input,
      `${file} is not JSON: ${String(error)}`,
      'Correct it, or move it away.',
    );
  }
  if (typeof values !== 'object' || values === null || Array.isArray(values))
    throw new CommandEnd(
      exitCodes.input,
      `${file} must hold one JSON object.`,
      'Write { "swarm.maxConcurrent": 8 }, for example.',
    );
  const { settings, problems } = parseSettings(values as Record<string, unknown>);
  for (const problem of problems) complain(`${file}: ${problem}; its default is used`);
  return { ...settings, executors: { demo: demoExecutor(dist), ...settings.executors } };
}

export function stderrLog(verbose: boolean): Log {
  const inform = verbose ? complain : () => undefined;
  return { info: inform, warn: inform, error: complain };
}

export interface OpenOptions {
  readonly folder: string;
  readonly verbose: boolean;
  readonly json: boolean;
  /** Only to carry out one wish: nothing new is started while it is open. */
  readonly passive?: boolean;
  /** Gives the folder to a window that asks for it. */
  readonly yields?: boolean;
  /** In place of the person's setting. */
  readonly maxConcurrent?: number | undefined;
}

/** Opens the repository around the folder; throws a CommandEnd with code 3 where that cannot be. */
export async function open(options: OpenOptions): Promise<Supervisor> {
  const own = await readUserSettings();
  const settings = { ...own, maxConcurrent: options.maxConcurrent ?? own.maxConcurrent };
  const version = await packageVersion();
  const supervisorOptions: SupervisorOptions = {
    folder: options.folder,
    version,
    clock: createClock(),
    log: stderrLog(options.verbose),
    git: createGit(),
    processes: createProcesses(),
    openStore: (folder, how) => openStore(folder, { ...how, version }),
    settings,
    env: process.env,
    random: (bytes) => randomBytes(bytes).toString('hex'),
    ownProgram: { file: process.execPath, args: [join(dist, 'cli.js')], env: {} },
    helpers: helperPrograms(dist),
    ...(options.passive ? { passive: true } : {}),
    ...(options.yields ? { yields: true } : {}),
  };
  const opened = await openSupervisor(supervisorOptions);
  if (!opened.ok) throw new CommandEnd(opened.code, opened.message, opened.fix);
  return opened.supervisor;
}
