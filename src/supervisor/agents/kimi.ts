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
  unrecognized,
} from './jsonLine.js';
import { commandOf, modelArgs, promptArgument } from './launch.js';
import {
  type ToolOutcome,
  type ToolUse,
  finishedWell,
  neverRan,
  nextItems,
  openToolUses,
} from './toolUse.js';

/** Kimi Code: `kimi -p`, which approves its own tool calls; it has no narrower mode. */
export const kimi: Adapter = {
  name: 'kimi',
  programs: ['kimi'],
  traits: { sessionId: 'index', stopSignal: 'SIGTERM', resumeElsewhere: 'refused', silentFor: 300_000 },
  signIn: ['kimi', 'login'],
  credentialFiles: ['~/.kimi-code/config.toml', '~/.kimi-code/credentials'],
  commandLine: (request) => line(request, []),
  resumeLine: (request, session) => line(request, ['--session', session]),
  parser: kimiParser,
  sessionIndex: {
    file: (env) => `${env['KIMI_CODE_HOME'] ?? `${env['HOME'] ?? '~'}/.kimi-code`}/session_index.jsonl`,
    find: (text, folder) => newestSession(text, folder),
  },
};

function line(request: LaunchRequest, session: readonly string[]): CommandLine {
  return commandOf(request, kimi.programs, {
    args: [
      ...session,
      ...modelArgs(request.executor, '--model'),
      ...request.executor.args,
      ...['-p', promptArgument(request)],
      ...['--output-format', 'stream-json'],
    ],
    env: {
      KIMI_LOOP_MAX_ATTEMPTS_PER_STEP: '1',
      KIMI_CODE_NO_AUTO_UPDATE: '1',
    },
  });
}

/** The index tells no times: it only grows, so the last session of the folder is the newest. */
function newestSession(text: string, folder: string): string | null {
  const wanted = withoutSlash(folder);
  let found: string | null = null;
  for (const entry of text.split('\n')) {
    const parsed = jsonLine(entry);
    const workDir = withoutSlash(textOf(parsed?.['workDir']));
    // macOS keeps its temporary folder behind a link.
    if (workDir !== '' && (workDir === wanted || workDir === `/private${wanted}`))
      found = textOf(parsed?.['sessionId']) || found;
  }
  return found;
}

function withoutSlash(path: string): string {
  return path.length > 1 ? path.replace(/[/\\]+$/, '') : path;
}

function kimiParser(): AgentParser {
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
    switch (parsed['role']) {
      case 'assistant':
        return assistantEvents(parsed);
      case 'tool':
        return tools.finished(textOf(parsed['tool_call_id']), outcomeOf(textOf(parsed['content'])));
      case 'meta':
        return metaEvents(parsed, plain);
      default:
        return [unrecognized(plain)];
    }
  }

  function assistantEvents(parsed: JsonObject): readonly AgentEvent[] {
    const text = textOf(parsed['content']);
    if (text.trim() !== '') lastMessage = text;
    const words: readonly AgentEvent[] = text.trim() === '' ? [] : [{ type: 'text', text }];
    const calls = objectsOf(parsed['tool_calls']).flatMap((call) => {
      const details = objectOf(call['function']) ?? {};
      return tools.started(
        textOf(call['id']),
        toolUse(textOf(details['name']), jsonLine(textOf(details['arguments'])) ?? {}),
      );
    });
    return [...words, ...calls];
  }

  function metaEvents(parsed: JsonObject, plain: string): readonly AgentEvent[] {
    switch (parsed['type']) {
      case 'system.version':
      case 'goal.summary':
        return [];
      case 'turn.step.retrying':
        return [
          {
            type: 'signal',
            final: false,
            signal: {
              channel: 'event',
              providerOrCli: 'kimi',
              text: textOf(parsed['error_message']),
              event: parsed,
            },
          },
        ];
      case 'session.resume_hint':
        // Printed at the end of a run that went well, and only then.
        return [
          { type: 'session', id: textOf(parsed['session_id']) },
          { type: 'done', ok: true, result: lastMessage },
        ];
      default:
        return [unrecognized(plain)];
    }
  }

  /** A tool's result that was too long comes cut; its head names the call. */
  function cutLineEvents(plain: string): readonly AgentEvent[] {
    const id = headField(plain, 'tool_call_id');
    const events = id === null ? [] : tools.finished(id, { ok: true, ran: true, exitCode: null });
    return events.length === 0 ? [unrecognized(plain)] : events;
  }
}

/**
 * The error that ends a run comes as text. All else on stderr is none of kimi's words: the live output of its tools,
 * which may say anything, and traces of troubles that it got over.
 */
function stderrEvents(plain: string): readonly AgentEvent[] {
  if (!plain.startsWith('error: failed to run prompt: ')) return [{ type: 'ignored' }];
  return [{ type: 'signal', final: true, signal: { channel: 'stderr', providerOrCli: 'kimi', text: plain } }];
}

/** What a tool of Kimi Code does, by name. */
function toolUse(name: string, input: JsonObject): ToolUse {
  switch (name) {
    case 'Read':
    case 'ReadMediaFile':
      return { kind: 'read', paths: [textOf(input['path'])] };
    case 'Write':
    case 'Edit':
      return { kind: 'write', paths: [textOf(input['path'])], tool: name };
    case 'Bash':
      return { kind: 'shell', command: textOf(input['command']) };
    case 'TodoList':
    case 'SetTodoList':
      // Without a list it is a question for the list.
      return Array.isArray(input['todos'])
        ? { kind: 'next', items: nextItems(input['todos']) }
        : { kind: 'other' };
    default:
      return { kind: 'other' };
  }
}

/** Kimi's stream has no word for success: the result's own text says how a call ended. */
function outcomeOf(content: string): ToolOutcome {
  if (content === 'Session closed' || content.startsWith('Interrupted by user'))
    return { ok: false, ran: true, exitCode: null };
  if (/^(?:Permission denied by|Tool call (?:was )?(?:rejected|denied))/i.test(content)) return neverRan;
  const code = /(?:^|\n)Command failed with exit code: (-?\d+)\.?\s*$/.exec(content.slice(-400))?.[1];
  if (code !== undefined) return { ok: false, ran: true, exitCode: exitCodeOf(Number(code)) };
  if (/(?:^|\n)Command killed by timeout/.test(content.slice(-400)))
    return { ok: false, ran: true, exitCode: null };
  if (/^task_id: /.test(content)) return { ok: true, ran: true, exitCode: null };
  const failed =
    /^(?:<system>)?(?:Error\b|ERROR\b|Failed to\b|Invalid\b)|does not exist|^Old string|no replacements were made|is not a file|is a directory/;
  return failed.test(content.slice(0, 300)) && !/^\s*\d+\t/.test(content)
    ? { ok: false, ran: true, exitCode: null }
    : finishedWell;
}
