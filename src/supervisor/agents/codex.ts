import type { Adapter, AgentEvent, AgentParser, CommandLine, LaunchRequest } from './agent.js';
import {
  type JsonObject,
  exitCodeOf,
  headField,
  jsonLine,
  numberOf,
  objectOf,
  objectsOf,
  plainText,
  textOf,
  tokensOf,
  unrecognized,
} from './jsonLine.js';
import { commandOf, modelArgs } from './launch.js';
import { filesReadBy, withoutShell } from './shellReads.js';
import { type ToolUse, nextItems, openToolUses } from './toolUse.js';

/** Codex: `codex exec --json`. */
export const codex: Adapter = {
  name: 'codex',
  programs: ['codex'],
  traits: { sessionId: 'printed', stopSignal: 'SIGINT', resumeElsewhere: 'new', silentFor: 300_000 },
  signIn: ['codex', 'login'],
  credentialFiles: ['~/.codex/auth.json'],
  commandLine: (request) => line(request, [], []),
  resumeLine: (request, session) => line(request, ['resume'], [session]),
  parser: codexParser,
  sessionLog: {
    folder: (env) => `${env['CODEX_HOME'] ?? `${env['HOME'] ?? '~'}/.codex`}/sessions`,
    isLog: (path, session) => session !== '' && path.endsWith(`-${session}.jsonl`),
    limits: rolloutLimits,
  },
};

/** The prompt goes by stdin (`-`); codex waits for the end of an open stdin in any case. */
function line(
  request: LaunchRequest,
  subcommand: readonly string[],
  session: readonly string[],
): CommandLine {
  const { executor } = request;
  return commandOf(request, codex.programs, {
    args: [
      'exec',
      // Sandbox and folder are options of `exec`, not of `exec resume`: all options go before it.
      '--json',
      '--skip-git-repo-check',
      ...permissionArgs(executor.permissions),
      ...['-C', request.folder],
      ...modelArgs(executor, '--model'),
      ...retryArgs([...executor.command, ...executor.args]),
      ...['-c', 'check_for_update_on_startup=false'],
      ...(request.keepsPath === true ? ['-c', 'allow_login_shell=false'] : []),
      ...executor.args,
      ...subcommand,
      ...session,
      '-',
    ],
    stdin: 'prompt',
  });
}

function permissionArgs(permissions: 'edit' | 'full'): readonly string[] {
  return permissions === 'full'
    ? ['--dangerously-bypass-approvals-and-sandbox']
    : ['--sandbox', 'workspace-write', '-c', 'approval_policy="never"'];
}

/**
 * Caps the retries of the provider that the executor configures. Codex refuses changes to its built-in providers,
 * so without a configured one its own caps stay (4 times 5 tries, some 25 s).
 */
function retryArgs(words: readonly string[]): readonly string[] {
  const named = words
    .map((word) => /^model_provider\s*=\s*"?([A-Za-z0-9_-]+)"?$/.exec(word)?.[1])
    .findLast((name) => name !== undefined);
  if (named === undefined || !words.some((word) => word.startsWith(`model_providers.${named}.`))) return [];
  return ['request_max_retries=1', 'stream_max_retries=1'].flatMap((cap) => [
    '-c',
    `model_providers.${named}.${cap}`,
  ]);
}

function codexParser(): AgentParser {
  const tools = openToolUses();
  let lastMessage = '';
  return {
    push(output) {
      const plain = plainText(output.text);
      if (plain === '') return [{ type: 'ignored' }];
      if (output.stream === 'stderr') return stderrEvents(plain);
      const parsed = jsonLine(plain);
      const events = parsed === null ? cutLineEvents(plain) : lineEvents(parsed, plain);
      return events.length === 0 ? [{ type: 'ignored' }] : events;
    },
  };

  function lineEvents(parsed: JsonObject, plain: string): readonly AgentEvent[] {
    switch (parsed['type']) {
      case 'thread.started':
        return [{ type: 'session', id: textOf(parsed['thread_id']) }];
      case 'turn.started':
        return [];
      case 'item.started':
      case 'item.updated':
      case 'item.completed':
        return itemEvents(textOf(parsed['type']), objectOf(parsed['item']) ?? {}, plain);
      case 'turn.completed':
        return [...totalEvents(parsed), { type: 'done', ok: true, result: lastMessage }];
      case 'error':
        // `Reconnecting...` while it still tries; its last one is repeated by `turn.failed`.
        return [signal(parsed, textOf(parsed['message']), false)];
      case 'turn.failed': {
        const text = textOf(objectOf(parsed['error'])?.['message']);
        return [signal(parsed, text, true), { type: 'done', ok: false, result: text }];
      }
      default:
        return [unrecognized(plain)];
    }
  }

  function itemEvents(type: string, item: JsonObject, plain: string): readonly AgentEvent[] {
    const completed = type === 'item.completed';
    switch (item['type']) {
      case 'agent_message':
        if (!completed || textOf(item['text']) === '') return [];
        lastMessage = textOf(item['text']);
        return [{ type: 'text', text: lastMessage }];
      case 'command_execution':
      case 'file_change':
        return toolEvents(completed, item);
      case 'todo_list':
        return [{ type: 'next', items: nextItems(item['items']) }];
      case 'reasoning':
      case 'web_search':
      case 'mcp_tool_call':
      case 'collab_tool_call':
      case 'user_message':
      // A warning, whatever its name says: an unknown model, a fall-back of the transport.
      case 'error':
        return [];
      default:
        return [unrecognized(plain)];
    }
  }

  function toolEvents(completed: boolean, item: JsonObject): readonly AgentEvent[] {
    const id = textOf(item['id']);
    const use = toolUse(item);
    const started = tools.started(id, use);
    if (!completed) return started;
    const status = textOf(item['status']);
    if (status === 'declined') {
      tools.dropped(id);
      return [{ type: 'denied', what: use.kind === 'shell' ? use.command : 'file change' }];
    }
    const exitCode = exitCodeOf(item['exit_code']);
    const finished = tools.finished(id, { ok: status === 'completed', ran: true, exitCode });
    const reads = use.kind === 'shell' && exitCode === 0 ? filesReadBy(use.command) : [];
    return [...started, ...finished, ...reads.map((path): AgentEvent => ({ type: 'read', path }))];
  }

  /** A command with a long output comes cut; its head names it, its exit code is lost. */
  function cutLineEvents(plain: string): readonly AgentEvent[] {
    const id = plain.startsWith('{"type":"item.completed"') ? headField(plain, 'id') : null;
    const events = id === null ? [] : tools.finished(id, { ok: true, ran: true, exitCode: null });
    return events.length === 0 ? [unrecognized(plain)] : events;
  }
}

