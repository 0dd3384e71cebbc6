import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { adapters } from '../../../src/supervisor/agents/index.js';
import { combine } from '../../../src/supervisor/verdict/verdict.js';
import { eventsOf, outputLines } from './eventText.js';

const root = path.join(import.meta.dirname, 'transcripts');
const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

// What the adapters hand over must be enough for the verdict: the class that each recorded run really ended with.
it.each([
  ['claude/ok', 0, 'none'],
  ['claude/limit-oauth-429-unified', 1, 'usage_limit', 1796004532],
  ['claude/limit-oauth-variant-seven_day', 1, 'usage_limit', 1796261549],
  ['claude/limit-oauth-variant-no-reset', 1, 'usage_limit'],
  ['claude/limit-200-warning-headers-oauth', 0, 'none'],
  ['claude/limit-403-billing-cycle', 1, 'usage_limit'],
  ['claude/limit-429-credit-400', 1, 'credits_exhausted'],
  ['claude/expired-401-oauth', 1, 'auth_expired'],
  ['claude/midcut-persistent-maxretries1', 1, 'stream_interrupted'],
  ['claude/overloaded-529-then-ok', 0, 'none'],
  ['claude/subagent-limit-foreground', 1, 'usage_limit', 1796005676],
  ['claude/terminal-400-context', 1, 'context_overflow'],
  ['claude/kill-SIGINT', 0, 'cancelled'],
  ['claude/resume-bad-id', 1, 'invalid_request'],
  ['codex/ok', 0, 'none'],
  ['codex/limit-429-usage_limit_reached', 1, 'usage_limit', 1796006520],
  ['codex/limit-weekly-3days', 1, 'usage_limit', 1796261280],
  ['codex/limit-no-reset-team', 1, 'usage_limit'],
  ['codex/chatgpt-auth-401', 1, 'auth_expired'],
  ['codex/midcut-then-ok', 0, 'none'],
  ['codex/overloaded-503-persistent-noretry', 1, 'overloaded'],
  ['codex/terminal-context-sse', 1, 'context_overflow'],
  ['codex/resume-bad-id', 1, 'invalid_request'],
  ['kimi/ok', 0, 'none'],
  ['kimi/limit-403-permission_error', 1, 'usage_limit'],
  ['kimi/limit-429-exceeded_current_quota', 1, 'credits_exhausted'],
  ['kimi/expired-401', 1, 'auth_denied'],
  ['kimi/overloaded-503-persistent-attempts1', 1, 'overloaded'],
  ['kimi/midcut-persistent-attempts1', 1, 'stream_interrupted'],
  ['kimi/midcut-then-ok', 0, 'none'],
  ['gemini/limit-429-daily', 173, 'usage_limit'],
  ['qwen/limit-403-permission_error', 1, 'usage_limit'],
  ['opencode/limit-403-permission_error', 1, 'usage_limit'],
  ['copilot/limit-403-permission_error', 1, 'usage_limit'],
  ['cursor/documented', 0, 'none'],
  ['acp/claude', 1, 'usage_limit', 1796006106],
  ['acp/codex', 1, 'usage_limit', 1796007900],
  ['acp/copilot', 1, 'auth_expired'],
  ['acp/gemini', 1, 'usage_limit'],
  ['acp/kimi', 1, 'usage_limit'],
  ['acp/opencode', 1, 'usage_limit'],
  ['acp/qwen', 1, 'usage_limit'],
] as const)('%s, exit %i: %s', (scenario, exitCode, failure, resetsAt?: number) => {
  const [agent = ''] = scenario.split('/');
  const parser = adapters[agent]?.parser();
  if (parser === undefined) throw new Error(`no adapter ${agent}`);
  const file = path.join(root, scenario);
  const events = eventsOf(parser, outputLines(read(`${file}.stdout`), read(`${file}.stderr`)));
  const signals = events.flatMap((event) => (event.type === 'signal' ? [event.signal] : []));
  const said = combine([...signals, { channel: 'stderr', text: '', exitCode }], {
    observedAt: Date.UTC(2026, 10, 30, 1, 10),
    localTimeZone: 'UTC',
    doing: 'ended',
  });
  expect([said.class, said.resetAt]).toEqual([failure, resetsAt === undefined ? null : resetsAt * 1000]);
});

it.each(['claude', 'qwen'])(
  '%s: a limit in the shape of a success is a stop; an answer about limits is none',
  (agent) => {
    const banner = 'Claude AI usage limit reached|1796004532';
    expect(endOf(agent, banner)).toEqual({ done: [false], class: 'usage_limit', resetAt: 1796004532_000 });
    const answer = `The banner "${banner}" is parsed in src/limits.ts now, and its test is green.`;
    expect(endOf(agent, answer)).toEqual({ done: [true], class: 'none', resetAt: null });
  },
);

/** What is made of a run that says it succeeded with this answer and exits with 0. */
function endOf(agent: string, result: string): unknown {
  const parser = adapters[agent]?.parser();
  if (parser === undefined) throw new Error(`no adapter ${agent}`);
  const line = JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result });
  const events = eventsOf(parser, outputLines(`${line}\n`, ''));
  const signals = events.flatMap((event) => (event.type === 'signal' ? [event.signal] : []));
  const said = combine([...signals, { channel: 'stderr', text: '', exitCode: 0 }], {
    observedAt: Date.UTC(2026, 10, 30, 1, 10),
    localTimeZone: 'UTC',
    doing: 'ended',
  });
  const done = events.flatMap((event) => (event.type === 'done' ? [event.ok] : []));
  return { done, class: said.class, resetAt: said.resetAt };
}

it.each([
  ['five_hour', 'usage_limit', 'five_hour'],
  [undefined, 'usage_limit', 'unknown'],
  ['minute', 'rate_limit', 'minute'],
  ['second', 'rate_limit', 'minute'],
])('a rejected limit of the line protocol with the window %s is a %s', (window, failure, kept) => {
  const parser = adapters['command']?.parser();
  const line = JSON.stringify({ type: 'limit', status: 'rejected', resetsAt: 1796004532, window });
  const events = parser?.push({ stream: 'stdout', text: line }) ?? [];
  const signals = events.flatMap((event) => (event.type === 'signal' && event.final ? [event.signal] : []));
  const said = combine([...signals, { channel: 'stderr', text: '', exitCode: 1 }], {
    observedAt: Date.UTC(2026, 10, 30, 1, 10),
    localTimeZone: 'UTC',
    doing: 'ended',
  });
  expect([said.class, said.window, said.resetAt, said.resetSource]).toEqual([
    failure,
    kept,
    1796004532_000,
    'event',
  ]);
});

// Cursor's agent tells a failure on stderr only.
it.each([
  [read(path.join(root, 'cursor/limit-free.stderr')), 'usage_limit'],
  [
    "Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY environment variable.",
    'auth_expired',
  ],
])('cursor ends with %j: %s', (text, failure) => {
  const said = combine([{ channel: 'stderr', providerOrCli: 'cursor', text, exitCode: 1 }], {
    observedAt: Date.UTC(2026, 10, 30, 1, 10),
    localTimeZone: 'UTC',
    doing: 'ended',
  });
  expect(said.class).toBe(failure);
});
