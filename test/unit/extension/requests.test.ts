import { describe, expect, it } from 'vitest';
import { mergeViews } from '../../../src/extension/mergedView.js';
import {
  batchRequest,
  candidates,
  childRequests,
  gateRequest,
  launchRequest,
} from '../../../src/extension/requests.js';
import { parseWhen, shortTime } from '../../../src/extension/actions/times.js';
import { withoutGivenPermissions } from '../../../src/extension/configuration.js';
import { request } from '../../../src/protocol/request.js';
import { batchOf, childOf, gateOf, viewOf } from '../../support/views.js';

const targets = [
  { batch: 'b1', child: 'one' },
  { batch: 'b2', child: 'two' },
];

describe('requests', () => {
  it('are what the supervisor accepts, for every action of a child', () => {
    const actions = [
      'resumeNow',
      'resume',
      'startFresh',
      'dontResume',
      'startNext',
      'pause',
      'stop',
      'retry',
      'apply',
      'giveBack',
      'restore',
      'check',
    ] as const;
    for (const action of actions)
      for (const made of childRequests(action, targets))
        expect([action, request.safeParse(made).success]).toEqual([action, true]);
  });

  it('that the protocol has for one child at a time are one for each', () => {
    expect(childRequests('giveBack', targets)).toHaveLength(2);
    expect(childRequests('pause', targets)).toEqual([{ type: 'pause', targets }]);
  });

  it('of a batch name only the children that allow the action, and are none where nobody does', () => {
    const batch = batchOf([
      childOf('a', { actions: ['pause', 'stop'] }),
      childOf('b', { actions: ['resumeNow', 'stop'] }),
      childOf('c', { actions: ['review'] }),
    ]);
    expect(batchRequest('stopAll', batch)).toEqual({
      type: 'stop',
      targets: [
        { batch: 'b1', child: 'a' },
        { batch: 'b1', child: 'b' },
      ],
    });
    expect(batchRequest('resumeAll', batch)).toMatchObject({ type: 'resume', targets: [{ child: 'b' }] });
    expect(batchRequest('applyAll', batch)).toBeNull();
  });

  it('of an account leave the model out where the limit is not a model’s', () => {
    expect(gateRequest('dontResume', { credential: 'claude' })).toEqual({
      type: 'gate',
      credential: 'claude',
      answer: 'decline',
    });
    expect(gateRequest('tryAgain', { credential: 'claude', model: 'opus' })).toMatchObject({
      model: 'opus',
      answer: 'resumeNow',
    });
  });

  it('to launch keep one task one line', () => {
    const made = launchRequest({
      type: 'launch',
      tasks: ['Fix the login\n  and test it ', 'Second'],
      executor: 'claude',
      isolation: 'worktree',
    });
    expect(made.manifest).toEqual({ kind: 'tasks', text: 'Fix the login and test it\nSecond', name: '' });
    expect(made.consent).toBe(false);
  });

  it('are offered for the first action that a child allows', () => {
    const view = viewOf({
      batches: [batchOf([childOf('a', { actions: ['startFresh', 'resume'] }), childOf('b')])],
    });
    expect(
      candidates(view, ['resumeNow', 'resume', 'startFresh']).map(({ target, action }) => [
        target.child,
        action,
      ]),
    ).toEqual([['a', 'resume']]);
  });
});

describe('several folders', () => {
  it('are one view: batches side by side, one strip for an account, told by the folder that waits longest', () => {
    const early = gateOf({ until: '2026-11-26T17:00:00.000Z', waiting: 2, held: 1 });
    const late = gateOf({ until: '2026-11-26T18:00:00.000Z', waiting: 3, held: 2 });
    const merged = mergeViews([
      viewOf({ seq: 4, gates: [early], batches: [batchOf([], { id: 'b1' })] }),
      viewOf({ seq: 6, gates: [late, gateOf({ model: 'opus' })], batches: [batchOf([], { id: 'b2' })] }),
    ]);
    expect(merged.seq).toBe(10);
    expect(merged.batches.map(({ id }) => id)).toEqual(['b1', 'b2']);
    expect(merged.gates).toHaveLength(2);
    expect(merged.gates[0]).toMatchObject({ until: late.until, waiting: 5, held: 3 });
  });
});

describe('a typed time', () => {
  const now = new Date(2026, 10, 26, 16, 0, 0);
  const when = (text: string): string | null => {
    const at = parseWhen(text, now);
    return at === null ? null : new Date(at).toLocaleString('sv-SE');
  };
  it('is understood as people write it', () => {
    expect([
      when('18:30'),
      when('9:00'),
      when('tomorrow 9:00'),
      when('in 2 h'),
      when('45 min'),
      when('2026-12-07 09:00'),
    ]).toEqual([
      '2026-11-26 18:30:00',
      '2026-11-27 09:00:00',
      '2026-11-27 09:00:00',
      '2026-11-26 18:00:00',
      '2026-11-26 16:45:00',
      '2026-12-07 09:00:00',
    ]);
  });
  it('is refused where it is past, impossible or no time', () => {
    expect([
      when('25:00'),
      when('2026-11-01 09:00'),
      when('2026-02-30 10:00'),
      when('soon'),
      when(''),
    ]).toEqual([null, null, null, null, null]);
  });
  it('is shown by its day only as far as needed', () => {
    const at = now.getTime();
    const show = (days: number): string => shortTime(at + days * 86_400_000, at, 'en-GB');
    expect([show(0), show(1), show(11)]).toEqual(['16:00', 'Fri 16:00', '7 Dec, 16:00']);
  });
});

describe('the bypass of all permissions', () => {
  it('is taken from the user’s settings and never from the folder’s', () => {
    const warned: string[] = [];
    const folder = {
      mine: { adapter: 'claude', permissions: 'full' },
      theirs: { adapter: 'claude', permissions: 'full' },
    };
    const own = { mine: { adapter: 'claude', permissions: 'full' } };
    expect(withoutGivenPermissions(folder, own, (message) => warned.push(message))).toEqual({
      mine: { adapter: 'claude', permissions: 'full' },
      theirs: { adapter: 'claude', permissions: 'edit' },
    });
    expect(warned).toHaveLength(1);
  });
});
