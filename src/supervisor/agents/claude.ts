import { isStopAsSuccess } from '../verdict/verdict.js';
import type { Adapter, AgentEvent, AgentParser, LaunchRequest } from './agent.js';
import { claudeTasks } from './claudeTasks.js';
import { blockText, claudeOutcome, claudeToolUse, refusalText, wasRefused } from './claudeTools.js';
import {
  type JsonObject,
  headField,
  jsonLine,
  objectOf,
  objectsOf,
  plainText,
  textOf,
  tokensOf,
  unrecognized,
} from './jsonLine.js';
import { checkLine, commandOf, modelArgs } from './launch.js';
import { neverRan, openToolUses } from './toolUse.js';

/** Claude Code: `claude -p` with its stream of JSON lines. */
export const claude: Adapter = {
  name: 'claude',
  programs: ['claude'],
  traits: { sessionId: 'chosen', stopSignal: 'SIGTERM', resumeElsewhere: 'new', silentFor: 300_000 },
  signIn: ['claude', '/login'],
  credentialFiles: ['~/.claude/.credentials.json'],
  commandLine: (request) => line(request, ['--session-id', request.newSessionId]),
  resumeLine: (request, session) => line(request, ['--resume', session]),
  parser: claudeParser,
};

/** The prompt goes by stdin: it may be long, may start with a dash and is nobody's business in a process list. */
function line(request: LaunchRequest, session: readonly string[]) {
  return commandOf(request, claude.programs, {
    args: [
      '-p',
      ...['--output-format', 'stream-json', '--verbose'],
      ...permissionArgs(request),
      ...modelArgs(request.executor, '--model'),
      ...session,
      ...request.executor.args,
    ],
    env: {
      // Two tries within some two seconds: an outage or a limit must come to the surface, the supervisor waits.
      CLAUDE_CODE_MAX_RETRIES: '2',
      DISABLE_AUTOUPDATER: '1',
    },
    stdin: 'prompt',
  });
}

function permissionArgs(request: LaunchRequest): readonly string[] {
  // A worktree of the agent's own would take its edits out of the child's folder.
  const denied = ['--disallowedTools', 'EnterWorktree'];
  if (request.executor.permissions === 'full') return ['--permission-mode', 'bypassPermissions', ...denied];
  const check = checkLine(request.check);
  const allowed = check === null ? [] : ['--allowedTools', `Bash(${check})`, `Bash(${check} *)`];
  return [...allowed, ...denied, '--permission-mode', 'acceptEdits', '--permission-prompts', 'none'];
}

