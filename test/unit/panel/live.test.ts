import { describe, expect, test } from 'vitest';
import { at, batch, child, gate, situations, view, zone } from '../../panel/fixtures.js';
import type { View } from '../../../src/protocol/view.js';
import { announce, nothingSaid } from '../../../src/webview/live.js';

const reader = { locale: 'en-GB', hour12: false, zone };
const now = Date.parse(at('17:17:55'));
const say = (before: View, after: View, said = nothingSaid, time = now) =>
  announce(before, after, said, time, reader);

test('a closing, a probe and an opening are said, each once per episode', () => {
  const open = view([]);
  const closed = view([], [gate('claude', 'closedUntil', { until: at('18:30'), waiting: 5 })]);
  const probing = view([], [gate('claude', 'probing', { canary: 'Audit log' })]);
  const again = view([], [gate('claude', 'open', { state: 'open', resumed: { done: 3, of: 5 } })]);
  let said = nothingSaid;
  const heard: string[] = [];
  const steps: readonly (readonly [View, View])[] = [
    [open, closed],
    [closed, closed],
    [closed, probing],
    [probing, closed],
    [closed, again],
  ];
  for (const [before, after] of steps) {
    const news = say(before, after, said);
    said = news.said;
    heard.push(...news.sentences);
  }
  expect(heard).toEqual([
    'claude reached its limit until 18:30. 5 children wait.',
    'claude reset. Audit log is tried first.',
    'claude is open. 5 children resume.',
  ]);
});

test('progress and last lines are not said', () => {
  expect(say(situations.running.view, situations.running.view).sentences).toEqual([]);
});

describe('finished children', () => {
  const some = (running: number, done: number) =>
    view([
      batch([
        ...Array.from({ length: running + done }, (_, i) =>
          child(`t${i}`, `Task ${i}`, 'claude', i < done ? 'done' : 'running'),
        ),
      ]),
    ]);

  test('are said one by one while few run', () => {
    expect(say(some(3, 0), some(2, 1)).sentences).toEqual(['Task 0 done, 1 of 3.']);
  });

  test('are gathered while many run, and said at most every 30 s', () => {
    const first = say(some(20, 0), some(19, 1));
    expect(first.sentences).toEqual(['1 done.']);
    const second = say(some(19, 1), some(18, 2), first.said, now + 10_000);
    expect(second.sentences).toEqual([]);
    const third = say(some(18, 2), some(17, 3), second.said, now + 31_000);
    expect(third.sentences).toEqual(['2 done.']);
  });
});

test('the end of a batch says how many are done and failed', () => {
  const ended = view([
    batch([child('a', 'A', 'claude', 'done'), child('b', 'B', 'claude', 'failed')], { status: 'failed' }),
  ]);
  const before = view([batch([child('a', 'A', 'claude', 'done'), child('b', 'B', 'claude', 'failed')])]);
  expect(say(before, ended).sentences).toEqual(['Batch Auth hardening is finished: 1 done, 1 failed.']);
});
