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
import { commandOf, modelArgs, promptArgument } from './launch.js';
import { type ToolUse, nextItems, openToolUses } from './toolUse.js';

/** opencode: `opencode run --format json`. It waits out long retries without a word. */
export const opencode: Adapter = {
  name: 'opencode',
  programs: ['opencode'],
  traits: { sessionId: 'printed', stopSignal: 'SIGTERM', resumeElsewhere: 'original', silentFor: 302_000 },
  signIn: ['opencode', 'auth', 'login'],
  credentialFiles: ['~/.local/share/opencode/auth.json'],
  commandLine: (request) => line(request, []),
  resumeLine: (request, session) => line(request, ['--session', session]),
  parser: opencodeParser,
};

function line(request: LaunchRequest, session: readonly string[]): CommandLine {
  const { executor } = request;
  return commandOf(request, opencode.programs, {
    args: [
      ...['run', '--format', 'json'],
      // Without it, what its own configuration does not allow is refused.
      ...(executor.permissions === 'full' ? ['--auto'] : []),
      ...modelArgs(executor, '--model'),
      ...session,
      ...executor.args,
      promptArgument(request),
    ],
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
  });
}

function opencodeParser(): AgentParser {
  const tools = openToolUses();
  let session = '';
  let lastMessage = '';
  return {
    push(output) {
      const plain = plainText(output.text);
      if (plain === '') return [{ type: 'ignored' }];
      if (output.stream === 'stderr') return stderrEvents(plain);
      const parsed = jsonLine(plain);
      if (parsed === null) return [unrecognized(plain)];
      const events = [...sessionEvents(parsed), ...lineEvents(parsed, plain)];
      return events.length === 0 ? [{ type: 'ignored' }] : events;
    },
  };

  function sessionEvents(parsed: JsonObject): readonly AgentEvent[] {
    const id = textOf(parsed['sessionID']);
    if (id === '' || id === session) return [];
    session = id;
    return [{ type: 'session', id }];
  }

  function lineEvents(parsed: JsonObject, plain: string): readonly AgentEvent[] {
    const part = objectOf(parsed['part']) ?? {};
    switch (parsed['type']) {
      case 'step_start':
      case 'reasoning':
        return [];
      case 'text':
        if (textOf(part['text']).trim() === '') return [];
        lastMessage = textOf(part['text']);
        return [{ type: 'text', text: lastMessage }];
      case 'tool_use':
        return toolEvents(part);
      case 'step_finish':
        return [
          ...usageEvents(part),
          ...(part['reason'] === 'stop' ? [{ type: 'done', ok: true, result: lastMessage } as const] : []),
        ];
      case 'error':
        return [errorEvent(parsed)];
      default:
        return [unrecognized(plain)];
    }
  }

  /** A tool is told when it has ended: its start and its end are one line. */
  function toolEvents(part: JsonObject): readonly AgentEvent[] {
    const state = objectOf(part['state']) ?? {};
    const id = textOf(part['callID']);
    const ok = state['status'] === 'completed';
    const exitCode = exitCodeOf(objectOf(state['metadata'])?.['exit']);
    const started = tools.started(id, toolUse(textOf(part['tool']), objectOf(state['input']) ?? {}));
    if (/rejected permission|permission.*(?:denied|rejected)/i.test(textOf(state['error']))) {
      tools.dropped(id);
      return [{ type: 'denied', what: `${textOf(part['tool'])}: ${textOf(state['error'])}` }];
    }
    return [...started, ...tools.finished(id, { ok, ran: true, exitCode })];
  }
}

function toolUse(name: string, input: JsonObject): ToolUse {
  const path = textOf(input['filePath']);
  switch (name) {
    case 'read':
      return { kind: 'read', paths: [path] };
    case 'write':
    case 'edit':
      return { kind: 'write', paths: [path], tool: name };
    case 'bash':
      return { kind: 'shell', command: textOf(input['command']) };
    case 'todowrite':
      return { kind: 'next', items: nextItems(input['todos']) };
    default:
      return { kind: 'other' };
  }
}

function usageEvents(part: JsonObject): readonly AgentEvent[] {
  const tokens = objectOf(part['tokens']);
  const cache = objectOf(tokens?.['cache']);
  if (tokens === null) return [];
  const cachedInput = tokensOf(cache?.['read']);
  const input = tokensOf(tokens['input']) + cachedInput + tokensOf(cache?.['write']);
  return [{ type: 'usage', mode: 'add', input, cachedInput, output: tokensOf(tokens['output']) }];
}

function errorEvent(parsed: JsonObject): AgentEvent {
  const error = objectOf(parsed['error']) ?? {};
  const data = objectOf(error['data']) ?? {};
  const status = exitCodeOf(data['statusCode']);
  const headers = Object.entries(objectOf(data['responseHeaders']) ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return {
    type: 'signal',
    // On a full context it goes on trying; every other error that it prints ends the run.
    final: error['name'] !== 'ContextOverflowError',
    signal: {
      channel: 'event',
      providerOrCli: 'opencode',
      text: textOf(data['message']) || textOf(error['name']),
      event: parsed,
      ...(status === null ? {} : { httpStatus: status }),
      ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
    },
  };
}

function stderrEvents(plain: string): readonly AgentEvent[] {
  if (!plain.startsWith('Error:')) return [{ type: 'ignored' }];
  return [
    { type: 'signal', final: true, signal: { channel: 'stderr', providerOrCli: 'opencode', text: plain } },
  ];
}
