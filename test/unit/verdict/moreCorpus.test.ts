import { describe, expect, it } from 'vitest';
import { judgeCase, readCases, report } from '../../../bench/verdictReport.js';

const outcomes = readCases('test/unit/verdict/corpus/more.jsonl').map(judgeCase);

describe('messages in other words, of other providers, in other notations', () => {
  it('has at least 150 cases', () => {
    expect(outcomes.length).toBeGreaterThanOrEqual(150);
  });

  it.each(outcomes.map((one) => [one.case.id, one] as const))('%s means what it says', (_id, one) => {
    const { classRight, timeRight, timeInvented, falsePause, detailsRight } = one;
    expect({ classRight, timeRight: timeRight !== false, timeInvented, falsePause, detailsRight }).toEqual({
      classRight: true,
      timeRight: true,
      timeInvented: false,
      falsePause: false,
      detailsRight: true,
    });
  });

  it('pauses nobody who is healthy', () => {
    expect(
      outcomes.filter((one) => one.falsePause),
      report(outcomes),
    ).toEqual([]);
  });
});
