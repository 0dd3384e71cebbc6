import { describe, expect, it } from 'vitest';
import { judgeCase, readCases, report, type Outcome } from '../../../bench/verdictReport.js';

const outcomes = readCases('test/unit/verdict/corpus/cases.jsonl').map(judgeCase);

describe('the corpus of collected messages', () => {
  it.each(outcomes.map((one) => [one.case.id, one] as const))(
    '%s means what its source meant',
    (_id, one) => {
      expect(summary(one)).toEqual({
        classRight: true,
        timeRight: true,
        timeInvented: false,
        falsePause: false,
        detailsRight: true,
      });
    },
  );

  it('has at least 99 % of the classes and of the stated times right, and no false pause', () => {
    const timed = outcomes.filter((one) => one.timeRight !== null);
    const text = report(outcomes);
    expect(outcomes.filter((one) => one.classRight).length / outcomes.length, text).toBeGreaterThanOrEqual(
      0.99,
    );
    expect(timed.filter((one) => one.timeRight).length / timed.length, text).toBeGreaterThanOrEqual(0.99);
    expect(
      outcomes.filter((one) => one.falsePause),
      text,
    ).toEqual([]);
  });

  it('schedules nothing from a time that is only shown in a warning', () => {
    const advised = outcomes.filter((one) => typeof one.case.expect.advisory_reset_at === 'string');
    expect(advised.length).toBeGreaterThan(5);
    expect(advised.filter((one) => one.answer['resetAt'] !== null)).toEqual([]);
  });
});

function summary(one: Outcome): object {
  const { classRight, timeRight, timeInvented, falsePause, detailsRight } = one;
  return { classRight, timeRight: timeRight !== false, timeInvented, falsePause, detailsRight };
}
