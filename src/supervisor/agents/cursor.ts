import { isStopAsSuccess } from '../verdict/verdict.js';
import type { Adapter, AgentEvent, AgentParser, CommandLine, LaunchRequest } from './agent.js';
import {
  type JsonObject,
  exitCodeOf,
  headField,
  jsonLine,
  objectOf,
  objectsOf,
  plainText,
  textOf,
  tokensOf,
  unrecognized,
} from './jsonLine.js';
import { commandOf, modelArgs, promptArgument } from './launch.js';
import { type ToolOutcome, type ToolUse, firstText, neverRan, nextItems, openToolUses } from './toolUse.js';

/** Cursor's agent in print mode. A failure is told on stderr only: the stream just ends. */
export const cursor: Adapter = {
  name: 'cursor',
  programs: ['cursor-agent'],
  // It keeps its chats by folder.
  traits: { sessionId: 'printed', stopSignal: 'SIGTERM', resumeElsewhere: 'refused', silentFor: 0 },
  signIn: ['cursor-agent', 'login'],
  credentialFiles: ['~/.config/cursor/auth.json', '~/.cursor/cli-config.json'],
  commandLine: (request) => line(request, []),
  resumeLine: (request, session) => line(request, ['--resume', session]),
  parser: cursorParser,
};

function line(request: LaunchRequest, session: readonly string[]): CommandLine {
  const { executor } = request;
  return commandOf(request, cursor.programs, {
    args: [
      ...['-p', '--output-format', 'stream-json', '--trust'],
      // Without `--force` print mode proposes edits and makes none; the sandbox is what keeps commands in bounds.
      ...['--force', '--sandbox', executor.permissions === 'full' ? 'disabled' : 'enabled'],
      ...modelArgs(executor, '--model'),
      ...session,
      ...executor.args,
      promptArgument(request),
    ],
  });
}

function cursorParser(): AgentParser {
  const tools = openToolUses();
  let session = '';
  return {
    push(output) {
      const plain = plainText(output.text);
      if (plain === '' || output.stream === 'stderr') return [{ type: 'ignored' }];
      const parsed = jsonLine(plain);
      const events =
        parsed === null ? cutLineEvents(plain) : [...sessionEvents(parsed), ...lineEvents(parsed, plain)];
      return events.length === 0 ? [{ type: 'ignored' }] : events;
    },
  };

  function sessionEvents(parsed: JsonObject): readonly AgentEvent[] {
    const id = textOf(parsed['session_id']);
    if (id === '' || id === session) return [];
    session = id;
    return [{ type: 'session', id }];
  }

  function lineEvents(parsed: JsonObject, plain: string): readonly AgentEvent[] {
    switch (parsed['type']) {
      case 'assistant':
        return objectsOf(objectOf(parsed['message'])?.['content']).flatMap((block): readonly AgentEvent[] => {
          const text = textOf(block['text']);
          return block['type'] === 'text' && text.trim() !== '' ? [{ type: 'text', text }] : [];
        });
      case 'tool_call':
        return toolEvents(parsed);
      case 'result':
        return endEvents(parsed);
      case 'error':
        return [signal(parsed, firstText(parsed, ['message', 'error', 'text']) || plain, true)];
      case 'connection':
      case 'retry':
        return [signal(parsed, plain, false)];
      case 'system':
      case 'user':
      case 'thinking':
      case 'interaction_query':
        return [];
      default:
        return [unrecognized(plain)];
    }
  }

  function toolEvents(parsed: JsonObject): readonly AgentEvent[] {
    const id = textOf(parsed['call_id']);
    const { name, args, result } = calledTool(objectOf(parsed['tool_call']) ?? {});
    const started = tools.started(id, toolUse(name, args));
    if (parsed['subtype'] !== 'completed') return started;
    const refusal = objectOf(result?.['rejected']) ?? objectOf(result?.['permissionDenied']);
    const outcome = refusal === null ? outcomeOf(result) : neverRan;
    const ended = tools.finished(id, outcome);
    if (refusal === null) return [...started, ...ended];
    const what = [name, firstText(args, ['command', 'path']), textOf(refusal['reason'])];
    return [...started, ...ended, { type: 'denied', what: what.filter((part) => part !== '').join(': ') }];
  }

  function cutLineEvents(plain: string): readonly AgentEvent[] {
    const id = headField(plain, 'call_id');
    const ended = id !== null && headField(plain, 'subtype') === 'completed';
    const events = ended ? tools.finished(id, { ok: true, ran: true, exitCode: null }) : [];
    return events.length === 0 ? [unrecognized(plain)] : events;
  }
}

