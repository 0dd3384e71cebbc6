import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findProvider } from './daemon.js';
import type { DemoAnswer } from './provider.js';
import type { Step } from './plan.js';

/**
 * The demo's pretend agent: it speaks the line protocol of the `command` executor, asks the embedded provider what
 * to do next, and does it on the real files of its folder. Returns its exit code.
 */
export async function runDemoAgent(main: string, env: NodeJS.ProcessEnv): Promise<number> {
  const url = await findProvider(main);
  const prompt = env['SWARM_PROMPT_FILE'] ? await readFile(env['SWARM_PROMPT_FILE'], 'utf8') : '';
  let session = env['SWARM_SESSION'] ?? null;
  let did: number | null = null;
  if (session !== null) say({ type: 'session', id: session });
  for (;;) {
    const answer = await askProvider(url, { session, did, prompt, env });
    if ('error' in answer) {
      say({ type: 'limit', status: 'rejected', resetsAt: answer.error.resets_at, window: 'five_hour' });
      return 1;
    }
    if ('trouble' in answer) {
      // Overloaded is told, as providers tell it; what breaks off tells nothing.
      if (answer.trouble === 'overloaded') say({ type: 'error', message: 'Overloaded', status: 529 });
      return 1;
    }
    if (session !== answer.session) say({ type: 'session', id: answer.session });
    session = answer.session;
    say({ type: 'usage', ...answer.usage });
    const result = await carryOut(answer.step);
    if (result !== null) return result;
    did = answer.number;
  }
}

/** Null: go on. */
async function carryOut(step: Step): Promise<number | null> {
  switch (step.do) {
    case 'read':
      say({ type: 'text', text: step.say });
      await readFile(step.path, 'utf8').catch(() => '');
      say({ type: 'read', path: step.path });
      return null;
    case 'decide':
      say({ type: 'decision', text: step.text });
      say({ type: 'next', items: step.next });
      return null;
    case 'write':
      say({ type: 'writing', path: step.path });
      await mkdir(dirname(step.path), { recursive: true });
      await writeFile(step.path, step.text);
      say({ type: 'write', path: step.path });
      return null;
    case 'check':
      say({ type: 'text', text: step.say });
      say({ type: 'shell', command: 'tsc --noEmit', exitCode: await typeCheck() });
      return null;
    case 'done':
      say({ type: 'done', result: step.say });
      return 0;
    default:
      step satisfies never;
      return 1;
  }
}

/** Where the workspace has no compiler, nothing was checked and 127 says so. */
async function typeCheck(): Promise<number> {
  const compiler = join('node_modules', 'typescript', 'lib', 'tsc.js');
  return new Promise((ended) => {
    spawn(process.execPath, [compiler, '--noEmit'], { stdio: 'ignore' })
      .on('error', () => ended(127))
      .on('exit', (code) => ended(code ?? 1));
  });
}

async function askProvider(
  url: string,
  request: {
    readonly session: string | null;
    readonly did: number | null;
    readonly prompt: string;
    readonly env: NodeJS.ProcessEnv;
  },
): Promise<DemoAnswer> {
  const { env } = request;
  const number = (name: string): number | undefined =>
    env[name] === undefined ? undefined : Number(env[name]);
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      account: env['SWARM_BATCH'] ?? 'none',
      child: env['SWARM_CHILD'] ?? 'none',
      session: request.session,
      did: request.did,
      prompt: request.prompt,
      settings: {
        limitAfter: number('SWARM_DEMO_LIMIT_AFTER'),
        resetMs: number('SWARM_DEMO_RESET_MS'),
        paceMs: number('SWARM_DEMO_PACE_MS'),
        chaos: number('SWARM_DEMO_CHAOS'),
      },
    }),
  });
  return (await response.json()) as DemoAnswer;
}

function say(line: object): void {
  process.stdout.write(JSON.stringify(line) + '\n');
}
