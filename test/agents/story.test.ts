import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { agentPrograms } from '../../scripts/agents.mjs';
import type { ChildView, GateView } from '../../src/protocol/view.js';
import type { Provider } from '../support/provider/index.js';
import {
  batchStage,
  keepEvidence,
  secret,
  swarmProcesses,
  textBelow,
  typeCheck,
  type BatchStage,
  type Run,
} from './batchStage.js';
import { childrenOf, expectNothingTwice, generator } from './expectations.js';
import { realAgents, type RealAgent } from './profiles.js';

let stage: BatchStage | null = null;

beforeAll(agentPrograms);

afterEach(async (context) => {
  if (stage !== null && context.task.result?.state === 'fail')
    keepEvidence(stage, context.task.name.replace(/\W+/g, '-'));
  await stage?.close();
  stage = null;
});

describe.each(realAgents)('six children of %s on one account, two at a time', (agent) => {
  it(`meets the limit of ${agent}, pauses, tries one first at the reset, finishes all, and applies them`, async () => {
    stage = await batchStage(agent, { limitAfterCalls: 3, resetInMs: 8_000, thinkMs: 50 });
    const { provider, repository, names } = stage;
    const run = stage.swarm('run', stage.manifest, '--json');
    expect([await run.ended, run.output.stderr]).toEqual([0, '']);

    const said = lines(run);
    const closed = said.find(
      (line): line is Line & Partial<GateView> => line.type === 'gate' && line['state'] === 'closed',
    );
    expect(closed).toMatchObject({ credential: agent, reason: 'usage_limit' });
    const paused = said.filter((line) => line.type === 'child' && line['status'] === 'paused');
    const pausedIds = new Set(paused.map((line) => line['id']));
    expect(pausedIds.size).toBe(2);
    for (const line of paused)
      if (line['reason']) expect(line['reason']).toMatchObject({ class: 'usage_limit', needsUser: false });
    expect(said.filter((line) => line['status'] === 'failed')).toEqual([]);
    expectStatedReset(agent, provider, said);

    expectCanary(provider);
    expectNoStartWhileClosed(
      childrenOf(stage),
      Date.parse(closed?.since ?? 'never told'),
      provider.resetAt ?? 0,
    );
    expectNothingTwice(provider, names);
    for (const child of childrenOf(stage)) {
      expect([child.id, child.status, child.attempts]).toEqual([
        child.id,
        'done',
        pausedIds.has(child.id) ? 2 : 1,
      ]);
    }
    expect(swarmProcesses(repository)).toEqual([]);
    expect(textBelow(path.join(repository, '.swarm'))).not.toContain(secret);

    const apply = stage.swarm('apply', '--all');
    expect([await apply.ended, apply.output.stderr]).toEqual([0, '']);
    expect(childrenOf(stage).map((child) => [child.id, child.apply?.state])).toEqual(
      names.map((name) => [name, 'applied']),
    );
    for (const name of names)
      expect(readFileSync(path.join(repository, 'src', `${name}.ts`), 'utf8')).toContain(`return '${name}'`);
    expect(typeCheck(repository)).toEqual({ code: 0, output: '' });
    expect(execFileSync('git', ['stash', 'list'], { cwd: repository, encoding: 'utf8' })).toBe('');
    tellResent(agent, provider);
  });
});

