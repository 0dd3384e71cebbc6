import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { adapters } from '../../../src/supervisor/agents/index.js';
import type { Signal, VerdictContext } from '../../../src/supervisor/verdict/signal.js';
import { combine, verdict } from '../../../src/supervisor/verdict/verdict.js';

/** What a real agent printed in one scenario against a fake provider, with long tool output shortened. */
interface Transcript {
  readonly agent: string;
  readonly scenario: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timeZone: string;
  readonly stdout: readonly string[];
  readonly stderr: string;
}

const folder = 'test/unit/verdict/transcripts';
const transcripts = readdirSync(folder)
  .filter((name) => name.endsWith('.gz'))
  .flatMap((name) =>
    gunzipSync(readFileSync(`${folder}/${name}`))
      .toString('utf8')
      .trim()
      .split('\n'),
  )
  .map((line) => JSON.parse(line) as Transcript);

/** Classes that the scenario's end may have, by the scenario's name; the first row that fits counts. */
const expected: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(?:claude|codex)\/kill(?:group)?-SIGINT$/, ['cancelled', 'unknown', 'process_crash', 'none']],
  [/\/kill(?:group)?-SIG(?:INT|TERM)(?:-midstream)?$/, ['cancelled', 'unknown', 'process_crash', 'none']],
  [/\/kill(?:group)?-SIGKILL(?:-midstream)?$/, ['process_crash', 'unknown']],
  // The recorder ended it while it tried its refused key again and again.
  [/^claude\/expired-401-apikey$/, ['auth_denied', 'auth_expired', 'cancelled']],
  [/^gemini\/midcut-then-ok$/, ['stream_interrupted']],
  [/limit-429-credit-400|insufficient_quota|exceeded_current_quota/, ['credits_exhausted']],
  [/usage_not_included/, ['auth_denied']],
  [/access_terminated/, ['auth_denied', 'usage_limit']],
  [/limit-apikey-429-unified/, ['rate_limit', 'usage_limit']],
  [
    /limit-resume-other-cwd$|resume-bad-id|session-id-reuse|resume-no-prompt|root-|terminal-404|terminal-400$/,
    ['invalid_request', 'auth_denied', 'unknown'],
  ],
  [/terminal-(?:400-)?context/, ['context_overflow']],
  [
    /limit-(?:oauth|403|429|pro|no-reset|weekly)|chatgpt-auth-limit|hooks-limit|subagent-limit-foreground/,
    ['usage_limit', 'rate_limit'],
  ],
  [/expired|auth-401/, ['auth_expired', 'auth_denied']],
  [/ratelimit/, ['rate_limit', 'usage_limit']],
  [/overloaded/, ['overloaded']],
  [/midcut/, ['stream_interrupted', 'network']],
];

const stopped = transcripts.filter((one) => one.exitCode !== 0);
const well = transcripts.filter(
  (one) => one.exitCode === 0 && !/kill(?:group)?-SIG(?:INT|TERM|KILL)(?:-midstream)?$/.test(one.scenario),
);
/** Agents that were stopped by the recorder while they waited in silence: nothing that they printed tells. */
const silent = (one: Transcript): boolean =>
  one.exitCode === null && one.signal === 'SIGTERM' && !/^kill/.test(one.scenario);

describe('recorded transcripts, fed line by line', () => {
  it('has all agents', () => {
    expect(new Set(transcripts.map((one) => one.agent)).size).toBe(7);
    expect(transcripts.length).toBeGreaterThan(200);
  });

  describe.each(['as raw events', 'through the adapters'] as const)('%s', (way) => {
    const signalsOf = way === 'as raw events' ? rawSignals : adapterSignals;

    it.each(well.map((one) => [`${one.agent}/${one.scenario}`, one] as const))(
      '%s is well to its end',
      (_name, one) => {
        const signals = signalsOf(one);
        // Here one of several turns of a living session met a limit, and the next one went well.
        const turns = one.scenario === 'stream-json-input' ? ['usage_limit'] : [];
        expect(
          signals
            .map((signal) => verdict(signal, context(one, 'alive')))
            .filter((heard) => !turns.includes(heard.class))
            .filter((heard) => heard.class !== 'none')
            .map((heard) => [heard.class, heard.steps]),
        ).toEqual([]);
        expect(combine([...signals, ending(one)], context(one, 'ended')).class).toBe('none');
      },
    );

    it.each(
      stopped.filter((one) => !silent(one)).map((one) => [`${one.agent}/${one.scenario}`, one] as const),
    )('%s ends as its scenario', (name, one) => {
      const row = expected.find(([pattern]) => pattern.test(name));
      expect(row, 'a scenario without an expectation').toBeDefined();
      const signals = signalsOf(one);
      const heard = signals
        .map((signal) => verdict(signal, context(one, 'alive')).class)
        .filter((failure) => failure !== 'none');
      expect(
        heard.filter(
          (failure) =>
            !(row?.[1] ?? []).includes(failure) &&
            failure !== 'unknown' &&
            failure !== 'auth_denied' &&
            failure !== 'auth_expired',
        ),
      ).toEqual([]);
      const end = combine([...signals, ending(one)], context(one, 'ended'));
      expect(row?.[1], JSON.stringify(end)).toContain(end.class);
    });
  });
});

describe('times in recorded transcripts', () => {
  it.each([
    ['claude', 'limit-oauth-429-unified', '2026-11-30', 'event'],
    ['claude', 'limit-oauth-variant-seven_day', '2026-12-03', 'event'],
    ['claude', 'limit-oauth-variant-seven_day_opus', '2026-12-05', 'event'],
    ['codex', 'limit-weekly-3days', '2026-12-03', 'text'],
  ])('%s %s states its reset', (agent, scenario, day, source) => {
    const one = transcripts.find((candidate) => candidate.agent === agent && candidate.scenario === scenario);
    expect(one).toBeDefined();
    if (!one) return;
    const end = combine([...rawSignals(one), ending(one)], context(one, 'ended'));
    expect([
      end.class,
      end.resetSource,
      end.resetAt === null ? null : new Date(end.resetAt).toISOString().slice(0, 10),
    ]).toEqual(['usage_limit', source, day]);
  });
});

function context(one: Transcript, doing: VerdictContext['doing']): VerdictContext {
  return { observedAt: Date.parse('2026-11-30T00:30:00Z'), localTimeZone: one.timeZone, doing };
}

function rawSignals(one: Transcript): readonly Signal[] {
  return one.stdout.map((text): Signal => {
    let event: unknown;
    try {
      event = JSON.parse(text);
    } catch {
      return { channel: 'stdout', providerOrCli: one.agent, text };
    }
    return { channel: 'event', providerOrCli: one.agent, text, event };
  });
}

function adapterSignals(one: Transcript): readonly Signal[] {
  const parser = adapters[one.agent]?.parser();
  let signals: Signal[] = [];
  for (const text of one.stdout) {
    for (const event of parser?.push({ stream: 'stdout', text }) ?? []) {
      // A success that the agent tells is one, whatever was said before.
      if (event.type === 'done' && event.ok) signals = [];
      if (event.type === 'signal') signals.push(event.signal);
    }
  }
  return signals;
}

function ending(one: Transcript): Signal {
  const killed: Readonly<Record<string, number>> = { SIGKILL: 137, SIGTERM: 143, SIGINT: 130 };
  return {
    channel: 'stderr',
    providerOrCli: one.agent,
    text: one.stderr,
    exitCode: one.exitCode ?? killed[one.signal ?? ''] ?? 1,
  };
}
