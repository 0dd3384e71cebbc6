import { describe, expect, test } from 'vitest';
import { situations, type Situation } from '../../panel/fixtures.js';
import { PanelModel } from '../../../src/webview/panelModel.js';
import { freshState, readState } from '../../../src/webview/panelState.js';

const message = (situation: Situation, serial: number) =>
  ({ type: 'view', serial, view: { ...situation.view, seq: serial }, host: situation.host }) as const;

function model(situation: Situation): PanelModel {
  const one = new PanelModel();
  one.receive(message(situation, 1), false, 0);
  return one;
}

test('a view that is not newer is dropped', () => {
  const one = model(situations.limit);
  expect(one.receive(message(situations.needs, 1), false, 0)).toBe(false);
  expect(
    one.receive({ ...message(situations.needs, 2), view: { ...situations.needs.view, seq: 0 } }, false, 0),
  ).toBe(false);
  expect(one.receive(message(situations.needs, 3), false, 0)).toBe(true);
});

test('while lines may not move a new view changes what they say, not which there are', () => {
  const one = model(situations.limit);
  const lines = one.items;
  one.receive(message(situations.needs, 2), true, 0);
  expect(one.items).toBe(lines);
  expect(one.seen.get('c:b1/login')?.child.display).toBe('pausedForYou');
  // Gone from the new view, still on the screen.
  expect(one.seen.has('c:b1/e2e')).toBe(true);
  expect(one.strips.map((strip) => strip.word)).toEqual(['signed out']);
  one.rearrange(0);
  expect(one.strips.length).toBe(3);
  expect(one.seen.has('c:b1/e2e')).toBe(false);
});

test('a batch that was just launched is drawn at once, wherever the pointer is', () => {
  const one = model(situations.empty);
  one.receive(message(situations.limit, 2), true, 0);
  expect(one.items.length).toBeGreaterThan(0);
});

test('the tab stop is the row that asks, until one had the focus', () => {
  const one = model(situations.needs);
  expect(one.activeKey()).toBe('c:b1/session');
  one.state = { ...one.state, active: 'c:b1/docs' };
  expect(one.activeKey()).toBe('c:b1/docs');
  expect(one.nextAsking()).toBe('c:b1/session');
});

describe('the selection', () => {
  test('is one row, several by Ctrl, a stretch by Shift', () => {
    const one = model(situations.limit);
    const pick = (key: string, how: 'only' | 'add' | 'range') => {
      one.state = { ...one.state, ...one.selection(key, how) };
      return one.state.selected;
    };
    expect(pick('c:b1/tokens', 'only')).toEqual(['c:b1/tokens']);
    expect(pick('c:b1/session', 'add')).toEqual(['c:b1/tokens', 'c:b1/session']);
    expect(pick('c:b1/tokens', 'add')).toEqual(['c:b1/session']);
    expect(pick('c:b1/session', 'only')).toEqual(['c:b1/session']);
    expect(pick('c:b1/tokens', 'range')).toEqual(['c:b1/tokens', 'c:b1/audit', 'c:b1/session']);
  });
});

test('an action is only for those that allow it, and for none while the supervisor is gone', () => {
  const one = model(situations.limit);
  const keys = ['c:b1/login', 'c:b1/session', 'c:b1/e2e'];
  expect(one.able('pause', keys).map(({ child }) => child.id)).toEqual(['session']);
  one.receive(
    { ...message(situations.limit, 2), host: { ...situations.limit.host, supervisor: 'gone' } },
    false,
    0,
  );
  expect(one.able('pause', keys)).toEqual([]);
  expect(one.able('log', keys).length).toBe(2);
});

test('what an earlier panel kept is read with care', () => {
  expect(readState(null)).toEqual(freshState);
  expect(
    readState({
      open: { a: true, b: 'no' },
      chips: ['held', 'bad'],
      filter: 3,
      isolation: 'shared',
      timeline: 'yes',
    }),
  ).toEqual({
    ...freshState,
    open: { a: true },
    chips: ['held'],
    isolation: 'shared',
  });
});
