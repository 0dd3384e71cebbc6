import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readyHost, situations, type Situation } from './fixtures.js';
import { PanelHarness, type PanelPage } from './harness.js';

let harness: PanelHarness;
beforeAll(async () => {
  harness = await PanelHarness.start();
});
afterAll(() => harness.stop());

/** Key by key: what has the focus afterwards. */
async function walk(panel: PanelPage, keys: readonly string[]): Promise<readonly string[]> {
  const seen: string[] = [];
  for (const key of keys) {
    await panel.page.keyboard.press(key);
    await panel.settled();
    seen.push(await focused(panel));
  }
  return seen;
}

async function focused(panel: PanelPage): Promise<string> {
  return panel.page.evaluate<string>(`(() => {
    const el = document.activeElement;
    if (!el || el === document.body) return 'document';
    if (el.matches('.row')) return el.dataset.key;
    if (el.closest('.row')) return el.closest('.row').dataset.key + ' ' + el.ariaLabel;
    const inner = (el.shadowRoot?.activeElement?.getAttribute('aria-label') ?? el.textContent ?? '').trim();
    return el.localName + ' ' + (el.ariaLabel || inner).replace(/\\s+/g, ' ');
  })()`);
}

async function open(situation: Situation, width = 900): Promise<PanelPage> {
  return harness.open(situation, { width, height: 700 });
}

async function inTree(panel: PanelPage, key: string): Promise<void> {
  await panel.page.locator(`[data-key="${key}"] .ttl`).click();
  await panel.settled();
}

describe('tab', () => {
  test('visits strips, filter, group, chips, the tree once, then leaves', async () => {
    const panel = await open({ ...situations.limit, kept: { showFilter: true } });
    const stops = await walk(
      panel,
      Array.from({ length: 9 }, () => 'Tab'),
    );
    expect(stops).toEqual([
      'vscode-button Resume now…',
      'vscode-text-field Filter children',
      'button Group by state',
      'button 2 running',
      'button 3 paused',
      'button 2 held',
      'button 1 done',
      'b:b1',
      'document',
    ]);
    await panel.close();
  });

  test('reaches the buttons under the focused child, and of no other', async () => {
    const panel = await open(situations.failed);
    expect(await walk(panel, ['Tab', 'Tab', 'Tab', 'Tab'])).toEqual([
      'c:b1/login',
      'vscode-button Open setting',
      'vscode-button Retry',
      'document',
    ]);
    await panel.close();
  });
});

