import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Temporal } from 'temporal-polyfill';
import { judgeCase, readCases, type CorpusCase } from '../../../bench/verdictReport.js';
import { worstTexts } from '../../../bench/verdict.js';
import { long, often, part } from '../../support/long.js';
import { classifyLine } from '../../../src/supervisor/verdict/classify.js';
import type { Signal, SignalChannel, VerdictContext } from '../../../src/supervisor/verdict/signal.js';
import { combine, verdict } from '../../../src/supervisor/verdict/verdict.js';

const cases = readCases('test/unit/verdict/corpus/cases.jsonl');
const seed = { seed: 20260610 };
const context: VerdictContext = {
  observedAt: Date.parse('2026-06-10T10:00:00Z'),
  localTimeZone: 'Europe/Berlin',
  doing: 'ended',
};
const channel = fc.constantFrom<SignalChannel>('stdout', 'stderr', 'event', 'result', 'http');

describe('a verdict', () => {
  it('never throws, whatever bytes it is given', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.json(),
      fc
        .array(
          fc.constantFrom(
            'limit',
            'reached',
            'resets',
            ' in ',
            '99999999999h',
            '31 feb',
            '{"',
            '":',
            '}',
            '\n',
            'Feb 30 at 25:99pm',
            '(Not/AZone)',
            '|',
            '1e400',
            '\u0000',
            '😀',
            'usage ',
          ),
          { maxLength: 30 },
        )
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(
        channel,
        text,
        fc.option(fc.integer({ min: -300, max: 4294967295 }), { nil: undefined }),
        fc.option(fc.integer({ min: 0, max: 999 }), { nil: undefined }),
        fc.dictionary(
          fc.constantFrom('retry-after', 'x-ratelimit-reset', 'date', 'x-codex-primary-used-percent'),
          fc.string(),
        ),
        (where, words, exitCode, httpStatus, headers) => {
          const signal: Signal = { channel: where, text: words, exitCode, httpStatus, headers };
          for (const doing of ['alive', 'retrying', 'ended', 'unknown'] as const) {
            const read = verdict(signal, { ...context, doing });
            expect(read.class === 'none' ? read.resetAt : null).toBeNull();
            combine([signal, { channel: 'stderr', text: '', exitCode: 1 }], { ...context, doing });
          }
        },
      ),
      { ...seed, numRuns: often(400, 50) },
    );
  });

  it('does not change when an agent talks about limits, or a tool prints them', () => {
    const texts = cases.filter((one) => one.expect.class !== 'none').map((one) => one.text);
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.constantFrom('assistant', 'user', 'codex', 'gemini', 'tool', 'rpc', 'kimi'),
        (text, how) => {
          const event = told(how, text);
          const signals: readonly Signal[] = [
            { channel: 'event', text: JSON.stringify(event), event },
            {
              channel: 'event',
              text: '{"type":"result","subtype":"success","is_error":false,"result":"Done."}',
            },
            { channel: 'stderr', text: '', exitCode: 0 },
          ];
          expect(
            verdict(signals[0] ?? { channel: 'event', text: '' }, { ...context, doing: 'alive' }).class,
          ).toBe('none');
          expect(combine(signals, context).class).toBe('none');
        },
      ),
      { ...seed, numRuns: often(600, 120) },
    );
  });

  it('reads a time with a stated zone alike on every machine', () => {
    const stated = cases.filter(
      (one) => one.expect.reset_at !== null && /iana|UTC|epoch|hdr|iso-|go-dur/.test(one.notation ?? ''),
    );
    expect(stated.length).toBeGreaterThan(40);
    for (const one of part(stated, 4)) {
      const answers = ['Pacific/Kiritimati', 'America/Los_Angeles', 'Asia/Kolkata', 'UTC'].map(
        (zone) =>
          classifyLine(JSON.stringify({ ...one, local_timezone: zone }), { explain: false }).json['resetAt'],
      );
      expect(new Set(answers).size, `${one.id} ${answers.join(' ')}`).toBe(1);
    }
  });
});

const zones = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Pacific/Auckland',
  'America/St_Johns',
  'UTC',
  'Africa/Casablanca',
];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

/** Each notation writes a moment, and says how far ahead it can say one without doubt. */
const notations: Readonly<
  Record<
    string,
    { readonly within: number; readonly write: (at: Temporal.ZonedDateTime, from: number) => string }
  >
