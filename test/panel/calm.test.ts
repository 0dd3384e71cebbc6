import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { at, batch, child, gate, readyHost, situations, view, type Situation } from './fixtures.js';
import { PanelHarness, type PanelPage } from './harness.js';

let harness: PanelHarness;
beforeAll(async () => {
  harness = await PanelHarness.start();
});
afterAll(() => harness.stop());

/** The place of every row on the screen. */
async function places(panel: PanelPage): Promise<Readonly<Record<string, number>>> {
  return panel.page.evaluate<Record<string, number>>(
    `Object.fromEntries([...document.querySelectorAll('.row[data-key]')].map((r) => [r.dataset.key, Math.round(r.getBoundingClientRect().top)]))`,
  );
}

const now = at('17:17:55');
const three = (
  displays: readonly ['running' | 'needsYou' | 'done', 'running' | 'done', 'running' | 'done'],
): Situation => ({
  now,
  host: readyHost,
  view: view([
    batch(
      displays.map((display, i) =>
        child(`t${i + 1}`, `Task ${i + 1}`, 'claude', display, {
          reason:
            display === 'needsYou' ? { class: 'unknown', message: 'exit code 1', needsUser: true } : null,
        }),
      ),
    ),
  ]),
});
const before = three(['running', 'running', 'running']);
const after: Situation = {
  ...three(['needsYou', 'running', 'done']),
  view: {
    ...three(['needsYou', 'running', 'done']).view,
    gates: [gate('claude', 'closedUntil', { until: at('18:30'), source: 'event', waiting: 1 })],
  },
};

describe('nothing moves under the pointer', () => {
  test('a strip, a callout and a changed state wait until the pointer has been away for 600 ms', async () => {
    const panel = await harness.open(before, { width: 500, byHand: true });
    await panel.page.mouse.move(200, 60);
    const still = await places(panel);
    await panel.show(after);
    expect(await places(panel)).toEqual(still);
    expect(await panel.page.locator('[data-key="c:b1/t1"] .word').textContent()).toBe('Needs you');
    expect(await panel.page.locator('.strip, .call').count()).toBe(0);
    await panel.page.evaluate(
      `document.querySelector('swarm-panel').dispatchEvent(new PointerEvent('pointerleave'))`,
    );
    await panel.turnClock(599);
    expect(await panel.page.locator('.strip, .call').count()).toBe(0);
    await panel.turnClock(2);
    expect(await panel.page.locator('.strip, .call').count()).toBe(2);
    await panel.close();
  });

  test('nor under the focus: regrouping waits until the focus has left the tree', async () => {
    const panel = await harness.open({ ...before, kept: { grouped: true } }, { width: 500, byHand: true });
    await panel.page.locator('[data-key="c:b1/t2"]').focus();
    const still = await places(panel);
    await panel.show(after);
    expect(await places(panel)).toEqual(still);
    await panel.page.evaluate(`document.activeElement.blur()`);
    await panel.turnClock(700);
    expect(Object.keys(await places(panel))).toEqual([
      'b:b1',
      'g:b1/needsYou',
      'c:b1/t1',
      'g:b1/running',
      'c:b1/t2',
      'g:b1/done',
    ]);
    await panel.close();
  });

  test('a second ticking moves nothing, at any width', async () => {
    for (const width of [220, 300, 500, 900]) {
      const panel = await harness.open(situations.limit, { width, byHand: true });
      const still = await places(panel);
      for (let i = 0; i < 6; i++) {
        await panel.turnClock(1000);
        expect(await places(panel)).toEqual(still);
      }
      await panel.close();
    }
  });

  test('a vanishing strip stays, dead, and its space with it', async () => {
    const panel = await harness.open(situations.limit, { width: 300, byHand: true });
    await panel.page.mouse.move(100, 200);
    await panel.settled();
    const still = await places(panel);
    await panel.show({ ...situations.limit, view: { ...situations.limit.view, gates: [] } });
    expect(await places(panel)).toEqual(still);
    expect(await panel.page.locator('.strip vscode-button[disabled]').count()).toBe(1);
    await panel.close();
  });

  test('a button that changed its meaning is dead for 300 ms', async () => {
    const panel = await harness.open(before, { width: 900, byHand: true });
    await panel.posted();
    await panel.page.locator('[data-key="c:b1/t3"]').hover();
    await panel.show(after);
    const review = panel.page.locator('[data-key="c:b1/t3"] .act[data-act="review"]');
    await review.click();
    expect(await panel.posted()).toEqual([]);
    await panel.turnClock(301);
    await review.click();
    expect(await panel.posted()).toEqual([
      { type: 'child', action: 'review', targets: [{ batch: 'b1', child: 't3' }] },
    ]);
    await panel.close();
  });
});