describe('kill -9 of swarm run', () => {
  it.each(realAgents)(
    'at ten random moments of a batch of %s loses nothing and runs nothing twice',
    async (agent) => {
      const seed = Number(process.env['SWARM_SEED'] ?? 20261130) + realAgents.indexOf(agent);
      const random = generator(seed);
      stage = await batchStage(agent, { limitAfterCalls: 4, resetInMs: 6_000, thinkMs: 400 });
      const { repository, names, provider } = stage;
      let run = stage.swarm('run', stage.manifest, '--json');
      // The first kill comes when there is something to lose.
      await until(run, () => run.output.stdout.includes('"type":"child"'));
      let kills = 0;
      let ended: number | null = null;
      while (kills < 10) {
        const moment = new Promise<'kill'>((now) => setTimeout(() => now('kill'), 200 + random() * 1_500));
        const first = await Promise.race([moment, run.ended]);
        if (first !== 'kill') {
          ended = first;
          break;
        }
        run.child.kill('SIGKILL');
        await run.ended;
        kills += 1;
        run = stage.swarm('supervise', '--json');
      }
      ended ??= await run.ended;
      expect([seed, ended, run.output.stderr]).toEqual([seed, 0, '']);
      expect(kills).toBeGreaterThan(2);
      expect(childrenOf(stage).map((child) => [child.id, child.status])).toEqual(
        names.map((name) => [name, 'done']),
      );
      expectNothingTwice(provider, names);
      expect(swarmProcesses(repository)).toEqual([]);
      for (const child of childrenOf(stage)) expect(child.files.written).toBe(2);
    },
  );
});

type Line = { readonly type: string } & Readonly<Record<string, unknown>>;

function lines(run: Run): readonly Line[] {
  return run.output.stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
}

/**
 * Claude's event and the server's headers in codex's session log state the reset to the second; kimi states none, and
 * it is probed. What counts is what the gate knew when its time came: codex's text of minutes may be heard first.
 */
function expectStatedReset(agent: RealAgent, provider: Provider, said: readonly Line[]): void {
  const opening = said.findIndex((line) => line.type === 'gate' && line['state'] === 'probing');
  const lines = said.slice(0, opening).filter((line) => line.type === 'gate');
  const known = lines.reduce<Partial<GateView>>((before, line) => ({ ...before, ...line }), {});
  const reset = new Date(provider.resetAt ?? 0).toISOString();
  const expected = {
    claude: { until: reset, source: 'event' },
    codex: { until: reset, source: 'header' },
    // The next try, not a promise.
    kimi: { source: 'probe' },
  };
  expect(known).toMatchObject(expected[agent]);
}

/** Nobody's attempt begins between the closing, as it was told, and the reset. */
function expectNoStartWhileClosed(of: readonly ChildView[], closedAt: number, resetAt: number): void {
  const starts = of.flatMap((child) =>
    child.history
      .filter((stretch) => stretch.kind === 'running')
      .map((stretch) => [child.id, Date.parse(stretch.from)] as const),
  );
  expect([Number.isFinite(closedAt), starts.length >= of.length]).toEqual([true, true]);
  expect(starts.filter(([, at]) => at > closedAt && at < resetAt)).toEqual([]);
}

/** The two that ran may meet the limit, once each; then one goes, and its answer comes before anybody else's request. */
function expectCanary(provider: Provider): void {
  const main = provider.log.filter((request) => request.main);
  const firstRefused = main.findIndex((request) => request.refused);
  const refused = main.filter((request) => request.refused);
  expect(new Set(refused.map((request) => request.task)).size).toBe(refused.length);
  expect(refused.length).toBeLessThanOrEqual(2);
  const reopened = main.slice(firstRefused).filter((request) => !request.refused);
  const [canary, second] = reopened;
  expect(canary?.at).toBeGreaterThanOrEqual(provider.resetAt ?? 0);
  expect(canary?.resumed).toBe(true);
  expect(second?.task).toBe(canary?.task);
}

function tellResent(agent: string, provider: Provider): void {
  const resumed = provider.log.filter((request) => request.main && request.resumed);
  const all = provider.log
    .filter((request) => request.main && !request.refused)
    .reduce((sum, request) => sum + request.tokens, 0);
  for (const request of resumed)
    console.log(
      `${agent} ${request.task ?? ''}: resume re-sent about ${request.tokens} tokens with ${request.results} results (${all} in the whole batch)`,
    );
}

async function until(run: Run, condition: () => boolean): Promise<void> {
  await new Promise<void>((done) => {
    const look = (): void => {
      if (condition()) done();
    };
    run.child.stdout?.on('data', look);
    run.child.on('close', () => done());
    look();
  });
}
