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
import { commandOf } from './launch.js';
import { nextItems } from './toolUse.js';

/** Any program. It may tell what it does in JSON lines on stdout; everything else that it prints is log text. */
export const command: Adapter = {
  name: 'command',
  programs: [],
  traits: { sessionId: 'printed', stopSignal: 'SIGTERM', resumeElsewhere: 'new', silentFor: 0 },
  signIn: null,
  credentialFiles: [],
  commandLine: (request) => programLine(request, [], {}),
  resumeLine: (request, session) => programLine(request, [], { SWARM_SESSION: session }),
  parser: lineProtocolParser,
};

/** A program of the line protocol: it finds its prompt, checkpoint and session through its environment. */
export function programLine(
  request: LaunchRequest,
  programs: readonly string[],
  env: Readonly<Record<string, string>>,
): CommandLine {
  return commandOf(request, programs, {
    args: request.executor.args,
    env: { SWARM_PROMPT_FILE: request.promptFile, SWARM_CHECKPOINT: request.checkpointFile, ...env },
  });
}

/** Reads the line protocol. Its lines do not depend on each other. */
export function lineProtocolParser(): AgentParser {
  return {
    push(output) {
      const plain = plainText(output.text);
      if (plain === '') return [{ type: 'ignored' }];
      const parsed = output.stream === 'stdout' ? jsonLine(plain) : null;
      return [(parsed === null ? null : protocolEvent(parsed, plain)) ?? unrecognized(plain)];
    },
  };
}

function protocolEvent(parsed: JsonObject, plain: string): AgentEvent | null {
  const path = textOf(parsed['path']);
  const text = textOf(parsed['text']);
  switch (parsed['type']) {
    case 'session':
      return textOf(parsed['id']) === '' ? null : { type: 'session', id: textOf(parsed['id']) };
    case 'read':
      return path === '' ? null : { type: 'read', path };
    case 'writing':
      return path === '' ? null : { type: 'writing', path, tool: 'command' };
    case 'write':
      return path === '' ? null : { type: 'write', path, tool: 'command' };
    case 'shell':
      return { type: 'shell', command: textOf(parsed['command']), exitCode: exitCodeOf(parsed['exitCode']) };
    case 'decision':
      return text === '' ? null : { type: 'decision', text };
    case 'text':
      return text === '' ? null : { type: 'text', text };
    case 'next':
      return Array.isArray(parsed['items']) ? { type: 'next', items: nextItems(parsed['items']) } : null;
    case 'usage':
      return {
        type: 'usage',
        mode: 'add',
        input: tokensOf(parsed['input']),
        cachedInput: tokensOf(parsed['cachedInput']),
        output: tokensOf(parsed['output']),
      };
    case 'limit':
      return {
        type: 'signal',
        // A warning leaves the program running; of what is said at the end the last word counts.
        final: parsed['status'] === 'rejected',
        signal: { channel: 'event', providerOrCli: 'command', text: plain, event: parsed },
      };
    case 'error':
      return errorEvent(parsed);
    case 'done':
      return { type: 'done', ok: true, result: resultText(parsed['result']) };
    default:
      return null;
  }
}

function errorEvent(parsed: JsonObject): AgentEvent {
  const status = exitCodeOf(parsed['status']);
  const headers = headersOf(parsed['headers']);
  return {
    type: 'signal',
    final: true,
    signal: {
      channel: 'event',
      providerOrCli: 'command',
      text: textOf(parsed['message']),
      event: parsed,
      ...(status === null ? {} : { httpStatus: status }),
      ...(headers === null ? {} : { headers }),
    },
  };
}

function headersOf(value: unknown): Readonly<Record<string, string>> | null {
  const headers = objectOf(value);
  if (headers === null) return null;
  const entries = Object.entries(headers).filter(
    ([, content]) => typeof content === 'string' || typeof content === 'number',
  );
  return Object.fromEntries(entries.map(([name, content]) => [name, String(content)]));
}

function resultText(result: unknown): string {
  if (typeof result === 'string') return result;
  return result === undefined || result === null ? '' : JSON.stringify(result);
}
