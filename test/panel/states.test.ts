import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawnAsText } from './drawnAsText.js';
import { emptyNoAgent, readyHost, situations, view } from './fixtures.js';
import { PanelHarness } from './harness.js';

let harness: PanelHarness;
beforeAll(async () => {
  harness = await PanelHarness.start();
});
afterAll(() => harness.stop());

describe('first use', () => {
  test('the button counts the tasks and launches them with the chosen agent and isolation', async () => {
    const panel = await harness.open(situations.empty, { width: 300 });
    expect(await panel.posted()).toEqual([{ type: 'ready' }]);
    const start = panel.page.locator('vscode-button', { hasText: 'Start' });
    expect(await start.getAttribute('disabled')).not.toBeNull();
    await panel.page
      .locator('vscode-text-area textarea')
      .fill('Add tests for src/auth\n\n  Fix the flaky upload test  \n');
    await panel.settled();
    expect((await start.textContent())?.trim()).toBe('Start 2 tasks');
    await panel.page.getByLabel('Agent').selectOption('codex');
    await panel.page.getByLabel('Where they work').selectOption('shared');
    await start.click();
    expect(await panel.posted()).toEqual([
      {
        type: 'launch',
        tasks: ['Add tests for src/auth', 'Fix the flaky upload test'],
        executor: 'codex',
        isolation: 'shared',
      },
    ]);
    await panel.settled();
    expect(await panel.page.locator('textarea').inputValue()).toBe('');
    await panel.close();
  });

  test('without an agent the demo still works and the strip offers the doctor', async () => {
    const panel = await harness.open(emptyNoAgent, { width: 300, height: 600 });
    await panel.posted();
    expect(await drawnAsText(panel)).toBe('= No agent found. The demo works without one. [Run Doctor!]');
    await panel.page.getByRole('button', { name: 'Run Doctor' }).click();
    await panel.page.getByRole('button', { name: 'Run the demo' }).click();
    await panel.page.getByRole('button', { name: 'Start from a file…' }).click();
    expect(await panel.posted()).toEqual(
      ['doctor', 'demo', 'launchFromFile'].map((command) => ({ type: 'command', command })),
    );
    await panel.close();
  });

  test.each([
    ['noFolder', 'openFolder', 'Open folder…'],
    ['noGit', 'initRepository', 'Initialize repository'],
    ['untrusted', 'manageTrust', 'Manage trust'],
  ] as const)('%s: one sentence and one button, nothing else', async (workspace, command, label) => {
    const panel = await harness.open(
      { ...situations.empty, host: { ...readyHost, workspace } },
      { width: 300 },
    );
    await panel.posted();
    expect(await panel.page.locator('.sp p').count()).toBe(1);
    expect(await panel.page.locator('vscode-button').allTextContents()).toEqual([label]);
    await panel.page.getByRole('button').click();
    expect(await panel.posted()).toEqual([{ type: 'command', command }]);
    await panel.close();
  });

  test('a new batch can be begun beside others, and left by Escape', async () => {
    const panel = await harness.open(situations.limit, { width: 300 });
    await panel.send({ type: 'newBatch' });
    expect(await panel.page.locator('textarea').count()).toBe(1);
    expect(await panel.page.evaluate(`document.activeElement.localName`)).toBe('vscode-text-area');
    await panel.page.keyboard.press('Escape');
    await panel.settled();
    expect(await panel.page.locator('textarea').count()).toBe(0);
    expect(await panel.page.evaluate(`document.activeElement.dataset.key`)).toBe('c:b1/login');
    await panel.close();
  });
});