> = {
  'clock of 12 hours': { within: 22, write: (at) => `${clock12(at)} (${at.timeZoneId})` },
  'clock of 24 hours': { within: 22, write: (at) => `at ${clock24(at)} (${at.timeZoneId})` },
  'month and day': {
    within: 24 * 100,
    write: (at) => `${months[at.month - 1] ?? ''} ${at.day} at ${clock12(at)} (${at.timeZoneId})`,
  },
  'month, ordinal day, year': {
    within: 24 * 400,
    write: (at) =>
      `on ${months[at.month - 1] ?? ''} ${at.day}${ordinal(at.day)}, ${at.year} ${clock12(at)} (${at.timeZoneId})`,
  },
  'day before month': {
    within: 24 * 100,
    write: (at) => `${at.day} ${months[at.month - 1] ?? ''} ${at.year}, ${clock24(at)} (${at.timeZoneId})`,
  },
  weekday: {
    within: 24 * 6,
    write: (at) => `${days[at.dayOfWeek - 1] ?? ''} ${clock12(at)} (${at.timeZoneId})`,
  },
  'ISO with offset': {
    within: 24 * 400,
    write: (at) => `at ${at.toString({ timeZoneName: 'never', smallestUnit: 'second' })}`,
  },
  'ISO in UTC': {
    within: 24 * 400,
    write: (at) => `at ${at.toInstant().toString({ smallestUnit: 'second' })}`,
  },
  'HTTP date': { within: 24 * 400, write: (at) => `on ${new Date(at.epochMilliseconds).toUTCString()}` },
  'epoch seconds': { within: 24 * 400, write: (at) => `at ${Math.round(at.epochMilliseconds / 1000)}` },
  'epoch milliseconds': { within: 24 * 400, write: (at) => `at ${at.epochMilliseconds}` },
  'Go duration': {
    within: 24 * 30,
    write: (at, from) => `in ${parts(at.epochMilliseconds - from, ['d', 'h', 'm', 's'], '')}`,
  },
  'spoken duration': {
    within: 24 * 30,
    write: (at, from) =>
      `in ${parts(at.epochMilliseconds - from, [' days', ' hours', ' minutes', ' seconds'], ' ')}`,
  },
  'ISO duration': {
    within: 24 * 30,
    write: (at, from) => `in PT${Math.round((at.epochMilliseconds - from) / 1000)}S`,
  },
  Chinese: {
    within: 24 * 300,
    write: (at) => `时间：${at.year}年${at.month}月${at.day}日 ${clock24(at)} (${at.timeZoneId}) 重置`,
  },
  German: {
    within: 24 * 300,
    write: (at) =>
      `wird am ${at.day}.${at.month}.${at.year} um ${clock24(at)} Uhr (${at.timeZoneId}) zurückgesetzt`,
  },
};

describe('a moment written and read again', () => {
  const edges = [
    '2026-03-29T00:10:00Z',
    '2026-10-25T00:10:00Z',
    '2026-03-08T06:10:00Z',
    '2026-11-01T05:10:00Z',
    '2026-12-31T20:00:00Z',
    '2028-02-28T22:00:00Z',
    '2026-04-04T14:00:00Z',
    '2026-06-10T10:00:00Z',
  ].map((iso) => Date.parse(iso));

  it.each(Object.entries(notations))('is the same: %s', (_name, { within, write }) => {
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.constantFrom(...edges),
        fc.integer({ min: 2, max: within * 60 }),
        (zone, from, minutes) => {
          const at = Temporal.Instant.fromEpochMilliseconds(from + minutes * 60_000).toZonedDateTimeISO(zone);
          const text = `Usage limit reached, resets ${write(at, from)}`;
          const read = verdict(
            { channel: 'stdout', text, exitCode: 1 },
            { observedAt: from, localTimeZone: 'Asia/Tokyo', doing: 'ended' },
          );
          // A clock that comes twice is its first; one of the two is then meant.
          const twice = [
            at.epochMilliseconds,
            at.epochMilliseconds - 3_600_000,
            at.epochMilliseconds + 3_600_000,
            at.epochMilliseconds - 1_800_000,
            at.epochMilliseconds + 1_800_000,
          ];
          const allowed = isDoubled(at) ? twice : [at.epochMilliseconds];
          expect(
            allowed,
            `${text} from ${new Date(from).toISOString()} read ${String(read.resetAt && new Date(read.resetAt).toISOString())}`,
          ).toContain(read.resetAt);
        },
      ),
      { ...seed, numRuns: often(60, 15) },
    );
  });
});