/** `{ "shellToolCall": { "args", "result" } }`; older tools are `{ "function": { "name", "arguments" } }`. */
function calledTool(call: JsonObject): {
  readonly name: string;
  readonly args: JsonObject;
  readonly result: JsonObject | null;
} {
  const entry = Object.entries(call).find(([key, body]) => /ToolCall$/.test(key) && objectOf(body) !== null);
  const [key, body] = entry ?? ['function', call['function']];
  const content = objectOf(body) ?? {};
  const args = objectOf(content['args']) ?? jsonLine(textOf(content['arguments'])) ?? {};
  const name = key === 'function' ? textOf(content['name']) : key.replace(/ToolCall$/, '');
  return { name, args, result: objectOf(content['result']) };
}

function toolUse(name: string, args: JsonObject): ToolUse {
  const path = firstText(args, ['path', 'targetNotebook', 'target_file', 'file_path']);
  const paths = path === '' ? [] : [path];
  switch (name) {
    case 'read':
    case 'read_file':
      return { kind: 'read', paths };
    case 'write':
    case 'edit':
    case 'delete':
    case 'editNotebook':
    case 'applyPatch':
    case 'edit_file':
    case 'delete_file':
      return paths.length === 0 ? { kind: 'other' } : { kind: 'write', paths, tool: name };
    case 'shell':
    case 'run_terminal_cmd':
      return { kind: 'shell', command: textOf(args['command']) };
    case 'todo':
    case 'updateTodos':
      return { kind: 'next', items: nextItems(objectsOf(args['todos']).map(plainTodo)) };
    default:
      return { kind: 'other' };
  }
}

/** Its states are written `TODO_STATUS_COMPLETED`, in other versions `completed`. */
function plainTodo(todo: JsonObject): JsonObject {
  return {
    ...todo,
    status: textOf(todo['status'])
      .replace(/^TODO_STATUS_/, '')
      .toLowerCase(),
  };
}

function outcomeOf(result: JsonObject | null): ToolOutcome {
  const success = objectOf(result?.['success']);
  const failed = objectOf(result?.['failure']) ?? objectOf(result?.['error']);
  const stated = exitCodeOf((success ?? failed)?.['exitCode']);
  const ok = success !== null || failed === null;
  return { ok, ran: true, exitCode: stated ?? (success === null ? null : 0) };
}

function endEvents(parsed: JsonObject): readonly AgentEvent[] {
  const text = firstText(parsed, ['result', 'error', 'message']);
  const failed = parsed['is_error'] === true || (parsed['subtype'] ?? 'success') !== 'success';
  if (failed || isStopAsSuccess(text))
    return [signal(parsed, text, true), { type: 'done', ok: false, result: text }];
  return [...usageEvents(objectOf(parsed['usage'])), { type: 'done', ok: true, result: text }];
}

function usageEvents(usage: JsonObject | null): readonly AgentEvent[] {
  const cachedInput = tokensOf(usage?.['cacheReadTokens']);
  // What came from the cache is counted beside the input.
  const input = tokensOf(usage?.['inputTokens']) + tokensOf(usage?.['cacheWriteTokens']) + cachedInput;
  const output = tokensOf(usage?.['outputTokens']);
  return input + output === 0 ? [] : [{ type: 'usage', mode: 'add', input, cachedInput, output }];
}

function signal(event: JsonObject, text: string, final: boolean): AgentEvent {
  const channel = final ? 'result' : 'event';
  return { type: 'signal', final, signal: { channel, providerOrCli: 'cursor', text, event } };
}
