import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { agentPrograms } from '../../scripts/agents.mjs';
import { packageExtension } from '../../scripts/package.mjs';
import { chromium, installServer } from '../../scripts/vscodeServer.mjs';
import { Editor, patience, until, type Window } from '../vscode/ui/window.js';
import { batchStage, keepEvidence, swarmProcesses, typeCheck, type BatchStage } from './batchStage.js';
import { childrenOf, expectNothingTwice, generator } from './expectations.js';
import { realAgents } from './profiles.js';

const artifacts = path.resolve(import.meta.dirname, '../../artifacts/agents');
let stage: BatchStage | null = null;
let editor: Editor | null = null;
let window: Window | null = null;

beforeAll(async () => {
  rmSync(artifacts, { recursive: true, force: true });
  mkdirSync(artifacts, { recursive: true });
  const [, browser] = await Promise.all([installServer(), chromium(), agentPrograms()]);
  process.env['SWARM_VSIX'] = await packageExtension(path.join(artifacts, 'swarm-panel.vsix'));
  process.env['SWARM_CHROMIUM'] = browser;
  process.env['SWARM_ARTIFACTS'] = artifacts;
});

afterEach(async (context) => {
  if (stage !== null && context.task.result?.state === 'fail') {
    const name = context.task.name.replace(/\W+/g, '-');
    await window?.screenshot(`failed-${name}`).catch(() => undefined);
    keepEvidence(stage, name);
  }
  await editor?.stop();
  await stage?.close();
  stage = editor = window = null;
});

describe.each(realAgents)('six children of %s in the editor', { timeout: 900_000 }, (agent) => {
  it(`are launched from the palette, outlive reloads of ${agent}’s window, and go on by a click before the reset`, async () => {
    stage = await batchStage(agent, {
      limitAfterCalls: 3,
      resetInMs: 600_000,
      probe: '600s',
      thinkMs: 1_500,
    });
    const { provider, names, repository } = stage;
    const at = await launched(stage);
    await running(stage, 2);
    await reload(at);

    await at.panel.getByText('limit reached').first().waitFor();
    const of = stage;
    await until('both to be paused', () => statusesOf(of).filter((one) => one === 'paused').length === 2);
    const waiting = seen(stage);
    expect(statusesOf(stage)).toEqual(['paused', 'paused', 'held', 'held', 'held', 'held']);
    await reload(at);
    await at.panel.getByText('limit reached').first().waitFor();
    expect(seen(stage)).toEqual(waiting);
    await at.screenshot(`${agent}-limit`);

    const asked = provider.log.length;
    provider.open();
    await at.panel.locator('.strips').getByText('Resume now…').click();
    await at.confirm('Try now');
    await allDone(of);
    const [canary, second] = provider.log.slice(asked).filter((request) => request.main);
    expect(canary?.resumed).toBe(true);
    expect(second?.task).toBe(canary?.task);
    expect(childrenOf(stage).map((child) => child.attempts)).toEqual([2, 2, 1, 1, 1, 1]);
    expectNothingTwice(provider, names);
    expect(swarmProcesses(repository)).toEqual([]);

    await at.command('Swarm: Apply All Ready');
    await until('all to be applied', () => childrenOf(of).every((child) => child.display === 'applied'));
    expect(typeCheck(repository)).toEqual({ code: 0, output: '' });
    await at.screenshot(`${agent}-applied`);
    expect(at.complaints).toEqual([]);
  });

  it(`lose nothing and run nothing twice when ${agent}’s extension host is killed at ten random moments`, async () => {
    const seed = Number(process.env['SWARM_SEED'] ?? 20261130) + realAgents.indexOf(agent);
    const random = generator(seed);
    stage = await batchStage(agent, { limitAfterCalls: 6, resetInMs: 15_000, thinkMs: 2_500 });
    const { provider, names, repository } = stage;
    const of = stage;
    const at = await launched(stage);
    await running(stage, 1);
    let kills = 0;
    while (kills < 10 && !statusesOf(stage).every((one) => one === 'done')) {
      // Random moments are the point here: from the middle of taking over to long after it.
      await new Promise((resolve) => setTimeout(resolve, random() * 4_000));
      const host = editor?.extensionHosts().at(-1);
      if (host === undefined) throw new Error('no extension host lives');
      process.kill(host, 'SIGKILL');
      kills += 1;
      await reload(at);
    }
    console.log(`${agent}: the extension host was killed ${kills} times (seed ${seed})`);
    await allDone(of);
    expect(kills).toBeGreaterThan(4);
    expectNothingTwice(provider, names);
    expect(childrenOf(stage).map((child) => child.files.written)).toEqual(names.map(() => 2));
    expect(swarmProcesses(repository)).toEqual([]);
    expect(at.complaints).toEqual([]);
  });
});

/** Opens the repository and launches the manifest as a person would. */
async function launched(of: BatchStage): Promise<Window> {
  editor = await Editor.start({ env: of.env });
  const at = (window = await editor.open(of.repository));
  await at.openPanel();
  await at.command('Swarm: Start Batch from File…');
  const input = at.page.locator('.quick-input-widget input.input');
  await at.page.locator('.quick-input-widget .quick-input-title', { hasText: 'Start Batch' }).waitFor();
  // It fills itself with the folder first.
  await at.page.locator('.quick-input-list .monaco-list-row', { hasText: 'README.md' }).waitFor();
  await input.fill(of.manifest);
  await at.page
    .locator('.quick-input-list .monaco-list-row', { hasText: path.basename(of.manifest) })
    .waitFor();
  await at.page.locator('.quick-input-widget').getByRole('button', { name: 'OK' }).click();
  await at.confirm('Run Them');
  await until('six children', () => statusesOf(of).length === 6);
  return at;
}

async function reload(at: Window): Promise<void> {
  await at.page.reload();
  await at.ready();
  await at.openPanel();
}

/** So many children have been answered by their model. */
async function running(of: BatchStage, count: number): Promise<void> {
  await until(
    `${count} to run`,
    () => new Set(of.provider.log.filter(({ main }) => main).map(({ task }) => task)).size >= count,
  );
}

async function allDone(of: BatchStage): Promise<void> {
  await until('all six to be done', () => statusesOf(of).every((one) => one === 'done'), 3 * patience);
}

const statusesOf = (of: BatchStage): readonly string[] => childrenOf(of).map((child) => child.status);

/** What may not change by a reload. */
const seen = (of: BatchStage): readonly unknown[] =>
  childrenOf(of).map(({ id, status, attempts, resetAt, session }) => [
    id,
    status,
    attempts,
    resetAt,
    session,
  ]);
