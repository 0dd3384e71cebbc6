import { describe, expect, it } from 'vitest';
import { outcomeOf } from '../../../src/cli/outcome.js';
import type { ChildView, GateView } from '../../../src/protocol/view.js';
import { batchOf, childOf, gateOf, viewOf } from '../../support/views.js';

const done = childOf('a', { phase: 'succeeded', status: 'done', display: 'done' });
const failed = childOf('b', { phase: 'failed', status: 'failed', display: 'failed' });
const paused = childOf('c', {
  phase: 'paused',
  status: 'paused',
  display: 'paused',
  resetAt: '2026-11-26T17:30:00.000Z',
  reason: { class: 'usage_limit', message: '', needsUser: false },
});
const pausedByHand = childOf('d', {
  phase: 'paused',
  status: 'paused',
  display: 'paused',
  reason: { class: 'user', message: '', needsUser: true },
});
const held = childOf('e', { phase: 'queued', status: 'held', display: 'held' });
const queued = childOf('f', { phase: 'queued', status: 'queued', display: 'queued' });

function outcome(children: readonly ChildView[], gates: readonly GateView[] = []): unknown {
  return outcomeOf(viewOf({ gates, batches: [batchOf(children)] }));
}

describe('the outcome of a batch', () => {
  it('is 0 only when every child is done', () => {
    expect(outcome([done, done])).toEqual({ kind: 'ended', code: 0 });
    expect(outcome([done, failed])).toEqual({ kind: 'ended', code: 1 });
  });

  it('goes on while something runs or can start', () => {
    expect(outcome([done, childOf('r'), paused])).toEqual({ kind: 'going' });
    expect(outcome([queued, paused])).toEqual({ kind: 'going' });
  });

  it('waits for the clock behind a gate with a reset', () => {
    expect(outcome([paused, held], [gateOf()])).toEqual({ kind: 'waiting', people: false });
  });

  it('waits for people where nothing goes on by itself', () => {
    expect(outcome([pausedByHand])).toEqual({ kind: 'waiting', people: true });
    expect(
      outcome(
        [pausedByHand, held],
        [gateOf({ needsUser: true, until: null, display: 'signedOut', reason: 'auth_expired' })],
      ),
    ).toEqual({ kind: 'waiting', people: true });
    expect(outcome([pausedByHand, paused], [gateOf()])).toEqual({ kind: 'waiting', people: false });
  });

  it('looks only at the batches it is asked for', () => {
    const view = viewOf({ batches: [batchOf([done]), batchOf([paused], { id: 'b2' })] });
    expect(outcomeOf(view, new Set(['b1']))).toEqual({ kind: 'ended', code: 0 });
  });
});
