import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { View } from '../../../src/protocol/view.js';
import type { Supervisor, SupervisorOptions } from '../../../src/supervisor/api.js';
import { openSupervisor } from '../../../src/supervisor/supervisor.js';
import { createWorldOptions } from './worldOptions.js';

/** A repository with one commit, beside which worktrees may be made; removed by `clean`. */
export interface World {
  readonly root: string;
  readonly repository: string;
  /** Where test agents keep what they must remember over attempts. */
  readonly memory: string;
  readonly log: string[];
  git(...args: string[]): string;
  write(name: string, text: string): string;
  options(settings?: Record<string, unknown>, env?: Record<string, string>): SupervisorOptions;
  open(settings?: Record<string, unknown>, env?: Record<string, string>): Promise<Supervisor>;
  clean(): Promise<void>;
}

export function createWorld(files: Readonly<Record<string, string>> = { 'README.md': 'hello\n' }): World {
  const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'swarm-world-')));
  const repository = path.join(root, 'repository');
  const memory = path.join(root, 'memory');
  mkdirSync(repository);
  mkdirSync(memory);
  const log: string[] = [];
  const opened: Supervisor[] = [];
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: repository,
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        HOME: root,
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_AUTHOR_NAME: 'Test',
        GIT_AUTHOR_EMAIL: 'test@example.invalid',
        GIT_COMMITTER_NAME: 'Test',
        GIT_COMMITTER_EMAIL: 'test@example.invalid',
      },
    });
  git('init', '-q', '-b', 'main');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(repository, name)), { recursive: true });
    writeFileSync(path.join(repository, name), text);
  }
  git('add', '-A');
  git('commit', '-q', '-m', 'start');
  const world: World = {
    root,
    repository,
    memory,
    log,
    git,
    write(name, text) {
      const file = path.join(root, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
    options: (settings = {}, env = {}) =>
      createWorldOptions({
        folder: repository,
        root,
        memory,
        settings,
        env,
        log: (line) => void log.push(line),
      }),
    async open(settings, env) {
      const result = await openSupervisor(world.options(settings, env));
      if (!result.ok) throw new Error(`${result.message} ${result.fix}`);
      opened.push(result.supervisor);
      return result.supervisor;
    },
    async clean() {
      for (const supervisor of opened) await supervisor.close({ stopAgents: true });
      // A folder that a test made unwritable must be removable.
      execFileSync('chmod', ['-R', 'u+w', root]);
      rmSync(root, { recursive: true, force: true });
    },
  };
  return world;
}

/** Launches a batch whose executor `one` is this script; returns its id. `manifest` adds to it or replaces parts. */
export async function launchScript(
  supervisor: Supervisor,
  script: string,
  manifest: object,
): Promise<string> {
  const answer = await supervisor.request({
    type: 'launch',
    manifest: {
      kind: 'json',
      name: 'batch.json',
      text: JSON.stringify({
        version: 1,
        executor: 'one',
        executors: { one: { adapter: 'command', command: [process.execPath, script] } },
        check: null,
        ...manifest,
      }),
    },
    consent: true,
  });
  if (!answer.ok) throw new Error(JSON.stringify(answer.errors));
  return answer.batch ?? '';
}

/** Resolves with the first view that fulfils the condition. */
export function viewWhere(
  supervisor: Supervisor,
  what: string,
  condition: (view: View) => boolean,
  milliseconds = 30_000,
): Promise<View> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      subscription?.dispose();
      reject(new Error(`not seen within ${milliseconds} ms: ${what}\n${draw(supervisor.view())}`));
    }, milliseconds);
    let subscription: { dispose(): void } | null = null;
    let found = false;
    subscription = supervisor.onView((view) => {
      if (found || !condition(view)) return;
      found = true;
      clearTimeout(timer);
      // The listener may be called before `onView` has returned.
      setImmediate(() => subscription?.dispose());
      resolve(view);
    });
  });
}

/** A view in a few lines, for comparing and for messages. */
export function draw(view: View): string {
  const gates = view.gates.map(
    (gate) => `gate ${gate.credential}: ${gate.state}${gate.reason === 'none' ? '' : ` ${gate.reason}`}`,
  );
  const children = view.batches.flatMap((batch) => [
    `batch ${batch.name}: ${batch.status}`,
    ...batch.children.map(
      (child) =>
        `  ${child.id}: ${child.status}${child.reason === null ? '' : ` (${child.reason.class}${child.reason.needsUser ? ', asks' : ''}: ${child.reason.message})`}, ${child.attempts} attempts`,
    ),
  ]);
  return [...gates, ...children].join('\n');
}
