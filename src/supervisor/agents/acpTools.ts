import type { AgentEvent } from './agent.js';
import { type JsonObject, exitCodeOf, objectOf, objectsOf, textOf } from './jsonLine.js';
import { type ToolUse, openToolUses } from './toolUse.js';

/** Notes of the helper itself, between the agent's messages. */
export const helperNote = {
  denied: '_swarm/denied',
  read: '_swarm/read',
  writing: '_swarm/writing',
  write: '_swarm/write',
};

/** One tool call as told so far: each update names only what has changed. */
export interface AcpToolCall {
  readonly kind: string;
  readonly title: string;
  readonly paths: readonly string[];
  readonly command: string;
}

/** The tool calls of one attempt. */
export interface AcpToolCalls {
  heard(update: JsonObject): readonly AgentEvent[];
  /** It was refused: its end, which still comes, says nothing. */
  dropped(id: string): void;
}

export function acpToolCalls(): AcpToolCalls {
  const calls = new Map<string, AcpToolCall>();
  const tools = openToolUses();
  return {
    heard(update) {
      const id = textOf(update['toolCallId']);
      const call = mergeToolCall(calls.get(id), update);
      calls.set(id, call);
      const status = update['status'];
      const ended = status === 'completed' || status === 'failed';
      const use = useOf(call, ended);
      const started = use === null ? [] : tools.started(id, use);
      if (!ended) return started;
      calls.delete(id);
      const ok = status === 'completed';
      return [...started, ...tools.finished(id, { ok, ran: true, exitCode: exitOf(update, ok) })];
    },
    dropped(id) {
      calls.delete(id);
      tools.dropped(id);
    },
  };
}

/** What is known of a call after one more message about it. */
export function mergeToolCall(known: AcpToolCall | undefined, update: JsonObject): AcpToolCall {
  const paths = pathsOf(update);
  return {
    kind: textOf(update['kind']) || (known?.kind ?? ''),
    title: textOf(update['title']) || (known?.title ?? ''),
    paths: paths.length > 0 ? paths : (known?.paths ?? []),
    command: commandOf(objectOf(update['rawInput'])) || (known?.command ?? ''),
  };
}

/** Null as long as it is not known what it works on. */
function useOf(call: AcpToolCall, ended: boolean): ToolUse | null {
  const known = call.paths.length > 0 || ended;
  switch (call.kind) {
    case 'read':
      return known ? { kind: 'read', paths: call.paths } : null;
    case 'edit':
    case 'delete':
    case 'move':
      return known ? { kind: 'write', paths: call.paths, tool: call.kind } : null;
    case 'execute': {
      const command = call.command || (ended ? call.title : '');
      return command === '' ? null : { kind: 'shell', command };
    }
    default:
      return ended ? { kind: 'other' } : null;
  }
}

const pathNames = ['file_path', 'filePath', 'path', 'absolute_path', 'abs_path', 'notebook_path'];

/** Every path that a message names: of its diffs, its places, its input. */
function pathsOf(update: JsonObject): readonly string[] {
  const input = objectOf(update['rawInput']);
  const found = [
    ...objectsOf(update['content']).map((part) => textOf(part['path'])),
    ...objectsOf(update['locations']).map((place) => textOf(place['path'])),
    ...pathNames.map((name) => textOf(input?.[name])),
  ];
  return [...new Set(found.filter((path) => path !== ''))];
}

function commandOf(input: JsonObject | null): string {
  const command: unknown = input?.['command'] ?? input?.['cmd'];
  if (Array.isArray(command)) return command.filter((word) => typeof word === 'string').join(' ');
  return textOf(command);
}

function exitOf(update: JsonObject, ok: boolean): number | null {
  const output = objectOf(update['rawOutput']);
  const stated =
    exitCodeOf(output?.['exit_code']) ??
    exitCodeOf(output?.['exitCode']) ??
    exitCodeOf(objectOf(output?.['metadata'])?.['exit']);
  return stated ?? (ok ? 0 : null);
}
