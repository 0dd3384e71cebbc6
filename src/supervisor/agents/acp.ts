import { isStopAsSuccess } from '../verdict/verdict.js';
import { acpToolCalls, helperNote } from './acpTools.js';
import type { Adapter, AgentEvent, AgentParser, CommandLine, LaunchRequest } from './agent.js';
import { programLine } from './command.js';
import {
  type JsonObject,
  exitCodeOf,
  headField,
  jsonLine,
  objectOf,
  plainText,
  textOf,
  tokensOf,
  unrecognized,
} from './jsonLine.js';
import { checkLine, modelArgs } from './launch.js';
import { nextItems } from './toolUse.js';

/**
 * Any agent that speaks the Agent Client Protocol on its standard streams. Our helper holds the conversation with it
 * and prints what it says, so that the run can be followed and adopted like every other one.
 */
export const acp: Adapter = {
  name: 'acp',
  programs: [],
  // Where a session goes on when it is loaded from another folder differs from agent to agent.
  traits: { sessionId: 'printed', stopSignal: 'SIGTERM', resumeElsewhere: 'refused', silentFor: 0 },
  signIn: null,
  credentialFiles: [],
  commandLine: (request) => line(request, {}),
  resumeLine: (request, session) => line(request, { SWARM_SESSION: session }),
  parser: acpParser,
};

function line(request: LaunchRequest, env: Readonly<Record<string, string>>): CommandLine {
  const { executor } = request;
  const check = checkLine(request.check);
  return {
    ...programLine(request, [], env),
    helper: {
      name: 'acp',
      args: [
        ...['--permissions', executor.permissions],
        ...modelArgs(executor, '--model'),
        ...(check === null ? [] : ['--check', check]),
      ],
    },
  };
}

/** So much of a message is kept back until its next line ends. */
const longestPiece = 1_000;

function acpParser(): AgentParser {
  const tools = acpToolCalls();
  let session = '';
  let canLoad = true;
  /** The message that is being streamed, what of it has not been told yet, and the last whole one. */
  let pending = '';
  let message = '';
  let usedTools = false;
  return {
    push(output) {
      const plain = plainText(output.text);
      if (plain === '' || output.stream === 'stderr') return [{ type: 'ignored' }];
      const parsed = jsonLine(plain);
      const events = parsed === null ? cutLineEvents(plain) : messageEvents(parsed, plain);
      return events.length === 0 ? [{ type: 'ignored' }] : events;
    },
  };

  function messageEvents(parsed: JsonObject, plain: string): readonly AgentEvent[] {
    const method = textOf(parsed['method']);
    const params = objectOf(parsed['params']) ?? {};
    if (method === 'session/update') return [...sessionEvents(params), ...updateEvents(params)];
    if (Object.values(helperNote).includes(method)) return noteEvents(method, params);
    if (method !== '') return [];
    const error = objectOf(parsed['error']);
    if (error !== null) {
      const text = errorText(error);
      // Some agents say the failure as the model's words first; that is no progress.
      if (pending.trim() !== '' && text.includes(pending.trim())) pending = '';
      return [...told(), ...failure(parsed, text)];
    }
    const result = objectOf(parsed['result']);
    if (result === null) return parsed['jsonrpc'] === undefined ? [unrecognized(plain)] : [];
    return [...sessionEvents(result), ...resultEvents(parsed, result)];
  }

  /** An id is of use only where the agent can take the session up again. */
  function sessionEvents(source: JsonObject): readonly AgentEvent[] {
    const id = textOf(source['sessionId']);
    if (id === '' || id === session || !canLoad) return [];
    session = id;
    return [{ type: 'session', id }];
  }

  function updateEvents(params: JsonObject): readonly AgentEvent[] {
    const update = objectOf(params['update']) ?? {};
    switch (update['sessionUpdate']) {
      case 'agent_message_chunk':
        return [...streamed(textOf(objectOf(update['content'])?.['text'])), ...messageUsage(update)];
      case 'agent_thought_chunk':
      case 'user_message_chunk':
        return told();
      case 'tool_call':
      case 'tool_call_update':
        usedTools = true;
        return [...told(), ...tools.heard(update)];
      case 'plan':
        return [...told(), { type: 'next', items: nextItems(update['entries']) }];
      case 'usage_update':
        return limitEvents(update);
      default:
        return [];
    }
  }

  function streamed(text: string): readonly AgentEvent[] {
    if (text !== '' && pending === '') message = '';
    pending += text;
    message += text;
    return pending.length > longestPiece ? told() : [];
  }

  /** What has been streamed so far, as one text. */
  function told(): readonly AgentEvent[] {
    const text = pending;
    pending = '';
    return text.trim() === '' ? [] : [{ type: 'text', text }];
  }

  function resultEvents(parsed: JsonObject, result: JsonObject): readonly AgentEvent[] {
    const capabilities = objectOf(result['agentCapabilities']);
    if (capabilities !== null) {
      const resumes = objectOf(objectOf(capabilities['sessionCapabilities'])?.['resume']) !== null;
      canLoad = capabilities['loadSession'] === true || resumes;
      return [];
    }
    const stopReason = textOf(result['stopReason']);
    return stopReason === '' ? [] : [...turnUsage(result), ...endEvents(parsed, stopReason)];
  }

  function endEvents(parsed: JsonObject, stopReason: string): readonly AgentEvent[] {
    const said = message.trim();
    if (stopReason !== 'end_turn')
      return [...told(), ...failure({ ...parsed, error: stopText(stopReason) }, stopText(stopReason))];
    // Some agents end a turn that has failed like one that went well, and tell the failure as their words.
    const failed = isStopAsSuccess(said) || (!usedTools && /^Error: .+/.test(said));
    const words = failed ? [] : told();
    pending = '';
    usedTools = false;
    if (failed) return failure({ type: 'error', message: said }, said);
    return [...words, { type: 'done', ok: true, result: said }];
  }

  function noteEvents(method: string, params: JsonObject): readonly AgentEvent[] {
    const path = textOf(params['path']);
    switch (method) {
      case helperNote.denied:
        tools.dropped(textOf(params['toolCallId']));
        return [...told(), { type: 'denied', what: textOf(params['what']) }];
      case helperNote.read:
        return path === '' ? [] : [{ type: 'read', path }];
      case helperNote.writing:
      case helperNote.write:
        return path === ''
          ? []
          : [{ type: method === helperNote.write ? 'write' : 'writing', path, tool: 'fs/write_text_file' }];
      default:
        return [];
    }
  }

  /** A line that was too long for the log still says which call has ended. */
  function cutLineEvents(plain: string): readonly AgentEvent[] {
    const id = headField(plain, 'toolCallId');
    const events = id === null ? [] : tools.heard({ toolCallId: id, status: headField(plain, 'status') });
    return events.length === 0 ? [unrecognized(plain)] : events;
  }
}

