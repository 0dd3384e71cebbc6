import { describe, expect, it } from 'vitest';
import { changesBetween } from '../../../src/cli/output/changes.js';
import { jsonReporter } from '../../../src/cli/output/json.js';
import { linesReporter } from '../../../src/cli/output/lines.js';
import type { Screen } from '../../../src/cli/output/reporter.js';
import { drawTable, plainTable } from '../../../src/cli/output/table.js';
import { countdown, nowText } from '../../../src/cli/output/words.js';
import type { View } from '../../../src/protocol/view.js';
import { screenTo } from '../../support/screen.js';
import { batchOf, childOf, gateOf, viewOf } from '../../support/views.js';

const now = Date.parse('2026-11-26T16:17:55.000Z');
const paused = childOf('login', {
  title: 'Login form validation',
  phase: 'paused',
  status: 'paused',
  display: 'paused',
  resetAt: '2026-11-26T17:30:00.000Z',
  reason: { class: 'usage_limit', message: 'You hit your limit', needsUser: false },
  files: { read: 4, written: 3 },
  tokens: { input: 180_000, cachedInput: 0, output: 4_000 },
});
const before = viewOf({ batches: [batchOf([childOf('login'), childOf('docs')])] });
const after = viewOf({ seq: 2, gates: [gateOf()], batches: [batchOf([paused, childOf('docs')])] });

function recorder(): Screen & { readonly lines: string[] } {
  const lines: string[] = [];
  const write = (text: string): void => void lines.push(...text.split('\n').filter(Boolean));
  return { ...screenTo(write, { columns: 100 }), lines };
}

