import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { View } from '../../src/protocol/view.js';
import { startProvider, type Provider, type Task } from '../support/provider/index.js';
import { cli, swarmProcesses, type Run } from './batchStage.js';
import { agentProfile, type RealAgent } from './profiles.js';

const root = path.resolve(import.meta.dirname, '../..');

/** How the four that are stopped edit: with the agent's own tool, or with `sed -i` in a shell. */
export type Editing = 'tool' | 'sed';

/** Six real agents in one tree: four on an account that closes in the middle of their edits, two on another. */
export interface SharedStage {
  readonly repository: string;
  readonly provider: Provider;
  readonly stopped: readonly string[];
  readonly finishing: readonly string[];
  swarm(...args: string[]): Run;
  status(): View;
  close(): Promise<void>;
}

export const stopped = ['alpha', 'beta', 'gamma', 'delta'] as const;
export const finishing = ['epsilon', 'zeta'] as const;

export async function sharedStage(agent: RealAgent, editing: Editing): Promise<SharedStage> {
  const base = mkdtempSync(path.join(os.homedir(), `.swarm-shared-${agent}-`));
  const repository = path.join(base, 'repository');
  writeRepository(repository);
  const tasks: Record<string, Task> = {};
  for (const name of stopped) tasks[name] = brokenOffTask(name, editing);
  for (const name of finishing) tasks[name] = shortTask(name);
  const provider = await startProvider({
    agent,
    tasks,
    // Each of the four is answered once; whoever asks again meets the limit.
    limitAfterCalls: stopped.length,
    resetInMs: 12_000,
  });
  const profile = async (key: string) =>
    agentProfile(agent, { url: provider.url, home: path.join(base, 'home'), key: `\${env:${key}}` });
  const manifest = path.join(base, 'shared.json');
  writeFileSync(
    manifest,
    JSON.stringify({
      version: 1,
      name: `Six of ${agent} in one tree`,
      executors: {
        one: { ...(await profile('KEY_ONE')), credential: `${agent}-one` },
        two: { ...(await profile('KEY_TWO')), credential: `${agent}-two` },
      },
      executor: 'one',
      isolation: 'shared',
      maxConcurrent: 6,
      check: ['node', 'node_modules/typescript/lib/tsc.js', '--noEmit'],
      policy: { probe: ['15s', '15s'] },
      tasks: [
        ...stopped.map((name) => ({ id: name, prompt: `Change ${name}. task: ${name}` })),
        ...finishing.map((name) => ({ id: name, executor: 'two', prompt: `Write ${name}. task: ${name}` })),
      ],
    }),
  );
  const env = {
    ...process.env,
    KEY_ONE: 'sk-ant-oat01-fake-one',
    KEY_TWO: 'sk-ant-oat01-fake-two',
    XDG_CONFIG_HOME: path.join(base, 'config'),
  };
  const children: ChildProcess[] = [];
  return {
    repository,
    provider,
    stopped,
    finishing,
    swarm(...args) {
      const words = args.map((word) => (word === '<manifest>' ? manifest : word));
      const child = spawn(process.execPath, [cli, '-C', repository, ...words], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      children.push(child);
      const output = { stdout: '', stderr: '' };
      child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
      const ended = new Promise<number | null>((done) => child.on('close', (code) => done(code)));
      return { child, output, ended };
    },
    status: () =>
      JSON.parse(
        execFileSync(process.execPath, [cli, '-C', repository, 'status', '--json'], {
          env,
          encoding: 'utf8',
        }),
      ) as View,
    async close() {
      for (const child of children) child.kill('SIGKILL');
      for (const pid of swarmProcesses(repository)) process.kill(pid, 'SIGKILL');
      await provider.close();
      rmSync(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

/** The first edit leaves what does not compile, the second makes it good. */
function brokenOffTask(name: string, editing: Editing): Task {
  const steps =
    editing === 'sed'
      ? [
          { shell: `sed -i 's/const ${name}: string/const ${name}New: strin/' src/${name}.ts` },
          { shell: `sed -i 's/: strin /: string /' src/${name}.ts` },
        ]
      : [
          { write: `src/${name}New.ts`, content: `export const ${name}New: strin = 'new';\n` },
          { shell: `sed -i 's/: strin /: string /' src/${name}New.ts` },
        ];
  return { steps, result: `${name} is changed.` };
}

function shortTask(name: string): Task {
  return {
    steps: [{ write: `src/${name}.ts`, content: `export const ${name}: string = 'made';\n` }],
    result: `${name} is written.`,
  };
}

function writeRepository(folder: string): void {
  mkdirSync(path.join(folder, 'src'), { recursive: true });
  writeFileSync(path.join(folder, '.gitignore'), 'node_modules\n');
  writeFileSync(path.join(folder, 'src', 'index.ts'), 'export const version = 1;\n');
  for (const name of stopped)
    writeFileSync(path.join(folder, 'src', `${name}.ts`), `export const ${name}: string = 'old';\n`);
  writeFileSync(
    path.join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { target: 'ES2022', module: 'NodeNext', strict: true, types: [] },
      include: ['src'],
    }),
  );
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module","private":true}\n');
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
