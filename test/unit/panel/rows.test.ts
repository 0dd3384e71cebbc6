import { describe, expect, test } from 'vitest';
import { at, batch, child, situations, view, zone } from '../../panel/fixtures.js';
import type { ChildView } from '../../../src/protocol/view.js';
import { rowActions } from '../../../src/webview/actions.js';
import { counts, countedStates } from '../../../src/webview/marks.js';
import { childNotes, quarantineNote, rowModel } from '../../../src/webview/rowModels.js';

const moment = { now: Date.parse(at('17:17:55')), reader: { locale: 'en-GB', hour12: false, zone } };

function row(one: ChildView): string {
  const model = rowModel(one, batch([one]), { ...moment, view: view([batch([one])]) });
  return [model.mark.word, model.time?.text ?? '', model.text].join(' | ');
}

test('a queued child says whether it waits for a slot or for those before it', () => {
  const text = (busy: number, display: 'opening' | 'open') => {
    const one = child('a', 'A', 'claude', 'queued', { slots: { busy, of: 4 } });
    const [gate] = situations.limit.view.gates;
    const gates = gate === undefined ? [] : [{ ...gate, credential: 'claude', display }];
    return rowModel(one, batch([one]), { ...moment, view: { ...view([batch([one])]), gates } }).text;
  };
  expect([text(4, 'open'), text(4, 'opening'), text(2, 'opening'), text(2, 'open')]).toEqual([
    '4 of 4 slots busy',
    '4 of 4 slots busy',
    'after those before it',
    '',
  ]);
});

describe('a wait', () => {
  const limited = { class: 'usage_limit', message: '', needsUser: false } as const;
  test('counts down to a stated reset', () => {
    expect(
      row(
        child('a', 'A', 'claude', 'paused', { reason: limited, resetAt: at('18:30'), resetSource: 'event' }),
      ),
    ).toBe('Paused | 1:12:05 | usage limit');
  });
  test('to a guess is drawn as a guess', () => {
    expect(
      row(
        child('a', 'A', 'claude', 'paused', { reason: limited, resetAt: at('18:30'), resetSource: 'probe' }),
      ),
    ).toBe('Paused | ~1:12:05 | usage limit');
  });
  test('of two days and more is a day and a time', () => {
    expect(
      row(
        child('a', 'A', 'claude', 'paused', {
          reason: limited,
          resetAt: at('09:00', 30),
          resetSource: 'text',
        }),
      ),
    ).toBe('Paused | Mon 09:00 | usage limit');
  });
  test('that is over says nothing negative', () => {
    expect(
      row(
        child('a', 'A', 'claude', 'paused', {
          reason: limited,
          resetAt: at('17:00'),
          resetSource: 'event',
          order: 2,
        }),
      ),
    ).toBe('Paused | next | usage limit');
  });
  test('is never called failed, whatever the reason', () => {
    for (const reason of ['usage_limit', 'network', 'overloaded', 'timeout', 'unknown', 'disk'] as const)
      expect(
        row(
          child('a', 'A', 'claude', 'paused', { reason: { class: reason, message: '', needsUser: false } }),
        ),
      ).toMatch(/^Paused/);
  });
});

test('the accessible name is title, word, order or reason, time, agent', () => {
  const [one] = situations.limit.view.batches[0]?.children ?? [];
  if (!one) throw new Error('no child');
  expect(rowModel(one, batch([one]), { ...moment, view: situations.limit.view }).name).toBe(
    'Login form validation, paused, usage limit, resumes 18:30, claude',
  );
});

test('a time without a zone says that ours was assumed', () => {
  const one = child('a', 'A', 'claude', 'paused', {
    resetAt: at('18:30'),
    resetSource: 'text',
    reason: { class: 'usage_limit', message: '', needsUser: false, zoneAssumed: true },
  });
  expect(rowModel(one, batch([one]), { ...moment, view: view([]) }).timeTip).toContain(
    'It named no time zone; yours is assumed.',
  );
});

test('counts come in one order and name only what occurs', () => {
  const children = [...countedStates].reverse().map((state, i) => child(`c${i}`, 'x', 'claude', state));
  expect(counts(children).map(({ state }) => state)).toEqual([...countedStates]);
  expect(counts([child('a', 'A', 'claude', 'starting'), child('b', 'B', 'claude', 'pausing')])).toEqual([
    { state: 'running', n: 2 },
  ]);
});

