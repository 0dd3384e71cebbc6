import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { agentPrograms } from '../../scripts/agents.mjs';
import type { AgentEvent, Executor } from '../../src/supervisor/agents/agent.js';
import { codingTask, startProvider, type Provider, type ProviderOptions } from '../support/provider/index.js';
import { type Attempt, adapterOf, runAttempt } from './attempt.js';
import { agentProfile, executorOf, type RealAgent, realAgents } from './profiles.js';

interface Stage {
  readonly provider: Provider;
  readonly executor: Executor;
  readonly base: string;
  readonly folder: string;
}

const cleanUps: (() => Promise<void> | void)[] = [];

beforeAll(agentPrograms);

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

describe.each(realAgents)('%s', (agent) => {
  it('stops at its usage limit, says so, and goes on by its session id where it stopped', async () => {
    const stage = await stageFor(agent, {
      tasks: { t1: codingTask('alpha') },
      limitAfterCalls: 3,
      resetInMs: 3_600_000,
    });

    const first = await attempt(stage, { prompt: 'Write alpha. task: t1' });
    expect(first.exitCode).toBe(1);
    expect(statedLimit(agent, stage, first)).toEqual(expectedLimit(agent, stage));
    expect(paths(first, 'read')).toEqual(['README.md']);
    expect(paths(first, 'write')).toEqual(['src/alpha.ts', 'src/alphaUse.ts']);
    const session = sessionOf(agent, stage, first);

    const tooEarly = await attempt(stage, { prompt: 'Go on.', session });
    expect([tooEarly.exitCode, finals(tooEarly).length, progress(tooEarly)]).toEqual([1, 1, []]);

    stage.provider.open();
    const last = await attempt(stage, { prompt: 'Go on.', session });
    expect(last.exitCode).toBe(0);
    expect(finals(last)).toEqual([]);
    expect(last.events.filter((event) => event.type === 'done')).toEqual([
      { type: 'done', ok: true, result: 'alpha is written and used.' },
    ]);
    expect(last.events).toContainEqual({ type: 'shell', command: 'ls src/alpha.ts', exitCode: 0 });
    expect(sessionOf(agent, stage, last)).toBe(session);
    expect(readFileSync(path.join(stage.folder, 'src/alpha.ts'), 'utf8')).toContain("return 'alpha'");

    // Each step was done once; what was re-sent at a resume is the whole history.
    const main = stage.provider.log.filter((request) => request.main);
    expect(main.filter((request) => !request.refused).map((request) => request.step)).toEqual([
      0,
      1,
      2,
      3,
      null,
    ]);
    expect(
      main.filter((request) => request.resumed).map((request) => [request.refused, request.results]),
    ).toEqual([
      [true, 3],
      [false, 3],
    ]);
    expect(
      [first, tooEarly, last].flatMap((run) => run.events.filter((event) => event.type === 'unrecognized')),
    ).toEqual([]);
  });

  it('gives up on an overloaded provider after a few tries', async () => {
    const stage = await stageFor(agent, { tasks: { t1: codingTask('alpha') } });
    stage.provider.failNext(1_000, 'overloaded');
    const run = await attempt(stage, { prompt: 'Write alpha. task: t1' });
    expect(run.exitCode).toBe(1);
    expect(finals(run).join()).toMatch(/overloaded/i);
    expect(stage.provider.log.length).toBeLessThanOrEqual(6);
  });

  it('takes a prompt that is longer than an argument may be', async () => {
    const stage = await stageFor(agent, { tasks: { t1: { steps: [], result: 'read it all' } } });
    const run = await attempt(stage, { prompt: `task: t1\n${'word '.repeat(40_000)}` });
    if (agent === 'kimi') {
      // Kimi is told to read the file; the scripted model is not, so the task is not found in its prompt.
      expect(stage.provider.log.map((request) => request.task)).toContain(null);
    } else {
      expect(stage.provider.log[0]?.bytes).toBeGreaterThan(200_000);
      expect(run.events).toContainEqual({ type: 'done', ok: true, result: 'read it all' });
    }
    expect(run.exitCode).toBe(0);
  });

  it('tells that a session is unknown', async () => {
    const stage = await stageFor(agent, { tasks: { t1: codingTask('alpha') } });
    const session =
      agent === 'kimi'
        ? 'session_00000000-0000-4000-8000-000000000000'
        : '00000000-0000-4000-8000-000000000000';
    const run = await attempt(stage, { prompt: 'Go on. task: t1', session });
    expect(run.exitCode).toBe(1);
    expect(finals(run).join()).toMatch(/not found|No conversation found|no rollout found/);
    expect(run.events.filter((event) => event.type === 'session')).toEqual([]);
  });
});

describe('permissions: edit', () => {
  it('lets claude edit and run the check, and shows what it was denied', async () => {
    const steps = [
      { shell: 'ls README.md' },
      { shell: 'touch /made.txt' },
      { write: 'a.txt', content: 'a\n' },
    ];
    const stage = await stageFor('claude', { tasks: { t1: { steps, result: 'done' } } });
    const run = await attempt(stage, { prompt: 'task: t1', check: ['ls', 'README.md'] });
    expect(run.events).toContainEqual({ type: 'shell', command: 'ls README.md', exitCode: 0 });
    expect(run.events.filter((event) => event.type === 'denied').map((event) => event.what)).toEqual([
      expect.stringContaining('Bash'),
    ]);
    expect([paths(run, 'write'), existsSync('/made.txt')]).toEqual([['a.txt'], false]);
  });

  it('keeps codex in its folder and shows the change that it was denied', async () => {
    const outside = mkdtempSync(path.join(os.homedir(), '.swarm-test-'));
    cleanUps.push(() => rmSync(outside, { recursive: true }));
    const steps = [
      { shell: `echo x > ${outside}/by-shell.txt` },
      { write: `${outside}/by-patch.txt`, content: 'x\n' },
      { write: 'a.txt', content: 'a\n' },
    ];
    const stage = await stageFor('codex', { tasks: { t1: { steps, result: 'done' } } });
    const run = await attempt(stage, { prompt: 'task: t1' });
    const byShell = { type: 'shell', command: `echo x > ${outside}/by-shell.txt`, exitCode: 0 };
    expect(run.events).not.toContainEqual(byShell);
    expect(run.events).toContainEqual({
      type: 'denied',
      what: expect.stringContaining('outside of the project') as string,
    });
    expect([paths(run, 'write'), readdirSync(outside)]).toEqual([['a.txt'], []]);
  });
});

