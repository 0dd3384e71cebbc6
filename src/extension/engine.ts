import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { fromPanel, type FromPanel, type HostState } from '../protocol/messages.js';
import type { Request } from '../protocol/request.js';
import { adapters } from '../supervisor/agents/index.js';
import type { UserSettings } from '../supervisor/api.js';
import { demoExecutor } from '../supervisor/demo/executor.js';
import { helperPrograms } from '../supervisor/helpers.js';
import { createDemoWorkspace, type DemoWorkspace } from '../supervisor/demo/workspace.js';
import { programsNamedBy } from '../supervisor/manifest/manifest.js';
import type { NamedProgram } from '../supervisor/manifest/plan.js';
import { createClock } from '../supervisor/node/clock.js';
import { createGit } from '../supervisor/node/git/index.js';
import { createProcesses } from '../supervisor/node/processes/index.js';
import { openStore } from '../supervisor/node/store/index.js';
import type { Change, Git, Log, Processes, Repository } from '../supervisor/ports.js';
import { parseSettings } from '../supervisor/settings.js';
import { openSupervisor } from '../supervisor/supervisor.js';
import { textAt, type GitAddress } from './documents/gitDocuments.js';
import { commandLine } from './ownPrograms.js';
import type { Opened } from './workspaceSupervisors.js';

export type LaunchRequest = Extract<Request, { readonly type: 'launch' }>;

/** Everything that is loaded only when a panel is shown or a folder is supervised, so that a window starts fast. */
export interface Engine {
  open(topLevel: string): Promise<Opened>;
  /** A message of the panel, if it is one. */
  parse(message: unknown): FromPanel | null;
  /** Executors that can be chosen, and whether their program is there. */
  executors(topLevel: string | null): Promise<HostState['executors']>;
  /** Programs that a manifest itself names; they need a person's consent. */
  programs(request: LaunchRequest, topLevel: string): readonly NamedProgram[];
  /** The agent's own sign-in for an executor or an account, as a program with arguments. */
  signIn(executor: string, topLevel: string): Promise<SignIn>;
  changes(topLevel: string, from: string, to: string): Promise<readonly Change[]>;
  textAt(address: GitAddress): Promise<string>;
  createDemo(): Promise<DemoWorkspace>;
}

export type SignIn =
  | { readonly ok: true; readonly file: string; readonly args: readonly string[] }
  | { readonly ok: false; readonly reason: 'noSignIn' }
  | { readonly ok: false; readonly reason: 'noProgram'; readonly message: string; readonly fix: string };

export interface EngineOptions {
  readonly version: string;
  /** Where our own programs are. */
  readonly dist: string;
  readonly log: Log;
  /** Values of `swarm.*` by name without the prefix, for a repository; undefined where they are not set. */
  readonly settings: (topLevel: string | null) => Readonly<Record<string, unknown>>;
  /** Told where a file of an open editor is no text. */
  readonly binary: string;
}

export function createEngine(options: EngineOptions): Engine {
  const { log, dist, version } = options;
  const git = createGit();
  const processes = createProcesses();
  const repositories = new Map<string, Repository>();

  function userSettings(topLevel: string | null): UserSettings {
    const { settings, problems } = parseSettings(options.settings(topLevel));
    for (const problem of problems) log.warn(problem);
    return { ...settings, executors: { demo: demoExecutor(dist), ...settings.executors } };
  }

  return {
    open: (topLevel) =>
      openSupervisor({
        folder: topLevel,
        version,
        clock: createClock(),
        log,
        git,
        processes,
        openStore: (folder, how) => openStore(folder, { ...how, version }),
        settings: userSettings(topLevel),
        env: process.env,
        random: (bytes) => randomBytes(bytes).toString('hex'),
        ownProgram: commandLine(dist, []),
        helpers: helperPrograms(dist),
      }),
    parse: (message) => fromPanel.safeParse(message).data ?? null,
    executors: (topLevel) => findExecutors(userSettings(topLevel), processes, topLevel ?? process.cwd()),
    programs: ({ manifest, executor, maxConcurrent, isolation }, topLevel) =>
      programsNamedBy({ ...manifest, executor, maxConcurrent, isolation }, userSettings(topLevel)),
    signIn: (executor, topLevel) => findSignIn(executor, userSettings(topLevel), processes, topLevel),
    changes: async (topLevel, from, to) =>
      git.changesBetween(await repositoryOf(git, repositories, topLevel), from, to),
    textAt: async (address) =>
      textAt(git, await repositoryOf(git, repositories, address.topLevel), address, options.binary),
    createDemo: () =>
      createDemoWorkspace([
        path.join(dist, '..', 'node_modules', 'typescript'),
        path.join(process.cwd(), 'node_modules', 'typescript'),
      ]),
  };
}

async function repositoryOf(git: Git, known: Map<string, Repository>, topLevel: string): Promise<Repository> {
  const kept = known.get(topLevel);
  if (kept !== undefined) return kept;
  const inspected = await git.inspect(topLevel);
  if (!inspected.ok) throw new Error(`${inspected.message} ${inspected.fix}`);
  known.set(topLevel, inspected);
  return inspected;
}

/** The default first, then those whose program was found. */
async function findExecutors(
  settings: UserSettings,
  processes: Processes,
  folder: string,
): Promise<HostState['executors']> {
  const names = [...new Set([...Object.keys(settings.executors), ...Object.keys(adapters)])].filter(
    // Without a profile, or a plan for a prompt, these have nothing to run.
    (name) => !['command', 'acp', 'local'].includes(name),
  );
  const found = await Promise.all(
    names.map(async (name) => {
      const profile = settings.executors[name];
      const program = profile?.command?.[0];
      const programs =
        program === undefined ? (adapters[profile?.adapter ?? name]?.programs ?? []) : [program];
      for (const candidate of programs)
        if ((await processes.resolve(candidate, process.env['PATH'], folder)).ok)
          return { name, found: true };
      return { name, found: false };
    }),
  );
  const rank = (executor: { readonly name: string; readonly found: boolean }): number =>
    (executor.name === 'demo' ? 4 : 0) +
    (executor.found ? 0 : 2) +
    (executor.name === settings.defaultExecutor ? 0 : 1);
  return found.sort((a, b) => rank(a) - rank(b));
}

async function findSignIn(
  executor: string,
  settings: UserSettings,
  processes: Processes,
  folder: string,
): Promise<SignIn> {
  const profile =
    settings.executors[executor] ??
    Object.values(settings.executors).find((other) => other.credential === executor);
  const signIn = adapters[profile?.adapter ?? executor]?.signIn ?? null;
  const [program, ...args] = signIn ?? [];
  if (program === undefined) return { ok: false, reason: 'noSignIn' };
  const [own, ...leading] = profile?.command ?? [program];
  const resolved = await processes.resolve(own ?? program, process.env['PATH'], folder);
  return resolved.ok
    ? { ok: true, file: resolved.file, args: [...leading, ...args] }
    : { ok: false, reason: 'noProgram', message: resolved.message, fix: resolved.fix };
}
