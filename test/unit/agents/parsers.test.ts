import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../../src/supervisor/agents/agent.js';
import { adapters } from '../../../src/supervisor/agents/index.js';
import { filesReadBy } from '../../../src/supervisor/agents/shellReads.js';
import { verdict } from '../../../src/supervisor/verdict/verdict.js';
import { eventText, eventsOf, outputLines } from './eventText.js';

function check(agent: string, lines: readonly (string | object)[], expected: string, stderr = '') {
  const stdout = lines
    .map((line) => (typeof line === 'string' ? line : JSON.stringify(line)) + '\n')
    .join('');
  const adapter = adapters[agent];
  if (adapter === undefined) throw new Error(`no adapter ${agent}`);
  expect(eventText(eventsOf(adapter.parser(), outputLines(stdout, stderr)))).toBe(expected);
}

describe('the line protocol', () => {
  it('has an event for each of its lines', () => {
    check(
      'command',
      [
        { type: 'session', id: 's1' },
        { type: 'read', path: 'src/a.ts' },
        { type: 'writing', path: 'src/b.ts' },
        { type: 'write', path: 'src/b.ts' },
        { type: 'shell', command: 'npx tsc', exitCode: 2 },
        { type: 'decision', text: 'use a map' },
        { type: 'next', items: ['first', { text: 'second', done: true }] },
        { type: 'usage', input: 10, cachedInput: 4, output: 2 },
        { type: 'text', text: 'usage limit reached, says the log' },
        { type: 'limit', status: 'warning', resetsAt: 1, window: 'five_hour' },
        { type: 'limit', status: 'rejected', resetsAt: 2, window: 'five_hour' },
        { type: 'error', message: 'overloaded', status: 529, headers: { 'retry-after': 3 } },
        { type: 'done', result: { ok: 1 } },
      ],
      [
        'session s1',
        'read src/a.ts',
        'writing src/b.ts (command)',
        'write src/b.ts (command)',
        'shell 2 npx tsc',
        'decision use a map',
        'next [ ] first [x] second',
        'usage add input 10 cached 4 output 2',
        'text usage limit reached, says the log',
        'signal event command <limit> {"type":"limit","status":"warning","resetsAt":1,"window":"five_hour"}',
        'signal final event command <limit> {"type":"limit","status":"rejected","resetsAt":2,"window":"five_hour"}',
        'signal final event command 529 <error> overloaded',
        'done ok {"ok":1}',
        '',
      ].join('\n'),
    );
  });

  it('takes anything else as log text, JSON of other kinds and stderr too', () => {
    const line = '{"type":"done","result":"x"}';
    check(
      'command',
      ['Compiling...', '{"type":"weather"}', '[1]', '{"type":"read"}'],
      expected(['Compiling...', '{"type":"weather"}', '[1]', '{"type":"read"}', line]),
      line + '\n',
    );
    function expected(texts: readonly string[]) {
      return texts.map((text) => `unrecognized ${text}\n`).join('');
    }
  });
});

