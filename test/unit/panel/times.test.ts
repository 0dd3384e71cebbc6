import { describe, expect, test } from 'vitest';
import {
  age,
  clock,
  diskSize,
  fullInstant,
  instant,
  longCountdown,
  shortCountdown,
  tokens,
  wholeMinutes,
  type Reader,
} from '../../../src/webview/times.js';

const berlin: Reader = { locale: 'en-GB', hour12: false, zone: 'Europe/Berlin' };
const thursday = Date.parse('2026-11-26T17:17:55+01:00');
const from = (iso: string) => Date.parse(iso);

describe('an instant is said in the reader’s zone and habit', () => {
  test.each([
    ['today only the time', '2026-11-26T18:30:00+01:00', '18:30'],
    ['today, stated in another zone', '2026-11-26T09:30:00-08:00', '18:30'],
    ['within six days the weekday', '2026-11-30T09:00:00+01:00', 'Mon 09:00'],
    ['tomorrow, though only hours away', '2026-11-27T00:30:00+01:00', 'Fri 00:30'],
    ['later the date', '2026-12-07T09:00:00+01:00', '7 Dec, 09:00'],
    ['earlier than today the date', '2026-11-25T09:00:00+01:00', '25 Nov, 09:00'],
  ])('%s', (_title, iso, expected) => {
    expect(instant(from(iso), thursday, berlin)).toBe(expected);
  });

  test('a 12 hour clock is kept', () => {
    expect(
      clock(from('2026-11-26T18:30:00+01:00'), { ...berlin, locale: 'en-US', hour12: true }).replace(
        /\s/g,
        ' ',
      ),
    ).toBe('06:30 PM');
  });

  test('midnight is 00:00, not 24:00', () => {
    expect(clock(from('2026-11-26T00:00:00+01:00'), { ...berlin, locale: 'en-US' })).toBe('00:00');
  });

  test('a hover names weekday and date', () => {
    expect(fullInstant(from('2026-11-30T09:00:00+01:00'), thursday, berlin)).toBe('Mon 30 Nov, 09:00');
  });

  test('an unknown locale falls back instead of failing', () => {
    expect(clock(thursday, { ...berlin, locale: 'no such locale' })).toMatch(/17[:.]17/);
  });
});

describe('a countdown', () => {
  test.each([
    [4_325_000, '1 h 12 min 05 s', '1:12:05'],
    [3_600_000, '1 h 00 min 00 s', '1:00:00'],
    [249_000, '4 min 09 s', '4:09'],
    [59_000, '59 s', '0:59'],
    [200, '1 s', '0:01'],
    [0, 'now', 'now'],
    [-90_000, 'now', 'now'],
  ])('of %i ms says the same in strip and row', (left, long, short) => {
    expect([longCountdown(left, 0), shortCountdown(left, 0)]).toEqual([long, short]);
  });
});

test.each([
  [20_000, '<1 min'],
  [60_000, '1 min'],
  [33 * 60_000, '33 min'],
  [106 * 60_000, '1 h 46'],
])('%i ms of work are %s', (ms, text) => {
  expect(wholeMinutes(ms)).toBe(text);
});

test('a short while ago is in seconds, a clock set back is not negative', () => {
  expect([age(4000), age(-5000), age(240_000)]).toEqual(['4 s', '0 s', '4 min']);
});

test.each([
  [0, '0'],
  [999, '999'],
  [1000, '1k'],
  [183_600, '184k'],
  [999_499, '999k'],
  [999_500, '1.0M'],
  [1_240_000, '1.2M'],
])('%i tokens are %s', (n, text) => {
  expect(tokens(n)).toBe(text);
});

test.each([
  [0, '0 kB'],
  [4096, '5 kB'],
  [12_300_000, '12 MB'],
  [1_440_000_000, '1.4 GB'],
])('%i bytes on the disk are %s', (n, text) => {
  expect(diskSize(n)).toBe(text);
});