describe('codex', () => {
  it('refuses a second resume of a session that is being resumed', async () => {
    const stage = await stageFor('codex', {
      tasks: { t1: codingTask('alpha') },
      limitAfterCalls: 1,
      resetInMs: 60_000,
    });
    const first = await attempt(stage, { prompt: 'task: t1' });
    const session = sessionOf('codex', stage, first);
    stage.provider.open();
    stage.provider.hold();
    const one = attempt(stage, { prompt: 'Go on.', session });
    await vi.waitUntil(() => stage.provider.log.some((request) => request.resumed), { timeout: 20_000 });
    const two = await attempt(stage, { prompt: 'Go on.', session });
    expect(two.exitCode).toBe(1);
    expect(finals(two).join()).toMatch(/already has an active writer/);
    stage.provider.release();
    expect((await one).exitCode).toBe(0);
  });
});

/** A provider, an executor and a repository of the given agent, gone after the test. */
async function stageFor(agent: RealAgent, options: Omit<ProviderOptions, 'agent'>): Promise<Stage> {
  const base = mkdtempSync(path.join(os.tmpdir(), `swarm-${agent}-`));
  const folder = path.join(base, 'repository');
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'README.md'), '# A project\n');
  execFileSync('git', ['init', '-q'], { cwd: folder });
  const provider = await startProvider({ agent, ...options });
  cleanUps.push(
    () => rmSync(base, { recursive: true, force: true, maxRetries: 5 }),
    () => provider.close(),
  );
  const executor = executorOf(
    await agentProfile(agent, { url: provider.url, home: path.join(base, 'home') }),
  );
  return { provider, executor, base, folder };
}

function attempt(
  stage: Stage,
  options: { prompt: string; session?: string; check?: readonly string[] },
): Promise<Attempt> {
  return runAttempt({
    executor: stage.executor,
    folder: stage.folder,
    scratch: stage.base,
    check: ['ls', 'src/alpha.ts'],
    ...options,
  });
}

/** Where the agent tells when its limit ends: in an event, in its session's log, or nowhere. */
function statedLimit(agent: RealAgent, stage: Stage, run: Attempt): unknown {
  switch (agent) {
    case 'claude':
      return run.events.flatMap((event) => {
        const said =
          event.type === 'signal'
            ? (event.signal.event as { rate_limit_info?: { status: string; resetsAt: number } })
            : {};
        return said.rate_limit_info === undefined
          ? []
          : [[said.rate_limit_info.status, said.rate_limit_info.resetsAt]];
      });
    case 'codex': {
      const log = adapterOf(agent).sessionLog;
      const folder = log?.folder(stage.executor.env) ?? '';
      const session = sessionOf(agent, stage, run);
      const file = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((name) =>
        log?.isLog(name, session),
      );
      const [event] = log?.limits(readFileSync(path.join(folder, file ?? ''), 'utf8')) ?? [];
      const headers = event?.type === 'signal' ? event.signal.headers : {};
      return [finals(run).join().includes('hit your usage limit'), headers?.['x-codex-primary-reset-at']];
    }
    case 'kimi':
      return finals(run);
    default:
      return agent satisfies never;
  }
}

function expectedLimit(agent: RealAgent, stage: Stage): unknown {
  const resetsAt = (stage.provider.resetAt ?? 0) / 1000;
  switch (agent) {
    case 'claude':
      return [['rejected', resetsAt]];
    case 'codex':
      return [true, String(resetsAt)];
    case 'kimi':
      return [
        expect.stringMatching(
          /provider\.auth_error: 403 You've reached your usage limit for this billing cycle/,
        ),
      ];
    default:
      return agent satisfies never;
  }
}

function sessionOf(agent: RealAgent, stage: Stage, run: Attempt): string {
  const index = adapterOf(agent).sessionIndex;
  const found =
    index === undefined
      ? run.events.find((event) => event.type === 'session')?.id
      : index.find(readFileSync(index.file(stage.executor.env), 'utf8'), stage.folder, 0);
  if (typeof found !== 'string') throw new Error(`no session of ${agent}`);
  return found;
}

function finals(run: Attempt): readonly string[] {
  return run.events.flatMap((event) => (event.type === 'signal' && event.final ? [event.signal.text] : []));
}

function progress(run: Attempt): readonly AgentEvent[] {
  const kinds = new Set(['read', 'write', 'shell', 'decision', 'next', 'text', 'usage']);
  return run.events.filter((event) => kinds.has(event.type));
}

/** Paths of the events, as seen from the repository. */
function paths(run: Attempt, type: 'read' | 'write'): readonly string[] {
  return run.events.flatMap((event) =>
    event.type === type ? [event.path.replace(/^.*\/repository\//, '')] : [],
  );
}
