import { describe, expect, test } from 'vitest';
import { situations } from '../../panel/fixtures.js';
import { isRow, layout, shownCount, type LayoutOptions } from '../../../src/webview/layout.js';
import { slots, TreeHeights } from '../../../src/webview/treeWindow.js';

const plain: LayoutOptions = { open: {}, filter: '', chips: [], grouped: false, timeline: false };
const keys = (options: Partial<LayoutOptions>, situation = situations.limit) =>
  layout(situation.view, { ...plain, ...options }).map((item) => item.key);

describe('lines', () => {
  test('keep the order of the manifest, notes under their child', () => {
    expect(keys({}).slice(0, 4)).toEqual(['b:b1', 'c:b1/login', 'note:b1/login', 'c:b1/tokens']);
  });
  test('of a closed batch are not there', () => {
    expect(keys({ open: { 'b:b1': false } })).toEqual(['b:b1']);
  });
  test('of the details come when they are opened by hand', () => {
    expect(keys({ open: { 'c:b1/tokens': true } })).toContain('facts:b1/tokens');
  });
  test('a callout opens by itself, closes by hand, and opens again with the details', () => {
    const under = (open?: boolean) =>
      keys(open === undefined ? {} : { open: { 'c:b1/login': open } }, situations.failed).filter((key) =>
        /^(call|facts):b1.login$/.test(key),
      );
    expect(under()).toEqual(['call:b1/login']);
    expect(under(false)).toEqual([]);
    expect(under(true)).toEqual(['call:b1/login', 'facts:b1/login']);
  });
  test('grouped: the groups stand in their order, empty ones are not there, at rest they are closed', () => {
    expect(keys({ grouped: true })).toEqual([
      'b:b1',
      'g:b1/running',
      'c:b1/session',
      'c:b1/ratelimit',
      'g:b1/paused',
      'g:b1/held',
      'g:b1/done',
    ]);
  });
  test('a filter opens the groups it finds something in, and drops the rest', () => {
    expect(keys({ grouped: true, filter: 'redis' })).toEqual(['b:b1', 'g:b1/running', 'c:b1/session']);
    expect(keys({ filter: 'no such thing' })).toEqual([]);
  });
  test('the filter looks at name, state and agent, and all words must fit', () => {
    expect(keys({ filter: 'paused CLAUDE' }).filter((key) => key.startsWith('c:'))).toEqual([
      'c:b1/login',
      'c:b1/tokens',
      'c:b1/audit',
    ]);
  });
  test('chips choose states', () => {
    expect(shownCount(situations.limit.view, { ...plain, chips: ['held', 'done'] })).toBe(3);
  });
  test('the timeline has one lane per closed account and no callouts', () => {
    expect(keys({ timeline: true }).slice(0, 3)).toEqual(['b:b1', 'l:b1/claude', 'c:b1/login']);
    expect(keys({ timeline: true }, situations.failed).some((key) => key.startsWith('call'))).toBe(false);
  });
  test('positions count from one within their group', () => {
    const rows = layout(situations.limit.view, plain).filter(isRow).slice(1);
    expect(rows.map((row) => `${row.position}/${row.size}`)).toEqual([
      '1/8',
      '2/8',
      '3/8',
      '4/8',
      '5/8',
      '6/8',
      '7/8',
      '8/8',
    ]);
  });
});

describe('long lists', () => {
  const items = Array.from({ length: 1001 }, (_, i) =>
    i === 0
      ? ({ kind: 'batch', key: 'b', batch: 'b', level: 1, position: 1, size: 1, open: true } as const)
      : ({
          kind: 'child',
          key: `c${i}`,
          batch: 'b',
          child: `c${i}`,
          level: 2,
          position: i,
          size: 1000,
          open: false,
          grouped: false,
        } as const),
  );
  const heights = new TreeHeights();

  test('draw what is near, the head of the batch and the row with the focus; gaps keep the height', () => {
    const drawn = slots(items, heights, { top: 11_000, height: 600 }, 'c3');
    const shown = drawn.filter((slot) => slot.kind === 'item');
    expect(shown.length).toBeLessThan(80);
    expect(shown.slice(0, 2).map((slot) => slot.item.key)).toEqual(['b', 'c3']);
    const height = drawn.reduce(
      (sum, slot) => sum + (slot.kind === 'gap' ? slot.height : heights.of(slot.item)),
      0,
    );
    expect(height).toBe(1001 * 22);
  });

  test('short lists are drawn whole', () => {
    expect(slots(items.slice(0, 100), heights, { top: 0, height: 100 }, null).length).toBe(100);
  });
});
