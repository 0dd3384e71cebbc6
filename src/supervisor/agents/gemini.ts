import type { Adapter, AgentEvent, AgentParser, CommandLine, LaunchRequest } from './agent.js';
import {
  type JsonObject,
  exitCodeOf,
  jsonLine,
  objectOf,
  plainText,
  textOf,
  tokensOf,
  unrecognized,
} from './jsonLine.js';
import { checkLine, commandOf, modelArgs, promptArgument } from './launch.js';
import { type ToolUse, openToolUses } from './toolUse.js';

/** Gemini CLI: `gemini -p` with its stream of JSON lines. */
export const gemini: Adapter = {
  name: 'gemini',
  programs: ['gemini'],
  traits: { sessionId: 'chosen', stopSignal: 'SIGTERM', resumeElsewhere: 'refused', silentFor: 302_000 },
  signIn: ['gemini'],
  credentialFiles: ['~/.gemini/oauth_creds.json'],
  commandLine: (request) => line(request, ['--session-id', request.newSessionId]),
  resumeLine: (request, session) => line(request, ['--resume', session]),
  parser: geminiParser,
};

function line(request: LaunchRequest, session: readonly string[]): CommandLine {
  const { executor } = request;
  const check = checkLine(request.check);
  const allowed = check === null ? [] : ['--allowed-tools', `run_shell_command(${check})`];
  return commandOf(request, gemini.programs, {
    args: [
      ...['--output-format', 'stream-json', '--skip-trust'],
      ...(executor.permissions === 'full' ? ['--yolo'] : ['--approval-mode', 'auto_edit', ...allowed]),
      ...modelArgs(executor, '--model'),
      ...session,
      ...executor.args,
      ...['-p', promptArgument(request)],
    ],
    // Without it the program that we start is a launcher which survives the signals that we send.
    env: { GEMINI_CLI_NO_RELAUNCH: 'true' },
  });
}

function geminiParser(): AgentParser {
  const tools = openToolUses();
  let words = '';
  let lastMessage = '';
  return {
    push(output) {
      const plain = plainText(output.text);
      if (plain === '') return [{ type: 'ignored' }];
      if (output.stream === 'stderr') return stderrEvents(plain);
      const parsed = jsonLine(plain);
      const events =
        parsed === null
          ? [unrecognized(plain)]
          : [...(parsed['type'] === 'message' ? [] : spoken()), ...lineEvents(parsed, plain)];
      return events.length === 0 ? [{ type: 'ignored' }] : events;
    },
  };

  function lineEvents(parsed: JsonObject, plain: string): readonly AgentEvent[] {
    switch (parsed['type']) {
      case 'init':
        return [{ type: 'session', id: textOf(parsed['session_id']) }];
      case 'message':
        if (parsed['role'] === 'assistant') words += textOf(parsed['content']);
        return [];
      case 'tool_use':
        return tools.started(
          textOf(parsed['tool_id']),
          toolUse(textOf(parsed['tool_name']), objectOf(parsed['parameters']) ?? {}),
        );
      case 'tool_result': {
        const ok = parsed['status'] === 'success';
        const code = /(?:^|\n)Exit Code: (\d+)/.exec(textOf(parsed['output']))?.[1];
        const exitCode = code === undefined ? (ok ? 0 : null) : exitCodeOf(Number(code));
        return tools.finished(textOf(parsed['tool_id']), { ok, ran: true, exitCode });
      }
      case 'error':
        return [signal(parsed, textOf(parsed['message']), 'event', false)];
      case 'result':
        return endEvents(parsed);
      default:
        return [unrecognized(plain)];
    }
  }

  /** Words come in pieces; they are one statement when something else follows. */
  function spoken(): readonly AgentEvent[] {
    const text = words;
    words = '';
    if (text.trim() === '') return [];
    lastMessage = text;
    return [{ type: 'text', text }];
  }

  function endEvents(parsed: JsonObject): readonly AgentEvent[] {
    if (parsed['status'] === 'success')
      return [...usageEvents(parsed), { type: 'done', ok: true, result: lastMessage }];
    const text = textOf(objectOf(parsed['error'])?.['message']);
    return [signal(parsed, text, 'result', true), { type: 'done', ok: false, result: text }];
  }
}

function toolUse(name: string, input: JsonObject): ToolUse {
  switch (name) {
    case 'read_file':
      return { kind: 'read', paths: [textOf(input['file_path']) || textOf(input['absolute_path'])] };
    case 'write_file':
    case 'replace':
      return { kind: 'write', paths: [textOf(input['file_path'])], tool: name };
    case 'run_shell_command':
      return { kind: 'shell', command: textOf(input['command']) };
    default:
      return { kind: 'other' };
  }
}

/** Counted for this run, not for the session. */
function usageEvents(parsed: JsonObject): readonly AgentEvent[] {
  const stats = objectOf(parsed['stats']);
  if (stats === null) return [];
  const input = tokensOf(stats['input_tokens']);
  return [
    {
      type: 'usage',
      mode: 'add',
      input,
      cachedInput: tokensOf(stats['cached']),
      output: tokensOf(stats['output_tokens']),
    },
  ];
}

function signal(event: JsonObject, text: string, channel: 'event' | 'result', final: boolean): AgentEvent {
  return { type: 'signal', final, signal: { channel, providerOrCli: 'gemini', text, event } };
}

/** Retries are told on stderr only; stack traces beside them repeat what the result says. */
function stderrEvents(plain: string): readonly AgentEvent[] {
  const retries = /^Attempt \d+ failed/.test(plain);
  const ends = /^(?:Error resuming session:|Invalid auth method|Please set an Auth method)/.test(plain);
  if (!retries && !ends) return [{ type: 'ignored' }];
  return [
    { type: 'signal', final: ends, signal: { channel: 'stderr', providerOrCli: 'gemini', text: plain } },
  ];
}