describe('in the tree', () => {
  test('arrows, Home, End and Page keys walk the rows and skip the notes', async () => {
    const panel = await open(situations.limit);
    await inTree(panel, 'c:b1/login');
    expect(
      await walk(panel, ['ArrowDown', 'ArrowUp', 'ArrowUp', 'End', 'Home', 'PageDown', 'PageUp']),
    ).toEqual(['c:b1/tokens', 'c:b1/login', 'b:b1', 'c:b1/docs', 'b:b1', 'c:b1/docs', 'b:b1']);
    await panel.close();
  });

  test('Right opens, then reaches the actions; Left goes back, closes, and climbs', async () => {
    const panel = await open(situations.limit);
    await inTree(panel, 'c:b1/login');
    expect(
      await walk(panel, [
        'ArrowRight',
        'ArrowRight',
        'ArrowRight',
        'ArrowLeft',
        'ArrowLeft',
        'ArrowLeft',
        'ArrowLeft',
      ]),
    ).toEqual([
      'c:b1/login',
      'c:b1/login Show log',
      'c:b1/login Resume now…',
      'c:b1/login Show log',
      'c:b1/login',
      'c:b1/login',
      'b:b1',
    ]);
    expect(await panel.page.locator('.facts').count()).toBe(0);
    await panel.close();
  });

  test('Space opens the details, Enter takes the step of a row that asks, fails or is done', async () => {
    const panel = await open(situations.failed);
    await inTree(panel, 'c:b1/tokens');
    await walk(panel, ['Space']);
    expect(await panel.page.locator('.facts').count()).toBe(1);
    await walk(panel, ['Enter']);
    expect(await panel.page.locator('.facts').count()).toBe(0);
    await panel.posted();
    await walk(panel, ['Home', 'ArrowDown', 'Enter', 'End', 'Enter']);
    expect(await panel.posted()).toEqual([
      { type: 'child', action: 'openSetting', targets: [{ batch: 'b1', child: 'login' }] },
      { type: 'child', action: 'review', targets: [{ batch: 'b1', child: 'docs' }] },
    ]);
    await panel.close();
  });

  test('Delete asks to stop, and only what can be stopped', async () => {
    const panel = await open(situations.limit);
    await inTree(panel, 'c:b1/login');
    await panel.posted();
    await walk(panel, ['Delete', 'End', 'Delete']);
    expect(await panel.posted()).toEqual([
      { type: 'child', action: 'stop', targets: [{ batch: 'b1', child: 'login' }] },
    ]);
    await panel.close();
  });

  test('F8 goes to the next row that asks or failed, and around', async () => {
    const panel = await open(situations.failed);
    await inTree(panel, 'c:b1/audit');
    expect(await walk(panel, ['F8', 'F8', 'F8', 'Shift+F8'])).toEqual([
      'c:b1/login',
      'c:b1/session',
      'c:b1/login',
      'c:b1/session',
    ]);
    await panel.close();
  });

  test('Shift with arrows selects several, and the menu acts on all that can', async () => {
    const panel = await open(situations.limit);
    await inTree(panel, 'c:b1/audit');
    await walk(panel, ['Shift+ArrowDown', 'Shift+ArrowDown', 'Shift+F10']);
    expect(await menuItems(panel)).toEqual([
      'Resume now… · 1',
      'Resume at… · 1',
      "Don't resume · 1",
      'Pause · 2',
      '-',
      'Review · 3',
      'Show log · 3',
      'Open worktree · 3',
      'Open checkpoint · 3',
      '-',
      'Stop… · 3',
    ]);
    await panel.posted();
    await panel.page.getByRole('menuitem', { name: 'Pause' }).click();
    expect(await panel.posted()).toEqual([
      {
        type: 'child',
        action: 'pause',
        targets: [
          { batch: 'b1', child: 'session' },
          { batch: 'b1', child: 'ratelimit' },
        ],
      },
    ]);
    await panel.close();
  });

  test('a letter goes to the filter box; where the setting is on, its action comes first', async () => {
    const panel = await open(situations.limit);
    await inTree(panel, 'c:b1/login');
    expect(await walk(panel, ['r', 'o'])).toEqual([
      'vscode-text-field Filter children',
      'vscode-text-field Filter children',
    ]);
    expect(await panel.page.locator('textarea, vscode-text-field input').inputValue()).toBe('ro');
    expect(await panel.page.locator('.row[data-key^="c:"]').count()).toBe(1);
    await panel.close();
    const letters = await open({ ...situations.limit, host: { ...readyHost, letterKeys: true } });
    await inTree(letters, 'c:b1/login');
    await letters.posted();
    expect(await walk(letters, ['r'])).toEqual(['c:b1/login']);
    expect(await letters.posted()).toEqual([
      { type: 'child', action: 'resumeNow', targets: [{ batch: 'b1', child: 'login' }] },
    ]);
    await letters.close();
  });
});

describe('the menu', () => {
  test('opens by keyboard with only what can be done now, walks in a ring, and gives the focus back', async () => {
    const panel = await open(situations.limit);
    await inTree(panel, 'c:b1/login');
    await walk(panel, ['Shift+F10']);
    expect(await menuItems(panel)).toEqual([
      'Resume now…',
      'Resume at…',
      "Don't resume",
      '-',
      'Review',
      'Show log',
      'Open worktree',
      'Open checkpoint',
      '-',
      'Stop…',
    ]);
    expect(await walk(panel, ['ArrowUp', 'ArrowDown', 'End', 'Home', 'Escape'])).toEqual([
      'button Stop…Del',
      'button Resume now…',
      'button Stop…Del',
      'button Resume now…',
      'c:b1/login',
    ]);
    await panel.close();
  });
});

describe('Escape', () => {
  test('clears the filter, then goes back to the row', async () => {
    const panel = await open({ ...situations.limit, kept: { showFilter: true, filter: 'redis' } });
    expect(await panel.page.locator('.row[data-key^="c:"]').count()).toBe(1);
    await panel.page.locator('vscode-text-field').click();
    await walk(panel, ['Escape']);
    expect(await panel.page.locator('.row[data-key^="c:"]').count()).toBe(8);
    expect(await walk(panel, ['Escape'])).toEqual(['b:b1']);
    await panel.close();
  });

  test('goes from an action to its row', async () => {
    const panel = await open(situations.limit);
    await inTree(panel, 'c:b1/session');
    expect(await walk(panel, ['ArrowRight', 'ArrowRight', 'Escape'])).toEqual([
      'c:b1/session',
      'c:b1/session Show log',
      'c:b1/session',
    ]);
    await panel.close();
  });
});

async function menuItems(panel: PanelPage): Promise<readonly string[]> {
  return panel.page.evaluate<string[]>(
    `[...document.querySelectorAll('.menu button > span, .menu hr')].map((e) => e.localName === 'hr' ? '-' : e.textContent)`,
  );
}