describe('the clock', () => {
  test('counts down in strip and rows on the full second, says now at zero, never less', async () => {
    const panel = await harness.open(
      { ...situations.limit, now: at('18:29:57') },
      { width: 900, byHand: true },
    );
    const said = () =>
      panel.page.evaluate<string[]>(
        `['.strip .cd, .strip .seg:nth-child(3)', '[data-key="c:b1/login"] .time'].map((q) => document.querySelector(q)?.textContent.trim())`,
      );
    expect(await said()).toEqual(['in 3 s', '0:03until 18:30']);
    await panel.turnClock(1000);
    expect(await said()).toEqual(['in 2 s', '0:02until 18:30']);
    await panel.turnClock(4000);
    expect((await said())[0]).toBe('now');
    await panel.close();
  });

  test('a reader is told the instant once, not a number every second', async () => {
    const panel = await harness.open(situations.limit, { width: 900, byHand: true });
    const names = async () => panel.page.locator('[data-key="c:b1/login"]').getAttribute('aria-label');
    const first = await names();
    expect(first).toBe('Login form validation, paused, usage limit, resumes 18:30, claude');
    await panel.turnClock(3000);
    expect(await names()).toBe(first);
    expect(await panel.page.locator('.strip .cd').getAttribute('aria-hidden')).toBe('true');
    await panel.close();
  });

  test('it stands when nothing counts', async () => {
    const idle = three(['done', 'done', 'done']);
    const panel = await harness.open(idle, { width: 900, byHand: true });
    await panel.page.evaluate(
      `window.drawn = 0; document.querySelector('swarm-panel').requestUpdate = () => window.drawn++`,
    );
    await panel.turnClock(10_000);
    expect(await panel.page.evaluate('window.drawn')).toBe(0);
    await panel.close();
  });
});

describe('views', () => {
  test('an older view, or one that was overtaken, is dropped', async () => {
    const panel = await harness.open(before, { width: 500 });
    const named = (name: string, seq: number) => ({ ...view([batch([], { name })]), seq });
    await panel.send({ type: 'view', serial: 5, view: named('five', 7), host: readyHost });
    await panel.send({ type: 'view', serial: 4, view: named('four', 8), host: readyHost });
    await panel.send({ type: 'view', serial: 6, view: named('six', 6), host: readyHost });
    expect(await panel.page.locator('.batch .ttl').textContent()).toBe('five');
    await panel.close();
  });

  test('what is open and selected is kept for the next panel', async () => {
    const panel = await harness.open(situations.limit, { width: 500 });
    await panel.page.locator('[data-key="c:b1/tokens"] [data-twistie]').click();
    await panel.settled();
    const kept = await panel.page.evaluate<Record<string, unknown>>('window.kept');
    expect(kept).toMatchObject({
      open: { 'c:b1/tokens': true },
      selected: ['c:b1/tokens'],
      active: 'c:b1/tokens',
    });
    await panel.close();
    const again = await harness.open({ ...situations.limit, kept }, { width: 500 });
    expect(await again.page.locator('.facts').count()).toBe(1);
    await again.close();
  });

  test('when a focused button goes, the focus goes to the next of its kind, then to the tree', async () => {
    const panel = await harness.open(situations.needs, { width: 900 });
    const gates = situations.needs.view.gates;
    await panel.page.locator('.strip vscode-button').nth(1).focus();
    await panel.show({
      ...situations.needs,
      view: { ...situations.needs.view, gates: gates.filter((g) => g.credential !== 'kimi') },
    });
    expect(await panel.page.evaluate(`document.activeElement.textContent.trim()`)).toBe('Resume Mon 09:00');
    await panel.show({ ...situations.needs, view: { ...situations.needs.view, gates: [] } });
    expect(await panel.page.evaluate(`document.activeElement.dataset.key`)).toBe('c:b1/session');
    await panel.close();
  });
});

describe('read out', () => {
  test('a closing and a child that asks are said once, ticks and progress are not', async () => {
    const panel = await harness.open(before, { width: 500, byHand: true });
    const said = () => panel.page.locator('[role="status"]').textContent();
    expect(await said()).toBe('');
    await panel.show(after);
    const sentence =
      'claude reached its limit until 18:30. 1 child waits. Task 1 needs you: reason unknown. Task 3 done, 1 of 3.';
    expect(await said()).toBe(sentence);
    await panel.show(before);
    await panel.show(after);
    await panel.turnClock(5000);
    expect(await said()).toBe('Task 3 done, 1 of 3.');
    await panel.close();
  });
});