function toolUse(item: JsonObject): ToolUse {
  if (item['type'] === 'command_execution')
    return { kind: 'shell', command: withoutShell(textOf(item['command'])) };
  const paths = objectsOf(item['changes']).map((change) => textOf(change['path']));
  return { kind: 'write', paths: paths.filter(Boolean), tool: 'apply_patch' };
}

/** Counted over the whole thread, resumes included. */
function totalEvents(parsed: JsonObject): readonly AgentEvent[] {
  const usage = objectOf(parsed['usage']);
  if (usage === null) return [];
  return [
    {
      type: 'usage',
      mode: 'total',
      input: tokensOf(usage['input_tokens']),
      cachedInput: tokensOf(usage['cached_input_tokens']),
      output: tokensOf(usage['output_tokens']),
    },
  ];
}

function signal(event: JsonObject, text: string, final: boolean): AgentEvent {
  return { type: 'signal', final, signal: { channel: 'event', providerOrCli: 'codex', text, event } };
}

/** The newest statement about the account's windows: exact to the second, where the stream has a clock time. */
function rolloutLimits(text: string): readonly AgentEvent[] {
  for (const entry of text.split('\n').reverse()) {
    if (!entry.includes('"rate_limits"')) continue;
    const payload = objectOf(jsonLine(entry)?.['payload']);
    const limits = payload?.['type'] === 'token_count' ? objectOf(payload['rate_limits']) : null;
    const headers = { ...windowHeaders(limits, 'primary'), ...windowHeaders(limits, 'secondary') };
    // Most answers state no window; they are no news.
    if (Object.keys(headers).length > 0) return [windowSignal(headers)];
  }
  return [];
}

/** The log keeps what the answer's headers said; here they become the headers again, which say it best. */
function windowHeaders(
  limits: JsonObject | null,
  slot: 'primary' | 'secondary',
): Readonly<Record<string, string>> {
  const window = objectOf(limits?.[slot]);
  if (window === null) return {};
  return {
    [`x-codex-${slot}-used-percent`]: String(numberOf(window['used_percent'])),
    [`x-codex-${slot}-window-minutes`]: String(numberOf(window['window_minutes'])),
    [`x-codex-${slot}-reset-at`]: String(numberOf(window['resets_at'])),
  };
}

function windowSignal(headers: Readonly<Record<string, string>>): AgentEvent {
  const full = ['primary', 'secondary'].some(
    (slot) => Number(headers[`x-codex-${slot}-used-percent`] ?? 0) >= 100,
  );
  const refused = full ? { httpStatus: 429, text: 'The usage limit has been reached' } : { text: '' };
  return {
    type: 'signal',
    final: false,
    signal: { channel: 'http', providerOrCli: 'codex', ...refused, headers },
  };
}

/** Codex ends with `Error: ...` when it cannot begin; the rest of its stderr is its own log. */
function stderrEvents(plain: string): readonly AgentEvent[] {
  if (/^[Ee]rror: /.test(plain)) {
    return [
      { type: 'signal', final: true, signal: { channel: 'stderr', providerOrCli: 'codex', text: plain } },
    ];
  }
  // A refused change is told nowhere else.
  const rejected = /ERROR codex_core::tools::router: error=(.*\brejected\b.*)$/.exec(plain)?.[1];
  if (rejected !== undefined) return [{ type: 'denied', what: rejected }];
  const logged = /^\d{4}-\d\d-\d\dT\S+\s+(?:TRACE|DEBUG|INFO|WARN|ERROR)\b/.test(plain);
  const notice = /^(?:Reading (?:additional input|prompt) from stdin|WARNING: |warning: )/.test(plain);
  return [logged || notice ? { type: 'ignored' } : unrecognized(plain)];
}
