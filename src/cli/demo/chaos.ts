import { spawn, type ChildProcess } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { DemoWorkspace } from '../../supervisor/demo/workspace.js';
import { createProcesses } from '../../supervisor/node/processes/index.js';
import { dist } from '../environment.js';
import { exitCodes } from '../exitCodes.js';
import type { Reader } from '../output/reader.js';

export interface Chaos {
  readonly workspace: DemoWorkspace;
  readonly seed: number;
  readonly say: (text: string) => void;
  readonly reader: Reader;
}

/** Each so often, so that the demo ends in a minute or two; whoever stops without progress asks a person in the end. */
const supervisorKills = 3;
const agentKills = 3;
const mostAsked = 5;

/**
 * Runs the demo with a supervisor in a process of its own, and kills it, and single agents, at random moments; what
 * was killed is taken up by the next supervisor. The same number gives the same moments. Returns the exit code.
 */
export async function superviseWithChaos({ workspace, seed, say, reader }: Chaos): Promise<number> {
  const { folder, manifest } = workspace;
  const { gone } = reader;
  reader.watch();
  const random = randomOf(seed);
  const counts = { supervisor: 0, agents: 0 };
  say(
    `A small shop in ${folder}. Everything that can be killed or refused is, at random: --chaos ${seed} again does the same.`,
  );
  let asked = 0;
  let args: readonly string[] = ['run', manifest];
  for (;;) {
    const child = spawn(process.execPath, [join(dist, 'cli.js'), '-C', folder, ...args], {
      env: { ...process.env, SWARM_DEMO_CHAOS: String(seed) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    // What was not launched yet cannot be taken up: the first line tells that it was.
    const launched = new Promise<void>((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        say(line);
        resolve();
      });
    });
    let over = false;
    const ended = new Promise<number | null>((resolve) =>
      child.once('exit', (code) => {
        over = true;
        resolve(code);
      }),
    );
    const leave = (): void => void child.kill('SIGTERM');
    gone.addEventListener('abort', leave, { once: true });
    void launched.then(() => harass(child, () => over));
    const code = await ended;
    gone.removeEventListener('abort', leave);
    if (gone.aborted) return exitCodes.interrupted;
    if (code === exitCodes.paused && asked < mostAsked) {
      asked += 1;
      say('*** somebody asks a person, who says: go on');
      args = ['resume', '--all'];
      continue;
    }
    if (code !== null) {
      say(
        `${counts.supervisor} supervisors and ${counts.agents} agents were killed on the way; every child ${code === exitCodes.done ? 'is done' : 'has ended'}.`,
      );
      return code;
    }
    args = ['supervise'];
  }

  async function harass(child: ChildProcess, isOver: () => boolean): Promise<void> {
    while (!isOver() && counts.supervisor + counts.agents < supervisorKills + agentKills) {
      await new Promise((soon) => setTimeout(soon, 1500 + random() * 4000));
      if (isOver()) return;
      const supervisor =
        counts.agents >= agentKills || (random() < 0.5 && counts.supervisor < supervisorKills);
      if (supervisor) {
        counts.supervisor += 1;
        say(`*** the supervisor is killed (process ${child.pid ?? 0}); another takes over`);
        child.kill('SIGKILL');
        return;
      }
      const pid = await someAgent(folder, random);
      if (pid === null || isOver()) continue;
      counts.agents += 1;
      say(`*** an agent is killed (process ${pid})`);
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself meanwhile.
      }
    }
  }
}

/** The process of one agent that works, found as doctor finds them: by the nonce of its attempt. */
async function someAgent(folder: string, random: () => number): Promise<number | null> {
  const batches = join(folder, '.swarm', 'batches');
  const files = await readdir(batches, { recursive: true }).catch(() => []);
  const nonces: string[] = [];
  for (const file of files.filter((name) => name.endsWith('command.json'))) {
    const text = await readFile(join(batches, file), 'utf8').catch(() => '');
    const nonce = /"nonce": "([0-9a-f]+)"/.exec(text)?.[1];
    if (nonce !== undefined) nonces.push(nonce);
  }
  const alive = await createProcesses().survivors(nonces);
  return alive[Math.floor(random() * alive.length)]?.pid ?? null;
}

function randomOf(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4_294_967_296;
  };
}