describe('what is printed', () => {
  it('is only what changed', () => {
    expect(changesBetween(before, after, null).map((change) => change.type)).toEqual(['gate', 'child']);
    expect(changesBetween(after, after, null)).toEqual([]);
  });

  it('names what a quarantine left, with both writers and the choice', () => {
    const left = childOf('login', {
      quarantine: {
        moved: 1,
        left: 1,
        checked: false,
        leftFiles: [{ path: 'a.ts', who: 'you' }],
      },
    });
    const view = viewOf({ seq: 2, batches: [batchOf([left])] });
    const wanted = [
      'left in your tree, for several wrote it: a.ts (login and you)',
      'swarm settle login --move takes it out as it is, --keep leaves it',
    ];
    for (const line of wanted) {
      expect(plainTable(view, now)).toContain(line);
      expect(drawTable(view, null, 120, now)).toContain(line);
    }
    const screen = recorder();
    const reporter = linesReporter(screen, null);
    reporter.view(viewOf({ batches: [batchOf([childOf('login')])] }));
    reporter.view(view);
    expect(screen.lines.at(-1)).toContain(wanted.join('; '));
  });

  it('leaves out the batches that are not followed', () => {
    expect(changesBetween(null, after, new Set(['other'])).map((change) => change.type)).toEqual(['gate']);
  });

  it('is one JSON object a line, the batch first and the end last', () => {
    const screen = recorder();
    const reporter = jsonReporter(screen, null);
    reporter.view(before);
    reporter.view(after);
    reporter.end(75);
    const objects = screen.lines.map(
      (line) => JSON.parse(line) as { type: string; id?: string; code?: number },
    );
    expect(objects.map(({ type }) => type)).toEqual(['batch', 'child', 'child', 'gate', 'child', 'end']);
    expect(objects[0]).toMatchObject({ type: 'batch', id: 'b1' });
    expect(objects[4]).toMatchObject({ id: 'login', batch: 'b1', status: 'paused' });
    expect(objects[4]).not.toHaveProperty('title', 'Task docs');
    expect(objects.at(-1)).toMatchObject({ code: 75 });
  });

  it('says a pause with its reason and time, never "failed"', () => {
    const screen = recorder();
    const reporter = linesReporter(screen, null);
    for (const view of [before, after] satisfies View[]) reporter.view(view);
    expect(screen.lines.join('\n')).toMatch(/login\s+Paused\s+usage limit\s+until/);
    expect(screen.lines.join('\n')).not.toMatch(/failed/i);
  });

  it('keeps terminal codes and direction marks of an agent out of the terminal', () => {
    const evil = childOf('evil', {
      title: 'a\u001b[2Jb\u202ec',
      lastLine: '\u001b]8;;http://x\u0007link\u001b]8;;\u0007\nnext',
    });
    const text = drawTable(viewOf({ batches: [batchOf([evil])] }), null, 120, now);
    expect(text.replace(/\u001b\[[0-9;]*m/g, '')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(text).toContain('link next');
  });

  it('names each child by the id that the other commands take', () => {
    for (const text of [plainTable(after, now), drawTable(after, null, 120, now)])
      expect(text).toMatch(/login {2}Login form/);
  });

  it('fits the width of the terminal', () => {
    for (const width of [40, 80, 120]) {
      const lines = drawTable(after, null, width, now)
        .replace(/\u001b\[[0-9;]*m/g, '')
        .split('\n');
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(width);
    }
  });

  it('cuts nothing of a row on an ordinary terminal', () => {
    for (const width of [90, 100, 240])
      expect(
        drawTable(viewOf({ batches: [batchOf([childOf('one', { executor: 'claude' })])] }), null, width, now),
      ).toContain('claude');
  });
});

describe('a countdown', () => {
  const at = (seconds: number): string => countdown(new Date(now + seconds * 1000).toISOString(), now);
  it('counts seconds, then hours, then days, and never below now', () => {
    expect([at(-5), at(0), at(9), at(249), at(4325), at(172_800)]).toEqual([
      'now',
      'now',
      '0:09',
      '4:09',
      '1:12:05',
      '2 d',
    ]);
  });
});

describe('a queued child', () => {
  const queued = (busy: number, of: number) =>
    childOf('a', { phase: 'queued', status: 'queued', display: 'queued', slots: { busy, of } });

  it.each([
    ['a slot, where all are taken', queued(8, 8), [], '8 of 8 slots busy'],
    [
      'those before it, while its account opens step by step',
      queued(2, 8),
      [gateOf({ state: 'open', display: 'opening', resumed: { done: 2, of: 6 } })],
      'claude open again, waits until those before it get on',
    ],
    [
      'a slot, where all are taken while its account opens',
      queued(8, 8),
      [gateOf({ state: 'open', display: 'opening' })],
      '8 of 8 slots busy',
    ],
    [
      'a person, where its account may spend no more',
      queued(2, 8),
      [gateOf({ state: 'open', display: 'budget' })],
      'claude token ceiling reached',
    ],
    [
      'nothing, where slots are free',
      queued(2, 8),
      [gateOf({ credential: 'codex', display: 'opening' })],
      '',
    ],
    ['nothing of another model', queued(2, 8), [gateOf({ model: 'opus', display: 'opening' })], ''],
  ] as const)('says that it waits for %s', (_, child, gates, expected) => {
    expect(nowText(child, gates)).toBe(expected);
  });
});

it('whom a child’s work will meet is foreseen under its row', () => {
  const child = (paths: readonly string[], state: 'forecastConflict' | 'forecastClean') =>
    childOf('one', {
      apply: { state, with: paths.map((path, at) => ({ who: at === 0 ? 'you' : 'two', path })) },
    });
  const shown = (...args: Parameters<typeof child>): readonly string[] =>
    [
      plainTable(viewOf({ batches: [batchOf([child(...args)])] }), now),
      drawTable(viewOf({ batches: [batchOf([child(...args)])] }), null, 120, now),
    ].map((text) => /will overlap.*/.exec(text)?.[0] ?? '');
  const one = 'will overlap with you in src/a.ts';
  expect(shown(['src/a.ts'], 'forecastConflict')).toEqual([one, one]);
  const many = 'will overlap with you, two in a, b, c, 2 more';
  expect(shown(['a', 'b', 'c', 'd', 'e'], 'forecastConflict')).toEqual([many, many]);
  expect(shown([], 'forecastClean')).toEqual(['', '']);
});
