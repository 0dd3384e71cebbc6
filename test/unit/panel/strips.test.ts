import { describe, expect, test } from 'vitest';
import { at, batch, child, gate, readyHost, view, zone } from '../../panel/fixtures.js';
import type { GateView } from '../../../src/protocol/view.js';
import { countdownText, type StripModel } from '../../../src/webview/stripText.js';
import { stripModels } from '../../../src/webview/stripModels.js';

const reader = { locale: 'en-GB', hour12: false, zone };
const now = Date.parse(at('17:17:55'));

function say(strip: StripModel | undefined): string {
  if (!strip) return '';
  const segments = strip.segments.map((s) => (s.kind === 'text' ? s.text : countdownText(s, now)));
  return [`${strip.who} ${strip.word}`, ...segments].join(' · ');
}

function of(given: GateView): StripModel | undefined {
  return stripModels(view([], [given]), readyHost, now, reader)[0];
}

describe('each closing has its own sentence', () => {
  test.each<[GateView['display'], Partial<GateView>, string]>([
    [
      'closedUntil',
      { until: at('18:30'), waiting: 5 },
      'claude limit reached · resets 18:30 · in 1 h 12 min 05 s · 5 waiting',
    ],
    [
      'closedUntil',
      { until: at('09:00', 30), waiting: 5 },
      'claude limit reached · resets Mon 09:00 · 5 waiting',
    ],
    [
      'closedGuess',
      { nextTry: at('17:30'), waiting: 2 },
      'claude limit reached · no reset time · next try 17:30 · 2 waiting',
    ],
    ['closedSoon', { nextTry: at('17:18:30'), waiting: 1 }, 'claude busy · next try in 35 s · 1 waiting'],
    [
      'near',
      { utilization: 95.4, until: at('18:30'), held: 3 },
      'claude at 95 % · new tasks wait until 18:30 · 3 held',
    ],
    ['near', { utilization: 95, held: 3 }, 'claude at 95 % · 3 held'],
    [
      'probing',
      { canary: 'Audit log', waiting: 4, held: 2 },
      'claude trying one first · Audit log · 2 next · 2 held',
    ],
    ['opening', { resumed: { done: 2, of: 5 } }, 'claude open again · 2 of 5 resumed'],
    ['signedOut', { waiting: 2 }, 'claude signed out · 2 waiting'],
    ['denied', { waiting: 2 }, 'claude access denied · 2 waiting'],
    ['credits', { waiting: 1 }, 'claude out of credits · no reset time · 1 waiting'],
    ['weekly', { until: at('09:00', 30), waiting: 2 }, 'claude weekly limit · resets Mon 09:00 · 2 waiting'],
    [
      'quietHours',
      { nextTry: at('07:00', 27), waiting: 2 },
      'claude open · quiet hours until Fri 07:00 · 2 waiting',
    ],
    ['budget', { waiting: 2 }, 'claude token ceiling reached · 2 waiting'],
    [
      'noResume',
      { until: at('18:30'), waiting: 2 },
      'claude limit reached · reset 18:30 · will not resume by itself · 2 waiting',
    ],
  ])('%s', (display, given, sentence) => {
    expect(say(of(gate('claude', display, given)))).toBe(sentence);
  });
});

test('an open account has no strip', () => {
  expect(of(gate('claude', 'open', { state: 'open' }))).toBeUndefined();
});

test('a guess is called a guess, a stated time names its source', () => {
  expect(of(gate('claude', 'closedGuess', { nextTry: at('17:30') }))?.tip).toContain('17:30 is a guess');
  expect(of(gate('claude', 'closedUntil', { until: at('18:30'), source: 'header' }))?.tip).toContain(
    "Time from the server's answer, exact.",
  );
});

test('only amber asks, and at most one button of a strip is primary', () => {
  const all = [
    gate('a', 'closedUntil', { until: at('18:30') }),
    gate('b', 'weekly', {
      needsUser: true,
      until: at('09:00', 30),
      actions: ['resumeNow', 'resumeAtReset', 'dontResume'],
    }),
    gate('c', 'signedOut', { needsUser: true, actions: ['signIn'] }),
  ];
  const strips = stripModels(view([], all), readyHost, now, reader);
  expect(strips.map((s) => [s.who, s.tone, s.buttons.map((b) => b.label + (b.primary ? '!' : ''))])).toEqual([
    ['b', 'need', ['Resume Mon 09:00!', 'Now', "Don't"]],
    ['c', 'need', ['Sign in…!']],
    ['a', 'wait', ['Resume now…']],
  ]);
});

test('needs you comes first, then a red check, closed, near, probing, done', () => {
  const red = {
    state: 'red',
    command: 'tsc',
    errors: 2,
    errorsInTree: 2,
    errorsByChild: [],
    tree: 'abc',
    at: at('17:00'),
    stale: false,
  } as const;
  const strips = stripModels(
    view(
      [
        batch([child('a', 'A', 'claude', 'done')], {
          status: 'succeeded',
          check: red,
          actions: ['applyAll', 'reviewAll'],
        }),
      ],
      [
        gate('probing', 'probing'),
        gate('near', 'near'),
        gate('closed', 'closedUntil', { until: at('18:30') }),
        gate('asks', 'signedOut', { needsUser: true }),
      ],
    ),
    readyHost,
    now,
    reader,
  );
  expect(strips.map((s) => s.id)).toEqual([
    'gate:asks',
    'check:b1',
    'gate:closed',
    'gate:near',
    'gate:probing',
    'done:b1',
  ]);
});

test('an old check says nothing', () => {
  const stale = {
    state: 'red',
    command: 'tsc',
    errors: 2,
    errorsInTree: 2,
    errorsByChild: [],
    tree: 'abc',
    at: at('17:00'),
    stale: true,
  } as const;
  expect(stripModels(view([batch([], { check: stale })]), readyHost, now, reader)).toEqual([]);
});

test('a button posts what the gate allows, with its model', () => {
  const strip = of(gate('claude', 'closedUntil', { model: 'opus', until: at('18:30') }));
  expect(strip?.buttons.map((b) => b.message)).toEqual([
    { type: 'gate', action: 'resumeNow', credential: 'claude', model: 'opus' },
  ]);
  expect(of(gate('claude', 'closedUntil', { until: at('18:30'), actions: [] }))?.buttons).toEqual([]);
});
