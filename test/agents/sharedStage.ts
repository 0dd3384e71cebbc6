import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { View } from '../../src/protocol/view.js';
import { startProvider, type Provider, type Task } from '../support/provider/index.js';
import { swarmIn, writeRepository, type Run } from './batchStage.js';
import { agentProfile, type RealAgent } from './profiles.js';

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
  writeRepository(
    repository,
    Object.fromEntries(stopped.map((name) => [`src/${name}.ts`, `export const ${name}: string = 'old';\n`])),
  );
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
  const commands = swarmIn(repository, env);
  return {
    repository,
    provider,
    stopped,
    finishing,
    swarm: (...args) => commands.run(...args.map((word) => (word === '<manifest>' ? manifest : word))),
    status: commands.status,
    async close() {
      commands.kill();
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