test('a row has at most one button beside its primary, which is last', () => {
  for (const state of countedStates) {
    const one = child('a', 'A', 'claude', state);
    const actions = rowActions(one);
    expect(actions.length).toBeLessThanOrEqual(2);
    if (one.primary !== null) expect(actions.at(-1)).toEqual({ action: one.primary, primary: true });
  }
});

describe('half-written edits that were moved', () => {
  test.each([
    [{ moved: 3, left: 0, checked: true, errors: 0 }, '3 files moved to its worktree; your build is clean'],
    [{ moved: 1, left: 0, checked: true, errors: 0 }, '1 file moved to its worktree; your build is clean'],
    [{ moved: 3, left: 0, checked: false }, '3 files moved to its worktree'],
    [
      { moved: 3, left: 0, checked: true, errors: 2 },
      '3 files moved to its worktree; 2 errors left in your tree',
    ],
    [
      { moved: 2, left: 1, checked: true, leftWith: ['tokens'] },
      '2 of 3 files moved; 1 left, also changed by tokens',
    ],
  ])('a build is called clean only when a check has run (%#)', (quarantine, text) => {
    expect(quarantineNote(quarantine).text).toBe(text);
  });

  test('what was left is named with whoever else wrote it, also where nothing could be moved', () => {
    const left = {
      moved: 0,
      left: 2,
      checked: false,
      leftWith: ['you', 'b1/tokens'],
      leftFiles: [
        { path: 'a.ts', who: 'you' },
        { path: 'b.ts', who: 'b1/tokens' },
      ],
    };
    expect(quarantineNote(left)).toEqual({
      text: '0 of 2 files moved; 2 left, also changed by you, b1/tokens',
      tip: 'Left in your tree, for others wrote it too:\na.ts (also you)\nb.ts (also b1/tokens)',
    });
  });
});

describe('what lies under a row', () => {
  const notes = (extra: Partial<ChildView>) => {
    const one = child('a', 'A', 'claude', 'done', extra);
    return childNotes(one, batch([one, child('b', 'Tokens', 'claude', 'done')])).map(({ text }) => text);
  };
  test('names whom its work will overlap with, before anybody applies it', () => {
    const mine = { who: 'you', path: 'x.ts' };
    const sibling = { who: 'b', path: 'y.ts' };
    const other = { who: 'b2/c', path: 'y.ts' };
    const foreseen = (...overlaps: readonly (typeof mine)[]) =>
      notes({ apply: { state: 'forecastConflict', with: overlaps } });
    expect(foreseen(mine)).toEqual(['will overlap with you in x.ts']);
    expect(foreseen(sibling, other)).toEqual(['will overlap with Tokens, b2/c in y.ts']);
    expect(foreseen(mine, sibling, other)).toEqual(['will overlap with you, Tokens, b2/c in 2 files']);
    expect(notes({ apply: { state: 'forecastClean', with: [] } })).toEqual([]);
    const one = child('a', 'A', 'claude', 'running', {
      apply: { state: 'forecastConflict', with: [mine, sibling] },
    });
    expect(childNotes(one, batch([one])).map(({ tip }) => tip)).toEqual(['x.ts (also you)\ny.ts (also b)']);
  });
  test('names what cannot be captured, and what was written elsewhere', () => {
    const clone = { path: 'vendor/lib/', reason: 'a clone of another repository' };
    expect(notes({})).toEqual([]);
    expect(notes({ uncaptured: [clone] })).toEqual([
      'vendor/lib/ is only in its worktree and cannot be applied: a clone of another repository',
    ]);
    expect(notes({ uncaptured: [clone, clone] })).toEqual([
      '2 paths are only in its worktree and cannot be applied',
    ]);
    expect(notes({ strays: [{ path: 'x.ts', who: 'you', moved: true }] })).toEqual([
      'Wrote x.ts outside of its worktree, in your tree',
    ]);
    expect(
      notes({
        strays: [
          { path: 'x.ts', who: 'you', moved: true },
          { path: 'x.ts', who: 'b', moved: false },
        ],
      }),
    ).toEqual(['Wrote 2 files outside of its worktree, in your tree, the worktree of Tokens']);
  });
});
