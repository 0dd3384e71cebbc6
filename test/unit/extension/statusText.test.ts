import { describe, expect, it } from 'vitest';
import { countdown, decisions, nextChange, statusText } from '../../../src/extension/statusText.js';
import type { View } from '../../../src/protocol/view.js';
import { translate } from '../../support/fakeVscode.js';
import { batchOf, childOf, gateOf, viewOf } from '../../support/views.js';

const now = Date.parse('2026-11-26T16:00:00.000Z');
const say = (view: View): string => statusText(view, now, translate).text;

const running = childOf('r1', { status: 'running', phase: 'running' });
const queued = childOf('q1', { status: 'queued', phase: 'queued', display: 'queued' });
const paused = childOf('p1', {
  status: 'paused',
  phase: 'paused',
  display: 'paused',
  resetAt: '2026-11-26T17:12:00.000Z',
});
const held = childOf('h1', { status: 'held', phase: 'queued', display: 'held' });
const done = childOf('d1', {
  status: 'done',
  phase: 'succeeded',
  display: 'done',
  apply: { state: 'ready', with: [] },
});
const applied = childOf('a1', {
  status: 'done',
  phase: 'succeeded',
  display: 'applied',
  apply: { state: 'applied', with: [] },
});
const failed = childOf('f1', { status: 'failed', phase: 'failed', display: 'failed' });
const asks = childOf('n1', { status: 'paused', phase: 'paused', display: 'needsYou' });

describe('the status bar', () => {
  it('says the most pressing thing first', () => {
    const of = (...children: readonly ReturnType<typeof childOf>[]): string =>
      say(viewOf({ batches: [batchOf(children)] }));
    expect({
      nothing: say(viewOf()),
      running: of(running),
      queued: of(running, queued),
      waiting: of(running, paused, held),
      failed: of(running, failed, paused),
      needsYou: of(running, failed, asks),
      needYou: of(asks, asks, failed),
      done: of(done, done, applied),
      applied: of(applied, applied),
    }).toEqual({
      nothing: '$(layers) Swarm',
      running: '$(layers) 1 running',
      queued: '$(layers) 1 running · 1 queued',
      waiting: '$(layers) 1 running · 2 waiting · 1 h 12 min',
      failed: '$(layers) 1 running · 1 failed',
      needsYou: '$(warning) 1 needs you',
      needYou: '$(warning) 2 need you',
      done: '$(layers) 3 done · 2 ready to apply',
      applied: '$(layers) Swarm',
    });
  });

  it('counts down in whole minutes and says soon in the last', () => {
    const minutes = (n: number): string => countdown(n * 60_000, translate);
    expect([
      minutes(0),
      minutes(0.5),
      minutes(1),
      minutes(1.01),
      minutes(59),
      minutes(60),
      minutes(72),
      minutes(49 * 60),
    ]).toEqual(['soon', 'soon', 'soon', '2 min', '59 min', '1 h 0 min', '1 h 12 min', '2 d']);
  });

  it('changes next at a whole minute of the nearest reset, and not at all without one', () => {
    const view = viewOf({
      batches: [batchOf([childOf('p', { status: 'paused', resetAt: '2026-11-26T16:10:20.000Z' })])],
    });
    expect([nextChange(view, now), nextChange(viewOf(), now)]).toEqual([now + 20_000, null]);
  });

  it('has one line for each gate that is not open and for each batch in its tooltip', () => {
    const view = viewOf({
      gates: [
        gateOf({ until: '2026-11-26T16:30:00.000Z', waiting: 4 }),
        gateOf({ credential: 'codex', state: 'open' }),
      ],
      batches: [batchOf([running, done], { name: 'Auth' })],
    });
    expect(statusText(view, now, translate).tooltip).toEqual([
      'claude: limit reached, 30 min, 4 waiting',
      'Auth: 1 of 2 done',
    ]);
  });
});

describe('the badge', () => {
  it('counts decisions: children behind one account are one, a child that asks for itself is one more', () => {
    const gates = [
      gateOf({ needsUser: true, waiting: 3 }),
      gateOf({ credential: 'codex', needsUser: false, waiting: 2 }),
    ];
    const behind = [1, 2, 3].map((n) => childOf(`s${n}`, { status: 'paused', display: 'pausedForYou' }));
    const conflict = childOf('c1', { status: 'done', display: 'conflict' });
    expect(decisions(viewOf({ gates, batches: [batchOf([...behind, asks, conflict, running])] }))).toBe(3);
  });

  it('counts nothing while everything goes on by itself', () => {
    expect(
      decisions(viewOf({ gates: [gateOf({ needsUser: false })], batches: [batchOf([paused, held])] })),
    ).toBe(0);
  });
});