function claudeParser(): AgentParser {
  const tools = openToolUses();
  const tasks = claudeTasks();
  const counted = new Set<string>();
  const denied = new Set<string>();
  let session = '';
  return {
    push(output) {
      const plain = plainText(output.text);
      if (plain === '') return [{ type: 'ignored' }];
      if (output.stream === 'stderr') return stderrEvents(plain);
      const parsed = jsonLine(plain);
      if (parsed === null) return cutLineEvents(plain);
      const events = [...sessionEvents(parsed), ...lineEvents(parsed, plain)];
      return events.length === 0 ? [{ type: 'ignored' }] : events;
    },
  };

  function sessionEvents(parsed: JsonObject): readonly AgentEvent[] {
    const id = textOf(parsed['session_id']);
    // A refused resume echoes the id that it was asked for; that is no session.
    if (id === '' || id === session || parsed['type'] === 'result') return [];
    session = id;
    return [{ type: 'session', id }];
  }

  /** A line that was too long comes cut: the head of a good tool result names the call, a failed one's does not. */
  function cutLineEvents(plain: string): readonly AgentEvent[] {
    const id = headField(plain, 'tool_use_id');
    const events = id === null ? [] : tools.finished(id, { ok: true, ran: true, exitCode: null });
    return events.length === 0 ? [unrecognized(plain)] : events;
  }

  function lineEvents(parsed: JsonObject, plain: string): readonly AgentEvent[] {
    switch (parsed['type']) {
      case 'assistant':
        return assistantEvents(parsed);
      case 'user':
        return resultEvents(parsed);
      case 'system':
        return systemEvents(parsed, plain);
      case 'rate_limit_event':
        return rateLimitEvents(parsed, plain);
      case 'result':
        return endEvents(parsed);
      case 'control_response':
      case 'control_request':
      case 'stream_event':
      case 'keep_alive':
      case 'tool_progress':
      case 'tool_use_summary':
      case 'auth_status':
      case 'prompt_suggestion':
        return [{ type: 'ignored' }];
      default:
        return [unrecognized(plain)];
    }
  }

  function assistantEvents(parsed: JsonObject): readonly AgentEvent[] {
    const message = objectOf(parsed['message']);
    if (message === null) return [unrecognized(JSON.stringify(parsed))];
    if (parsed['error'] !== undefined || parsed['is_api_error_message'] === true) {
      return [signal(parsed, blockText(message['content']), 'event', false)];
    }
    const inSubAgent = typeof parsed['parent_tool_use_id'] === 'string';
    const events = objectsOf(message['content']).flatMap((block): readonly AgentEvent[] => {
      // A sub-agent's words are no statement of the child; what it reads and writes is the child's doing.
      if (block['type'] === 'text') return inSubAgent ? [] : textEvents(textOf(block['text']));
      if (block['type'] === 'tool_use') return toolEvents(block, inSubAgent);
      return [];
    });
    return [...events, ...usageEvents(message)];
  }

  function toolEvents(block: JsonObject, inSubAgent: boolean): readonly AgentEvent[] {
    const name = textOf(block['name']);
    const id = textOf(block['id']);
    const input = objectOf(block['input']) ?? {};
    if (!inSubAgent) {
      const plan = tasks.called(id, name, input);
      if (plan !== null) return plan;
    }
    return tools.started(id, claudeToolUse(name, input, inSubAgent));
  }

  /** Several lines of one message repeat its usage; it is counted once. */
  function usageEvents(message: JsonObject): readonly AgentEvent[] {
    const usage = objectOf(message['usage']);
    const id = textOf(message['id']);
    if (usage === null || counted.has(id)) return [];
    counted.add(id);
    const cachedInput = tokensOf(usage['cache_read_input_tokens']);
    const input =
      tokensOf(usage['input_tokens']) + tokensOf(usage['cache_creation_input_tokens']) + cachedInput;
    const output = tokensOf(usage['output_tokens']);
    return input + output === 0 ? [] : [{ type: 'usage', mode: 'add', input, cachedInput, output }];
  }

  function resultEvents(parsed: JsonObject): readonly AgentEvent[] {
    const message = objectOf(parsed['message']);
    const details = objectOf(parsed['tool_use_result']);
    const meta = objectsOf(parsed['tool_result_meta']);
    return objectsOf(message?.['content']).flatMap((block) => {
      if (block['type'] !== 'tool_result') return [];
      const id = textOf(block['tool_use_id']);
      const plan = tasks.answered(id, blockText(block['content']));
      if (plan !== null) return plan;
      const refused = meta.some((entry) => entry['id'] === id && wasRefused(entry));
      return tools.finished(id, refused ? neverRan : claudeOutcome(block, details));
    });
  }

  function systemEvents(parsed: JsonObject, plain: string): readonly AgentEvent[] {
    switch (parsed['subtype']) {
      case 'api_retry':
        return [signal(parsed, plain, 'event', false)];
      case 'permission_denied':
        return [deniedEvent(textOf(parsed['tool_use_id']), parsed)];
      default:
        // Notices about itself: start, compaction, hooks, background tasks. New ones come with each version.
        return [{ type: 'ignored' }];
    }
  }

  function deniedEvent(id: string, parsed: JsonObject): AgentEvent {
    denied.add(id);
    tools.dropped(id);
    const reason = textOf(parsed['decision_reason']);
    const request = /What required approval: (.*)$/s.exec(textOf(parsed['message']))?.[1] ?? '';
    return {
      type: 'denied',
      what: [textOf(parsed['tool_name']), request === '' ? reason : request].filter(Boolean).join(': '),
    };
  }

  function endEvents(parsed: JsonObject): readonly AgentEvent[] {
    const refusals = objectsOf(parsed['permission_denials'])
      .filter((refusal) => !denied.has(textOf(refusal['tool_use_id'])))
      .map((refusal): AgentEvent => ({ type: 'denied', what: refusalText(refusal) }));
    const result = textOf(parsed['result']);
    // A stop can have the shape of a success: the whole answer is the banner of a limit.
    const failed = parsed['is_error'] === true || parsed['subtype'] !== 'success' || isStopAsSuccess(result);
    const text = result === '' ? errorList(parsed) : result;
    return [
      ...refusals,
      // The total is of the whole session: a refused resume must not look as if it had brought something.
      ...(failed ? [] : totalEvents(parsed)),
      ...(failed ? [signal(parsed, text, 'result', true)] : []),
      { type: 'done', ok: !failed, result: text },
    ];
  }
}

/** An allowed window that states nothing more is the news that all is well. */
function rateLimitEvents(parsed: JsonObject, plain: string): readonly AgentEvent[] {
  const info = objectOf(parsed['rate_limit_info']);
  const silent =
    info?.['status'] === 'allowed' &&
    info['unifiedWindows'] === undefined &&
    info['utilization'] === undefined;
  return silent ? [{ type: 'ignored' }] : [signal(parsed, plain, 'event', false)];
}

function totalEvents(parsed: JsonObject): readonly AgentEvent[] {
  const models = Object.values(objectOf(parsed['modelUsage']) ?? {}).map(objectOf);
  if (models.length === 0) return [];
  const sum = (...names: readonly string[]) =>
    models.reduce(
      (total, model) => total + names.reduce((part, name) => part + tokensOf(model?.[name]), 0),
      0,
    );
  const input = sum('inputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens');
  return [
    {
      type: 'usage',
      mode: 'total',
      input,
      cachedInput: sum('cacheReadInputTokens'),
      output: sum('outputTokens'),
    },
  ];
}

function signal(event: JsonObject, text: string, channel: 'event' | 'result', final: boolean): AgentEvent {
  return { type: 'signal', final, signal: { channel, providerOrCli: 'claude-code', text, event } };
}

function textEvents(text: string): readonly AgentEvent[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function errorList(parsed: JsonObject): string {
  const errors = parsed['errors'];
  return Array.isArray(errors) ? errors.filter((error) => typeof error === 'string').join('\n') : '';
}

function stderrEvents(plain: string): readonly AgentEvent[] {
  if (plain.startsWith('Warning:')) return [{ type: 'ignored' }];
  // Claude prints to stderr only what keeps it from starting.
  return [
    {
      type: 'signal',
      final: false,
      signal: { channel: 'stderr', providerOrCli: 'claude-code', text: plain },
    },
  ];
}