describe('the supervisor', () => {
  test('gone: the last view stays, times go on, what needs it is off and says why', async () => {
    const panel = await harness.open(
      { ...situations.limit, host: { ...readyHost, supervisor: 'gone' } },
      { width: 900, byHand: true },
    );
    await panel.posted();
    expect((await drawnAsText(panel)).split('\n').slice(0, 2)).toEqual([
      '= Swarm restarting · 2 children go on by themselves',
      '= claude limit reached · resets 18:30 · in 1 h 12 min 05 s · 5 waiting [Resume now… off]',
    ]);
    const pause = panel.page.locator('[data-key="c:b1/session"] .act[data-act="pause"]');
    expect(await pause.getAttribute('data-tip')).toBe('Off until Swarm is back.');
    await panel.page.locator('[data-key="c:b1/session"]').hover();
    await pause.click({ force: true });
    await panel.page.locator('[data-key="c:b1/session"] .act[data-act="log"]').click();
    expect(await panel.posted()).toEqual([
      { type: 'child', action: 'log', targets: [{ batch: 'b1', child: 'session' }] },
    ]);
    await panel.turnClock(1000);
    expect(await panel.page.locator('.strip .cd').textContent()).toBe('in 1 h 12 min 04 s');
    await panel.close();
  });

  test.each([
    ['viewer', '= Run by another window · what you click here is sent there'],
    ['readOnly', '= Read only · this folder was written by Swarm 2.0.0 [Check for update!]'],
  ] as const)('%s: one strip says so', async (supervisor, strip) => {
    const panel = await harness.open(
      { ...situations.running, host: { ...readyHost, supervisor, writtenBy: '2.0.0' } },
      { width: 900 },
    );
    expect((await drawnAsText(panel)).split('\n')[0]).toBe(strip);
    await panel.close();
  });

  test('damaged records are said, with a way to see them', async () => {
    const problems = [
      {
        path: 'journal/000001.jsonl',
        message: 'could be read up to event 41, the damaged rest is set aside',
      },
    ];
    const panel = await harness.open(
      { ...situations.running, view: { ...situations.running.view, problems } },
      { width: 900 },
    );
    await panel.posted();
    expect((await drawnAsText(panel)).split('\n')[0]).toBe(
      '= journal/000001.jsonl · could be read up to event 41, the damaged rest is set aside [Show]',
    );
    await panel.page.getByRole('button', { name: 'Show', exact: true }).click();
    expect(await panel.posted()).toEqual([{ type: 'command', command: 'showProblem' }]);
    await panel.close();
  });
});

