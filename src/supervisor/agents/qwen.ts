import { isStopAsSuccess } from '../verdict/verdict.js';
import type { Adapter, AgentEvent, AgentParser, CommandLine, LaunchRequest } from './agent.js';
import { blockText, refusalText } from './claudeTools.js';
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
import { checkLine, commandOf, modelArgs, promptArgument } from './launch.js';
import { type ToolUse, nextItems, openToolUses } from './toolUse.js';

/** Qwen Code: a stream that looks like Claude Code's, with tools of its own and long silent retries. */
export const qwen: Adapter = {
  name: 'qwen',
  programs: ['qwen'],
  traits: { sessionId: 'chosen', stopSignal: 'SIGTERM', resumeElsewhere: 'refused', silentFor: 241_000 },
  signIn: ['qwen'],
  credentialFiles: ['~/.qwen/oauth_creds.json'],
  commandLine: (request) => line(request, ['--session-id', request.newSessionId]),
  resumeLine: (request, session) => line(request, ['--resume', session]),
  parser: qwenParser,
};

function line(request: LaunchRequest, session: readonly string[]): CommandLine {
  const { executor } = request;
  const check = checkLine(request.check);
  const allowed = check === null ? [] : ['--allowed-tools', `run_shell_command(${check})`];
  return commandOf(request, qwen.programs, {
    args: [
      promptArgument(request),
      ...['--output-format', 'stream-json'],
      ...(executor.permissions === 'full' ? ['--yolo'] : ['--approval-mode', 'auto-edit', ...allowed]),
      ...modelArgs(executor, '--model'),
      ...session,
      ...executor.args,
    ],
    // Without it the program that we start is a launcher whose real agent outlives it.
    env: { QWEN_CODE_NO_RELAUNCH: 'true' },
  });
}

function qwenParser(): AgentParser {
  const tools = openToolUses();
  let session = '';
  return {
    push(output) {
      const plain = plainText(output.text);
      if (plain === '') return [{ type: 'ignored' }];
      if (output.stream === 'stderr') return stderrEvents(plain);
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
        return assistantEvents(
          objectOf(parsed['message']) ?? {},
          typeof parsed['parent_tool_use_id'] === 'string',
        );
      case 'user':
        return objectsOf(objectOf(parsed['message'])?.['content']).flatMap(resultEvents);
      case 'system':
        return parsed['subtype'] === 'retry' ? [signal(parsed, plain, 'event', false)] : [];
      case 'stream_event':
        return [];
      case 'result':
        return endEvents(parsed);
      default:
        return [unrecognized(plain)];
    }
  }

  function assistantEvents(message: JsonObject, inSubAgent: boolean): readonly AgentEvent[] {
    const events = objectsOf(message['content']).flatMap((block): readonly AgentEvent[] => {
      const text = textOf(block['text']);
      // An error comes as the model's words first; the end says it again as what it is.
      const said =
        block['type'] === 'text' && !inSubAgent && text.trim() !== '' && !text.startsWith('[API Error:');
      if (said) return [{ type: 'text', text }];
      if (block['type'] !== 'tool_use') return [];
      return tools.started(
        textOf(block['id']),
        toolUse(textOf(block['name']), objectOf(block['input']) ?? {}),
      );
    });
    const usage = usageOf(message, 'add');
    return usage === null ? events : [...events, usage];
  }

  function resultEvents(block: JsonObject): readonly AgentEvent[] {
    if (block['type'] !== 'tool_result') return [];
    const ok = block['is_error'] !== true;
    const content = blockText(block['content']);
    const code = /(?:^|\n)Exit Code: (\d+)/.exec(content)?.[1];
    const exitCode = code === undefined ? (ok ? 0 : null) : exitCodeOf(Number(code));
    return tools.finished(textOf(block['tool_use_id']), { ok, ran: true, exitCode });
  }

  function cutLineEvents(plain: string): readonly AgentEvent[] {
    const id = headField(plain, 'tool_use_id');
    const events = id === null ? [] : tools.finished(id, { ok: true, ran: true, exitCode: null });
    return events.length === 0 ? [unrecognized(plain)] : events;
  }
}

function endEvents(parsed: JsonObject): readonly AgentEvent[] {
  const refused = objectsOf(parsed['permission_denials']).map((entry): AgentEvent => ({
    type: 'denied',
    what: refusalText(entry),
  }));
  // As with claude, whose stream it speaks, a stop can have the shape of a success.
  if (parsed['is_error'] !== true && !isStopAsSuccess(textOf(parsed['result']))) {
    const total = usageOf(parsed, 'total');
    return [
      ...refused,
      ...(total === null ? [] : [total]),
      { type: 'done', ok: true, result: textOf(parsed['result']) },
    ];
  }
  const text = textOf(objectOf(parsed['error'])?.['message']) || textOf(parsed['result']);
  return [...refused, signal(parsed, text, 'result', true), { type: 'done', ok: false, result: text }];
}

/** The end counts the whole session, a message itself. */
function usageOf(source: JsonObject, mode: 'add' | 'total'): AgentEvent | null {
  const usage = objectOf(source['usage']);
  const input = tokensOf(usage?.['input_tokens']);
  const output = tokensOf(usage?.['output_tokens']);
  if (usage === null || input + output === 0) return null;
  return { type: 'usage', mode, input, cachedInput: tokensOf(usage['cache_read_input_tokens']), output };
}

function toolUse(name: string, input: JsonObject): ToolUse {
  switch (name) {
    case 'read_file':
      return { kind: 'read', paths: [textOf(input['file_path']) || textOf(input['absolute_path'])] };
    case 'write_file':
    case 'edit':
    case 'notebook_edit':
      return {
        kind: 'write',
        paths: [textOf(input['file_path']) || textOf(input['notebook_path'])],
        tool: name,
      };
    case 'run_shell_command':
      return { kind: 'shell', command: textOf(input['command']) };
    case 'todo_write':
      return { kind: 'next', items: nextItems(input['todos']) };
    default:
      return { kind: 'other' };
  }
}

function signal(event: JsonObject, text: string, channel: 'event' | 'result', final: boolean): AgentEvent {
  return { type: 'signal', final, signal: { channel, providerOrCli: 'qwen', text, event } };
}

/** The later, longer retries are told on stderr only. */
function stderrEvents(plain: string): readonly AgentEvent[] {
  const retries = /^Retrying (?:in \d+|provider attempt)/.test(plain);
  const ends = /^No saved session found/.test(plain);
  if (!retries && !ends) return [{ type: 'ignored' }];
  return [{ type: 'signal', final: ends, signal: { channel: 'stderr', providerOrCli: 'qwen', text: plain } }];
}
