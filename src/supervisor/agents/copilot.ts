import type { Adapter, AgentEvent, AgentParser, CommandLine, LaunchRequest } from './agent.js';
import {
  type JsonObject,
  exitCodeOf,
  jsonLine,
  objectOf,
  plainText,
  textOf,
  unrecognized,
} from './jsonLine.js';
import { checkLine, commandOf, modelArgs, promptArgument } from './launch.js';
import { type ToolUse, openToolUses } from './toolUse.js';

/** Copilot CLI: `copilot -p --output-format json`. */
export const copilot: Adapter = {
  name: 'copilot',
  programs: ['copilot'],
  traits: { sessionId: 'chosen', stopSignal: 'SIGTERM', resumeElsewhere: 'original', silentFor: 400_000 },
  signIn: ['copilot', 'login'],
  credentialFiles: ['~/.copilot/config.json'],
  commandLine: (request) => line(request, ['--session-id', request.newSessionId]),
  resumeLine: (request, session) => line(request, [`--resume=${session}`]),
  parser: copilotParser,
};

function line(request: LaunchRequest, session: readonly string[]): CommandLine {
  const { executor } = request;
  return commandOf(request, copilot.programs, {
    args: [
      ...['--output-format', 'json', '--no-ask-user', '--no-color', '--no-auto-update'],
      ...permissionArgs(request),
      ...modelArgs(executor, '--model'),
      ...session,
      ...executor.args,
      ...['-p', promptArgument(request)],
    ],
  });
}

function permissionArgs(request: LaunchRequest): readonly string[] {
  if (request.executor.permissions === 'full') return ['--allow-all-tools', '--allow-all-paths'];
  const check = checkLine(request.check);
  return ['--allow-tool=write', ...(check === null ? [] : [`--allow-tool=shell(${check})`])];
}

/** What lies in these name spaces and is not handled below is a notice about itself; new ones come with each version. */
const notices = /^(?:session|assistant|model|tool|user|agent|subagent|hook|permission|system|abort|skill)\b/;

function copilotParser(): AgentParser {
  const tools = openToolUses();
  let lastMessage = '';
  let lastFailure = '';
  return {
    push(output) {
      const plain = plainText(output.text);
      if (plain === '') return [{ type: 'ignored' }];
      if (output.stream === 'stderr') return stderrEvents(plain);
      const parsed = jsonLine(plain);
      const events = parsed === null ? [unrecognized(plain)] : lineEvents(parsed, plain);
      return events.length === 0 ? [{ type: 'ignored' }] : events;
    },
  };

  function lineEvents(parsed: JsonObject, plain: string): readonly AgentEvent[] {
    const type = textOf(parsed['type']);
    const data = objectOf(parsed['data']) ?? {};
    switch (type) {
      case 'assistant.message':
        if (textOf(data['content']).trim() === '') return [];
        lastMessage = textOf(data['content']);
        return [{ type: 'text', text: lastMessage }];
      case 'tool.execution_start':
        return tools.started(
          textOf(data['toolCallId']),
          toolUse(textOf(data['toolName']), objectOf(data['arguments']) ?? {}),
        );
      case 'tool.execution_complete': {
        const result = textOf(objectOf(data['result'])?.['content']);
        const code = /<shellId: \S+ completed with exit code (\d+)>\s*$/.exec(result)?.[1];
        const exitCode = exitCodeOf(code === undefined ? undefined : Number(code));
        return tools.finished(textOf(data['toolCallId']), {
          ok: data['success'] === true,
          ran: true,
          exitCode,
        });
      }
      case 'model.call_failure':
        lastFailure = textOf(data['errorMessage']);
        return [signal(parsed, lastFailure, false)];
      case 'session.error':
        return [errorEvent(parsed, data)];
      case 'result':
        return [
          { type: 'session', id: textOf(parsed['sessionId']) },
          { type: 'done', ok: parsed['exitCode'] === 0, result: parsed['exitCode'] === 0 ? lastMessage : '' },
        ];
      default:
        return notices.test(type) ? [] : [unrecognized(plain)];
    }
  }

  /** Its own words replace the provider's (a 403 becomes a failed authentication): here both are said. */
  function errorEvent(parsed: JsonObject, data: JsonObject): AgentEvent {
    const message = [lastFailure, textOf(data['message'])].filter(Boolean).join('\n');
    return signal({ ...parsed, data: { ...data, message } }, message, true);
  }
}

function toolUse(name: string, input: JsonObject): ToolUse {
  switch (name) {
    case 'view':
      return { kind: 'read', paths: [textOf(input['path'])] };
    case 'create':
    case 'edit':
      return { kind: 'write', paths: [textOf(input['path'])], tool: name };
    case 'bash':
      return { kind: 'shell', command: textOf(input['command']) };
    default:
      return { kind: 'other' };
  }
}

function signal(event: JsonObject, text: string, final: boolean): AgentEvent {
  const status = exitCodeOf(objectOf(event['data'])?.['statusCode']);
  return {
    type: 'signal',
    final,
    signal: {
      channel: 'event',
      providerOrCli: 'copilot',
      text,
      event,
      ...(status === null ? {} : { httpStatus: status }),
    },
  };
}

function stderrEvents(plain: string): readonly AgentEvent[] {
  if (!/^error: /i.test(plain)) return [{ type: 'ignored' }];
  return [
    { type: 'signal', final: true, signal: { channel: 'stderr', providerOrCli: 'copilot', text: plain } },
  ];
}