describe('claude', () => {
  const call = (id: string, name: string, input: object) => ({
    type: 'assistant',
    message: { id: `msg_${id}`, content: [{ type: 'tool_use', id, name, input }] },
    parent_tool_use_id: null,
  });
  const answer = (id: string, content: string, more: object = {}) => ({
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: id, content, ...more }] },
  });

  it('turns its plans into next steps', () => {
    check(
      'claude',
      [
        call('a', 'TodoWrite', {
          todos: [
            { content: 'one', status: 'completed' },
            { content: 'two', status: 'pending' },
          ],
        }),
        answer('a', 'Todos have been modified'),
        call('b', 'TaskCreate', { subject: 'three' }),
        answer('b', 'Task #1 created successfully: three'),
        call('c', 'TaskUpdate', { taskId: '1', status: 'completed' }),
      ],
      'next [x] one [ ] two\nnext [ ] three\nnext [x] three\n',
    );
  });

  it('reports no read, no write and no signal for a tool call that failed, whatever its text says', () => {
    check(
      'claude',
      [
        call('a', 'Read', { file_path: '/x' }),
        answer('a', 'usage limit reached', { is_error: true }),
        call('b', 'Write', { file_path: '/y' }),
        answer('b', 'no space', { is_error: true }),
      ],
      'writing /y (Write)\n',
    );
  });

  it('takes an exit code where one is told, and none for a command that goes on in the background', () => {
    check(
      'claude',
      [
        call('a', 'Bash', { command: 'false' }),
        answer('a', 'Exit code 3\nboom', { is_error: true }),
        call('b', 'Bash', { command: 'serve' }),
        {
          ...answer('b', 'Command running in background with ID: 1'),
          tool_use_result: { backgroundTaskId: '1' },
        },
      ],
      'shellStarted false\nshell 3 false\nshellStarted serve\nshell ? serve\n',
    );
  });

  it('knows a finished tool call from the head of a result that was cut', () => {
    const cut = JSON.stringify({
      type: 'user',
      message: {
        role: 'user',
        content: [{ tool_use_id: 'a', type: 'tool_result', content: 'x'.repeat(300_000) }],
      },
    });
    check('claude', [call('a', 'Read', { file_path: '/big' }), cut.slice(0, 256 * 1024)], 'read /big\n');
  });

  it('reads through colours', () => {
    check('claude', ['\u001b[2m{"type":"system","subtype":"init","session_id":"s"}\u001b[0m'], 'session s\n');
  });
});

describe('codex', () => {
  it('takes a plan, a refused command and a failed change for what they are, and an item called error for a warning', () => {
    check(
      'codex',
      [
        {
          type: 'item.started',
          item: { id: '1', type: 'todo_list', items: [{ text: 'one', completed: false }] },
        },
        {
          type: 'item.completed',
          item: {
            id: '2',
            type: 'command_execution',
            command: "bash -lc 'rm x'",
            status: 'declined',
            exit_code: null,
          },
        },
        {
          type: 'item.started',
          item: {
            id: '3',
            type: 'file_change',
            changes: [{ path: '/a', kind: 'add' }],
            status: 'in_progress',
          },
        },
        {
          type: 'item.completed',
          item: { id: '3', type: 'file_change', changes: [{ path: '/a', kind: 'add' }], status: 'failed' },
        },
        { type: 'item.completed', item: { id: '4', type: 'error', message: 'unknown model, usage limit' } },
      ],
      'next [ ] one\ndenied rm x\nwriting /a (apply_patch)\n',
    );
  });
});

describe('kimi', () => {
  it('tells good from failed tool calls by their text', () => {
    const call = (id: string, name: string, input: object) => ({
      role: 'assistant',
      tool_calls: [{ type: 'function', id, function: { name, arguments: JSON.stringify(input) } }],
    });
    const answer = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content });
    check(
      'kimi',
      [
        call('a', 'Bash', { command: 'npx tsc' }),
        answer('a', 'a.ts(1,1): error\nCommand failed with exit code: 2.'),
        call('b', 'Read', { path: '/none' }),
        answer('b', '"/none" does not exist.'),
        call('c', 'TodoList', { todos: [{ title: 'one', status: 'done' }] }),
        answer('c', 'Todo list updated.'),
        call('d', 'TodoList', {}),
        answer('d', 'Current todo list:'),
      ],
      'shellStarted npx tsc\nshell 2 npx tsc\nnext [x] one\n',
    );
  });
});

