import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { View } from '../../src/protocol/view.js';
import { codingTask, startProvider, type Provider } from '../support/provider/index.js';
import { agentProfile, type RealAgent } from './profiles.js';

const root = path.resolve(import.meta.dirname, '../..');
export const cli = path.join(root, 'dist', 'cli.js');

/** A TypeScript repository, a provider with a limit, and a manifest of six children of one real agent. */
export interface BatchStage {
  readonly repository: string;
  readonly manifest: string;
  readonly provider: Provider;
  readonly names: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  swarm(...args: string[]): Run;
  status(): View;
  close(): Promise<void>;
}

/** A `swarm` process and what it has printed. */
export interface Run {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  readonly ended: Promise<number | null>;
}

export const secret = 'sk-ant-oat01-fake-story-token-that-must-not-be-on-disk';

export async function batchStage(
  agent: RealAgent,
  options: {
    readonly limitAfterCalls?: number;
    readonly resetInMs: number;
    readonly thinkMs?: number;
    /** When an agent that states no reset is tried again. */
    readonly probe?: string;
  },
): Promise<BatchStage> {
  const names = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'];
  const base = mkdtempSync(path.join(os.homedir(), `.swarm-story-${agent}-`));
  const repository = path.join(base, 'repository');
  writeRepository(repository, { 'README.md': '# A project\n' });
  const provider = await startProvider({
    agent,
    tasks: Object.fromEntries(names.map((name) => [name, codingTask(name)])),
    ...options,
  });
  const profile = await agentProfile(agent, {
    url: provider.url,
    home: path.join(base, 'home'),
    key: '${env:STORY_KEY}',
  });
  const manifest = path.join(base, 'story.json');
  writeFileSync(
    manifest,
    JSON.stringify({
      version: 1,
      name: `Six of ${agent}`,
      executor: 'story',
      executors: { story: { ...profile, credential: agent } },
      maxConcurrent: 2,
      check: ['node', 'node_modules/typescript/lib/tsc.js', '--noEmit'],
      // Shortened, as the reset is near.
      policy: { probe: [options.probe ?? '10s', '10s'] },
      tasks: names.map((name) => ({ id: name, prompt: `Write ${name} and its use. task: ${name}` })),
    }),
  );
  const env = { ...process.env, STORY_KEY: secret, XDG_CONFIG_HOME: path.join(base, 'config') };
  const commands = swarmIn(repository, env);
  return {
    repository,
    manifest,
    provider,
    names,
    env,
    swarm: commands.run,
    status: commands.status,
    async close() {
      commands.kill();
      await provider.close();
      rmSync(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

/** `swarm` in a repository, each call a process of its own; `kill` ends them and every agent they have started. */
export function swarmIn(repository: string, env: NodeJS.ProcessEnv) {
  const children: ChildProcess[] = [];
  return {
    run: (...args: string[]): Run => {
      const child = spawn(process.execPath, [cli, '-C', repository, ...args], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const output = { stdout: '', stderr: '' };
      child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
      const ended = new Promise<number | null>((done) => child.on('close', (code) => done(code)));
      children.push(child);
      return { child, output, ended };
    },
    status: (): View =>
      JSON.parse(
        execFileSync(process.execPath, [cli, '-C', repository, 'status', '--json'], {
          env,
          encoding: 'utf8',
          maxBuffer: 64 * 1024 * 1024,
        }),
      ) as View,
    kill: (): void => {
      for (const child of children) child.kill('SIGKILL');
      for (const pid of swarmProcesses(repository)) process.kill(pid, 'SIGKILL');
    },
  };
}

/** Pids of living processes whose working folder is a child's worktree of this repository. */
export function swarmProcesses(repository: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const env = readFileSync(`/proc/${pid}/environ`, 'latin1');
        const state = /^\d+ \(.*\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1];
        return env.includes('SWARM_NONCE=') && env.includes(path.dirname(repository)) && state !== 'Z';
      } catch {
        return false;
      }
    });
}

/** All text of a folder's files, for a search of secrets. */
export function textBelow(folder: string): string {
  if (!existsSync(folder)) return '';
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

/** The type check as the user would run it in their own tree. */
export function typeCheck(repository: string): { readonly code: number; readonly output: string } {
  try {
    return {
      code: 0,
      output: execFileSync(process.execPath, ['node_modules/typescript/lib/tsc.js', '--noEmit'], {
        cwd: repository,
        encoding: 'utf8',
      }),
    };
  } catch (error) {
    const failed = error as { status?: number; stdout?: string };
    return { code: failed.status ?? 1, output: failed.stdout ?? '' };
  }
}

/** A TypeScript project with one commit of these files, and the compiler linked in. */
export function writeRepository(folder: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(path.join(folder, 'src'), { recursive: true });
  const all = {
    '.gitignore': 'node_modules\n',
    'src/index.ts': 'export const version = 1;\n',
    'tsconfig.json': JSON.stringify({
      compilerOptions: { target: 'ES2022', module: 'NodeNext', strict: true, types: [] },
      include: ['src'],
    }),
    'package.json': '{"type":"module","private":true}\n',
    ...files,
  };
  for (const [file, text] of Object.entries(all)) writeFileSync(path.join(folder, file), text);
  mkdirSync(path.join(folder, 'node_modules', '.bin'), { recursive: true });
  symlinkSync(path.join(root, 'node_modules', 'typescript'), path.join(folder, 'node_modules', 'typescript'));
  symlinkSync('../typescript/bin/tsc', path.join(folder, 'node_modules', '.bin', 'tsc'));
  const git = (...args: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.invalid', ...args], {
      cwd: folder,
      stdio: 'ignore',
    });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-q', '-m', 'start');
}

/** Copies what helps to understand a failed story to the artefacts. */
export function keepEvidence(stage: BatchStage, name: string): void {
  const folder = path.join(root, 'artifacts', 'stories', name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  if (existsSync(path.join(stage.repository, '.swarm')))
    cpSync(path.join(stage.repository, '.swarm'), path.join(folder, 'swarm'), { recursive: true });
  writeFileSync(path.join(folder, 'provider.json'), JSON.stringify(stage.provider.log, null, 1));
}
