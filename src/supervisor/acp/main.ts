import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type Outcome, converse } from './conversation.js';

/**
 * `acp [--permissions edit|full] [--model M] [--check LINE] -- PROGRAM ARGUMENT...`: talks to an agent of the Agent
 * Client Protocol for one attempt and prints what it says. The prompt and the session are in the environment, as for
 * every program of the line protocol.
 */
const patience = 60_000;
/** After a cancel the agent may tidy up; the supervisor's own patience is longer. */
const cancelPatience = 4_000;
const closePatience = 3_000;

const { values, positionals } = parseArgs({
  options: {
    permissions: { type: 'string', default: 'edit' },
    model: { type: 'string' },
    check: { type: 'string' },
    patience: { type: 'string' },
  },
  allowPositionals: true,
});
const [program, ...args] = positionals;
const promptFile = process.env['SWARM_PROMPT_FILE'];
if (program === undefined || promptFile === undefined) {
  process.stderr.write('usage: SWARM_PROMPT_FILE=FILE acp [options] -- PROGRAM [ARGUMENT...]\n');
  process.exit(2);
}

const folder = process.cwd();
const prompt = await readFile(promptFile, 'utf8');
const { ELECTRON_RUN_AS_NODE: _ours, ...env } = process.env;
const agent = spawn(program, args, {
  cwd: folder,
  env,
  stdio: ['pipe', 'pipe', 'inherit'],
  // A signal for the group is for us: we ask the agent in its own words first.
  detached: process.platform !== 'win32',
});
const exited = new Promise<number>((resolve) => {
  agent.on('error', (error) => {
    process.stderr.write(`${program}: ${error.message}\n`);
    resolve(127);
  });
  agent.on('exit', (code, signal) => resolve(code ?? (signal === null ? 1 : 128)));
});

const conversation = converse(agent.stdout, agent.stdin, {
  folder,
  prompt,
  session: process.env['SWARM_SESSION'] ?? null,
  model: values.model ?? null,
  permissions: values.permissions === 'full' ? 'full' : 'edit',
  check: values.check ?? null,
  patience: values.patience === undefined ? patience : Number(values.patience),
  print: (line) => void process.stdout.write(`${line}\n`),
});

const stopped = new Promise<'stopped'>((resolve) => {
  const stop = (): void => {
    conversation.cancel();
    setTimeout(() => resolve('stopped'), cancelPatience).unref();
    void conversation.outcome.then(() => resolve('stopped'));
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
});

const outcome = await Promise.race([stopped, conversation.outcome]);
const code = await leave(agent, outcome === 'gone');
process.exit(exitCode(outcome, code));

/** Closes the agent's input, which ends it; what does not end is ended. Returns its exit code. */
async function leave(child: ChildProcess, isGone: boolean): Promise<number> {
  child.stdin?.end();
  for (const signal of isGone ? (['SIGKILL'] as const) : (['SIGTERM', 'SIGKILL'] as const)) {
    const code = await Promise.race([exited, later(closePatience)]);
    if (code !== null) return code;
    signalGroup(child, signal);
  }
  return exited;
}

function signalGroup(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    if (child.pid === undefined) return;
    if (process.platform === 'win32') child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // It has just ended.
  }
}

function exitCode(how: Outcome | 'stopped', agentCode: number): number {
  switch (how) {
    case 'done':
      return 0;
    case 'failed':
      return 1;
    case 'stopped':
      return 143;
    case 'gone':
      process.stderr.write(`The agent's program has ended (exit ${agentCode}) before it had answered\n`);
      return agentCode === 0 ? 1 : agentCode;
    default:
      return how satisfies never;
  }
}

function later(milliseconds: number): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), milliseconds).unref());
}
