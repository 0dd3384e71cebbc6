import { describe, expect, test } from 'vitest';
import { at, batch, child, situations, view } from '../../panel/fixtures.js';
import { axisOf, barsOf, percent } from '../../../src/webview/timelineModel.js';

const now = Date.parse(at('17:17:55'));
const time = (ms: number) => new Date(ms).toISOString();

describe('the axis', () => {
  test('runs from just before the start to 20 minutes after the nearest reset', () => {
    const axis = axisOf(situations.limit.view, now);
    expect([time(axis.from), time(axis.to)]).toEqual([at('16:35'), at('18:50')]);
    expect(axis.labels.map(time)).toEqual([at('17:00'), at('18:00')]);
  });
  test('is at least an hour', () => {
    const axis = axisOf(view([batch([], { createdAt: at('17:17') })]), now);
    expect(axis.to - axis.from).toBe(3_600_000);
  });
  test('has whole hours of the reader, also where the zone is half an hour off', () => {
    const axis = axisOf(situations.limit.view, now, 5.5 * 3_600_000);
    expect(axis.labels.map(time)).toEqual([at('17:30'), at('18:30')]);
  });
  test('of days has few labels', () => {
    const axis = axisOf(view([batch([], { createdAt: at('17:17', 20) })]), now);
    expect(axis.labels.length).toBeLessThanOrEqual(6);
  });
});

describe('bars', () => {
  const axis = axisOf(situations.limit.view, now);
  const of = (id: string) => {
    const one =
      situations.limit.view.batches[0]?.children.find((c) => c.id === id) ?? child('x', 'x', 'x', 'queued');
    return barsOf(one, axis).map((bar) => `${bar.kind} ${time(bar.from)} ${time(bar.to)}`);
  };
  test('of a paused child end in a plan up to its reset', () => {
    expect(of('login')).toEqual([
      `run ${at('16:40')} ${at('17:02')}`,
      `wait ${at('17:02')} ${at('17:17:55')}`,
      `plan ${at('17:17:55')} ${at('18:30')}`,
    ]);
  });
  test('of a held child reach to the reset', () => {
    expect(of('e2e').at(-1)).toBe(`held ${at('17:02')} ${at('18:30')}`);
  });
  test('of a running child end now', () => {
    expect(of('session').at(-1)).toBe(`run ${at('16:44')} ${at('17:17:55')}`);
  });
});

test('nothing is placed outside the axis', () => {
  const axis = axisOf(situations.limit.view, now);
  expect([percent(0, axis), percent(now * 2, axis)]).toEqual([0, 100]);
});