describe('a mutated message', () => {
  const failures = cases.filter((one) => one.expect.class !== 'none' && one.text.length > 12);
  const mutations: Readonly<Record<string, (text: string, at: number) => string>> = {
    'a letter dropped': (text, at) => text.slice(0, at) + text.slice(at + 1),
    'a letter doubled': (text, at) => text.slice(0, at) + (text[at] ?? '') + text.slice(at),
    'cut at its end': (text, at) => text.slice(0, Math.max(10, text.length - (at % 12))),
    wrapped: (text, at) => wrapAt(text, at),
    'in capitals': (text) => (text.includes('{') ? text : text.toUpperCase()),
    'with more spaces': (text) => text.replace(/ /g, '  '),
  };

  it.each(Object.entries(mutations))('is still read right: %s', (_name, mutate) => {
    let right = 0;
    failures.forEach((one, index) => {
      const mutated: CorpusCase = { ...one, text: mutate(one.text, (index * 7919 + 13) % one.text.length) };
      const outcome = judgeCase(mutated);
      if (outcome.classRight) right++;
    });
    expect(right / failures.length).toBeGreaterThan(0.9);
  });
});

describe('bounded work', () => {
  it('reads the worst 64 KiB in some milliseconds of processor time', () => {
    for (const [name, signal] of worstTexts()) {
      if (!long && !name.endsWith('stderr')) continue;
      for (let warm = 0; warm < often(3, 1); warm++) verdict(signal, context);
      const times = Array.from({ length: often(5, 2) }, () => {
        const start = process.cpuUsage();
        verdict(signal, context);
        return process.cpuUsage(start).user / 1000;
      });
      // Ten times the goal of the bench: this machine may be busy, but nothing quadratic passes.
      expect(Math.min(...times), name).toBeLessThan(50);
    }
  });
});

function told(how: string, text: string): object {
  switch (how) {
    case 'assistant':
      return { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text }] } };
    case 'user':
      return {
        type: 'user',
        message: { role: 'user', content: [{ type: 'tool_result', is_error: true, content: text }] },
      };
    case 'codex':
      return {
        type: 'item.completed',
        item: { type: 'command_execution', aggregated_output: text, exit_code: 1, status: 'failed' },
      };
    case 'gemini':
      return { type: 'message', role: 'assistant', content: text, delta: true };
    case 'tool':
      return {
        type: 'tool_use',
        part: { type: 'tool', state: { status: 'error', error: text, output: text } },
      };
    case 'rpc':
      return {
        jsonrpc: '2.0',
        method: 'session/update',
        params: { update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
      };
    default:
      return { role: 'assistant', content: text };
  }
}

function clock12(at: Temporal.ZonedDateTime): string {
  return `${((at.hour + 11) % 12) + 1}:${String(at.minute).padStart(2, '0')}${at.hour < 12 ? 'am' : 'pm'}`;
}

function clock24(at: Temporal.ZonedDateTime): string {
  return `${String(at.hour).padStart(2, '0')}:${String(at.minute).padStart(2, '0')}`;
}

function ordinal(day: number): string {
  return day % 10 === 1 && day !== 11
    ? 'st'
    : day % 10 === 2 && day !== 12
      ? 'nd'
      : day % 10 === 3 && day !== 13
        ? 'rd'
        : 'th';
}

function parts(ms: number, units: readonly string[], gap: string): string {
  const seconds = Math.round(ms / 1000);
  const values = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
    seconds % 60,
  ];
  return values.flatMap((value, index) => (value > 0 ? [`${value}${units[index] ?? ''}`] : [])).join(gap);
}

function isDoubled(at: Temporal.ZonedDateTime): boolean {
  const plain = at.toPlainDateTime();
  return (
    plain.toZonedDateTime(at.timeZoneId, { disambiguation: 'earlier' }).epochMilliseconds !==
    plain.toZonedDateTime(at.timeZoneId, { disambiguation: 'later' }).epochMilliseconds
  );
}

function wrapAt(text: string, at: number): string {
  const space = text.indexOf(' ', at);
  return space < 0 || text.includes('{') ? text : `${text.slice(0, space)}\n${text.slice(space + 1)}`;
}