describe('codex beside its stream', () => {
  it('shows a refused change that it tells on stderr only, and takes its log for log', () => {
    const log = '2026-11-30T03:25:03.991112Z ERROR codex_core::tools::router: error=';
    const refused = 'patch rejected: writing outside of the project; rejected by user approval settings';
    check(
      'codex',
      [],
      `denied ${refused}\n`,
      `${log}${refused}\n${log}unsupported call: update_plan\nwarning: usage limit near\n`,
    );
  });

  it('tells the exact reset from the newest entry of its session log that states a window', () => {
    const entry = (primary: object | null) =>
      JSON.stringify({
        type: 'event_msg',
        payload: { type: 'token_count', rate_limits: { primary, secondary: null } },
      });
    const window = { used_percent: 100, window_minutes: 300, resets_at: 1796009183 };
    const text = [
      's_at":1}}}',
      entry({ ...window, resets_at: 1 }),
      entry(window),
      entry(null),
      '{"type":"event_msg","pay',
    ].join('\n');
    const log = adapters['codex']?.sessionLog;
    const headers = {
      'x-codex-primary-used-percent': '100',
      'x-codex-primary-window-minutes': '300',
      'x-codex-primary-reset-at': '1796009183',
    };
    const [event] = log?.limits(text) ?? [];
    expect(event).toMatchObject({
      type: 'signal',
      final: false,
      signal: { channel: 'http', httpStatus: 429, headers },
    });
    if (event?.type !== 'signal') throw new Error('no signal');
    const context = { observedAt: 1796009172_000, localTimeZone: 'UTC', doing: 'ended' } as const;
    expect(verdict(event.signal, context)).toMatchObject({
      class: 'usage_limit',
      window: 'five_hour',
      resetAt: 1796009183_000,
      resetSource: 'header',
    });
    expect(log?.limits(entry(null))).toEqual([]);
    expect(log?.folder({ HOME: '/h' })).toBe('/h/.codex/sessions');
    expect(log?.isLog('/h/.codex/sessions/2026/11/30/rollout-2026-11-30T03-26-12-01a2.jsonl', '01a2')).toBe(
      true,
    );
  });
});

describe('kimi on stderr', () => {
  it('ends with its own error only: what a tool prints there is no signal', () => {
    const error = 'error: failed to run prompt: provider.auth_error: 403 usage limit for this billing cycle';
    check(
      'kimi',
      [],
      `signal final stderr kimi <> ${error}\n`,
      `error: usage limit reached\nerror[E0308]: mismatched types\n${error}\n`,
    );
  });
});

describe.each(Object.keys(adapters))('the parser of %s', (agent) => {
  it('never throws: any text gives events, at least one a line', () => {
    const keys = [
      'type',
      'role',
      'message',
      'item',
      'content',
      'error',
      'tool_calls',
      'usage',
      'items',
      'subtype',
      'part',
      'data',
      'session_id',
    ];
    const words = [
      'assistant',
      'user',
      'result',
      'system',
      'item.completed',
      'tool',
      'meta',
      'turn.failed',
      'error',
      'limit',
      'next',
      'text',
      'tool_use',
      'api_retry',
    ];
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(...words),
        fc.anything({ maxDepth: 0 }),
        fc.array(tie('value'), { maxLength: 3 }),
        tie('object'),
      ),
      object: fc.dictionary(fc.constantFrom(...keys), tie('value')),
    }));
    const line = fc.oneof(
      fc.string({ unit: 'binary' }),
      json.object.map(
        (value) =>
          JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part)) ??
          '',
      ),
    );
    const stream = fc.constantFrom('stdout' as const, 'stderr' as const);
    fc.assert(
      fc.property(fc.array(fc.record({ stream, text: line })), (lines) => {
        const parser = adapters[agent]?.parser();
        const events: (readonly AgentEvent[])[] = lines.map((entry) => parser?.push(entry) ?? []);
        return events.every((some) => some.length > 0);
      }),
      { numRuns: 100, seed: 7 },
    );
  });
});

describe('files that a shell command reads', () => {
  it.each([
    ['cat a.txt', ['a.txt']],
    [`/bin/bash -lc 'cat a.txt "b c.txt"'`, ['a.txt', 'b c.txt']],
    [`bash -lc "sed -n '1,200p' src/a.ts && head -n 5 b.ts"`, ['src/a.ts', 'b.ts']],
    ['nl -ba src/a.ts | tail -n 20', ['src/a.ts']],
    ['cat $FILE', []],
    ['cat > a.txt', []],
    ['sed -i s/a/b/ a.txt', []],
    ['rg pattern', []],
  ])('%s', (command, files) => {
    expect(filesReadBy(command)).toEqual(files);
  });
});