describe('clicks', () => {
  test('a strip button posts its gate, a batch its action, a callout its step', async () => {
    const panel = await harness.open(situations.needs, { width: 900 });
    await panel.posted();
    await panel.page.getByRole('button', { name: 'Sign in…' }).click();
    await panel.page.getByRole('button', { name: 'Resume Mon 09:00' }).click();
    await panel.page.locator('[data-key="b:b1"]').hover();
    await panel.page.locator('[data-key="b:b1"] .act').first().click();
    await panel.page.locator('.call').getByRole('button', { name: 'Resume' }).click();
    expect(await panel.posted()).toEqual([
      { type: 'gate', action: 'signIn', credential: 'claude' },
      { type: 'gate', action: 'resumeAtReset', credential: 'codex' },
      { type: 'batch', action: 'pauseAll', batch: 'b1' },
      { type: 'child', action: 'resume', targets: [{ batch: 'b1', child: 'session' }] },
    ]);
    await panel.close();
  });

  test('Why? opens the details with the steps of the reading and the last lines', async () => {
    const panel = await harness.open(situations.needs, { width: 900, height: 900 });
    await panel.posted();
    await panel.page.getByRole('button', { name: 'Why?' }).click();
    await panel.settled();
    expect(await panel.posted()).toEqual([
      { type: 'child', action: 'why', targets: [{ batch: 'b1', child: 'session' }] },
    ]);
    expect(await panel.page.locator('.why').innerText()).toContain('Reading the log…');
    await panel.send({
      type: 'why',
      batch: 'b1',
      child: 'session',
      lines: ['running', '<b>panic</b>: index out of range [7]'],
    });
    expect(await panel.page.locator('.why .log').innerText()).toBe(
      'running\n<b>panic</b>: index out of range [7]',
    );
    expect(await panel.page.locator('.why .steps li').allInnerTexts()).toEqual([
      'exit\nnonzero exit without a message exit 1\ncertain',
      'text\nno known words panic: index out of range [7]\nweak',
    ]);
    await panel.page.screenshot({ path: 'artifacts/panel/why-900-dark-modern.png' });
    expect(panel.complaints).toEqual([]);
    await panel.close();
  });

  test('a file opens its diff, with Alt the file; a tree opens its changes', async () => {
    const panel = await harness.open(situations.details, { width: 900, height: 900 });
    await panel.posted();
    await panel.page.getByRole('button', { name: 'src/auth/schema.ts, added' }).click();
    await panel.page.getByRole('button', { name: 'src/auth/schema.ts, added' }).click({ modifiers: ['Alt'] });
    await panel.page.getByRole('button', { name: '4be1d07 · old' }).click();
    const child = { batch: 'b1', child: 'login' };
    expect(await panel.posted()).toEqual([
      { type: 'file', ...child, path: 'src/auth/schema.ts', inWorktree: false },
      { type: 'file', ...child, path: 'src/auth/schema.ts', inWorktree: true },
      { type: 'tree', ...child, tree: '4be1d07aa' },
    ]);
    await panel.close();
  });

  test('a chip shows only its state, again all, with Ctrl it adds', async () => {
    const panel = await harness.open({ ...situations.limit, kept: { showFilter: true } }, { width: 900 });
    const shown = () => panel.page.locator('.row[data-key^="c:"]').count();
    const chip = (name: string) => panel.page.locator(`[data-chip="${name}"]`);
    await chip('held').click();
    expect(await shown()).toBe(2);
    await chip('done').click({ modifiers: ['Control'] });
    expect(await shown()).toBe(3);
    await chip('held').click({ modifiers: ['Control'] });
    await chip('done').click();
    expect(await shown()).toBe(8);
    await panel.page.locator('vscode-text-field input').fill('nothing like that');
    await panel.settled();
    expect(await panel.page.locator('.nomatch').innerText()).toBe('No child matches. Clear filter');
    await panel.page.getByRole('button', { name: 'Clear filter' }).click();
    expect(await shown()).toBe(8);
    await panel.close();
  });

  test('the title bar turns timeline and filter on and off; the next row that asks is revealed', async () => {
    const panel = await harness.open(situations.needs, { width: 900 });
    await panel.send({ type: 'toggle', what: 'timeline' });
    expect(await panel.page.locator('.legend').count()).toBe(1);
    await panel.send({ type: 'toggle', what: 'timeline' });
    await panel.send({ type: 'toggle', what: 'filter' });
    expect(await panel.page.locator('.tools').count()).toBe(1);
    await panel.send({ type: 'revealNeedsYou' });
    expect(await panel.page.evaluate(`document.activeElement.dataset.key`)).toBe('c:b1/session');
    await panel.close();
  });
});

test('before the first view nothing is drawn for 400 ms, then one sentence', async () => {
  const panel = await harness.open({ ...situations.empty, view: view([]) }, { width: 300, byHand: true });
  await panel.page.reload();
  await panel.settled();
  expect(await panel.page.locator('.sp').innerText()).toBe('Swarm');
  await panel.turnClock(401);
  expect(await panel.page.locator('.loading').innerText()).toBe('Reading the last state…');
  await panel.close();
});

test('the hover of a strip names the source of the time and what happens next, and Escape closes it', async () => {
  const panel = await harness.open(situations.limit, { width: 300, byHand: true });
  await panel.page.locator('.strip .tx').hover();
  await panel.turnClock(501);
  expect(await panel.page.locator('.tip').innerText()).toBe(
    "Usage limit of the 5-hour window.\nResets 18:30 your time. Time from the agent's own event, exact.\nThen one child goes first; if it makes progress, the others follow.",
  );
  await panel.page.screenshot({ path: 'artifacts/panel/limit-300-dark-modern-tip.png' });
  await panel.page.keyboard.press('Escape');
  expect(await panel.page.locator('.tip').isHidden()).toBe(true);
  await panel.close();
});

test('only one thing turns, and it stands still where motion is reduced', async () => {
  const panel = await harness.open(situations.canary, { width: 300 });
  const moving = () => panel.page.evaluate<string[]>(`document.getAnimations().map((a) => a.animationName)`);
  expect(new Set(await moving())).toEqual(new Set(['spin']));
  await panel.page.evaluate(`document.body.classList.add('vscode-reduce-motion')`);
  expect(await moving()).toEqual([]);
  await panel.close();
});