function failure(event: JsonObject, text: string): readonly AgentEvent[] {
  const status = exitCodeOf(objectOf(event['error'])?.['code']);
  const isHttp = status !== null && status >= 400 && status <= 599;
  const signal = {
    channel: 'event',
    providerOrCli: 'acp',
    text,
    event,
    ...(isHttp ? { httpStatus: status } : {}),
  } as const;
  return [
    { type: 'signal', final: true, signal },
    { type: 'done', ok: false, result: text },
  ];
}

/** What the protocol's own reasons mean, in words that a person and the verdict can read. */
function stopText(stopReason: string): string {
  switch (stopReason) {
    case 'max_tokens':
      return "The conversation has reached the model's maximum context length (max_tokens)";
    case 'max_turn_requests':
      return 'The turn was stopped at its maximum number of model requests (max_turn_requests)';
    case 'refusal':
      return 'The model refused to go on (refusal): its content policy';
    case 'cancelled':
      return 'The turn was cancelled';
    default:
      return `The turn ended with ${stopReason}`;
  }
}

function errorText(error: JsonObject): string {
  const data = objectOf(error['data']);
  const more = textOf(data?.['message']) || textOf(data?.['details']) || textOf(error['data']);
  const message = textOf(error['message']);
  return more === '' || message.includes(more) ? message : `${message}: ${more}`;
}

/** Claude's adapter passes on what its account's limits are. */
function limitEvents(update: JsonObject): readonly AgentEvent[] {
  const limit = objectOf(objectOf(update['_meta'])?.['_claude/rateLimit']);
  if (limit === null || limit['status'] === 'allowed') return [];
  const event = { type: 'rate_limit_event', rate_limit_info: limit };
  return [
    {
      type: 'signal',
      final: false,
      signal: { channel: 'event', providerOrCli: 'claude-code', text: JSON.stringify(event), event },
    },
  ];
}

function turnUsage(result: JsonObject): readonly AgentEvent[] {
  const quota = objectOf(objectOf(objectOf(result['_meta'])?.['quota'])?.['token_count']);
  return usageEvents(objectOf(result['usage']) ?? quota);
}

function messageUsage(update: JsonObject): readonly AgentEvent[] {
  return usageEvents(objectOf(objectOf(update['_meta'])?.['usage']));
}

function usageEvents(usage: JsonObject | null): readonly AgentEvent[] {
  const input = tokensOf(usage?.['inputTokens']) + tokensOf(usage?.['input_tokens']);
  const output = tokensOf(usage?.['outputTokens']) + tokensOf(usage?.['output_tokens']);
  if (usage === null || input + output === 0) return [];
  return [{ type: 'usage', mode: 'add', input, cachedInput: tokensOf(usage['cachedReadTokens']), output }];
}
