import type { Readable, Writable } from 'node:stream';
import { type AcpToolCall, helperNote, mergeToolCall } from '../agents/acpTools.js';
import { type JsonObject, exitCodeOf, objectOf, textOf } from '../agents/jsonLine.js';
import { type Connection, type Reply, Refusal, connect, methodNotFound } from './connection.js';
import { readText, writeText } from './files.js';
import { type Allowance, isAllowed, optionFor, refusedText } from './permission.js';
import { modeSetting, modelSetting } from './setup.js';

export interface ConversationOptions extends Allowance {
  readonly prompt: string;
  /** The session to go on with; null: a new one. */
  readonly session: string | null;
  readonly model: string | null;
  /** Writes one line for the supervisor. */
  readonly print: (line: string) => void;
  /** How long the first answers may take, in ms. */
  readonly patience: number;
}

/** `gone`: the agent's program has left. */
export type Outcome = 'done' | 'failed' | 'gone';

export interface Conversation {
  readonly outcome: Promise<Outcome>;
  /** Asks the agent to leave off; the outcome follows. */
  cancel(): void;
}

/** One turn with an agent: opens or loads a session, sends the prompt, answers what the agent asks until it is done. */
export function converse(from: Readable, to: Writable, options: ConversationOptions): Conversation {
  const calls = new Map<string, AcpToolCall>();
  let session: string | null = null;
  /** The agent tells the history of a loaded session once more; all of that has been heard. */
  let replays = false;
  let canceled = false;

  const link: Connection = connect(from, to, {
    rubbish: (line) => options.print(line),
    notified(method, params, message) {
      if (method !== 'session/update' || replays) return;
      const update = objectOf(params['update']) ?? {};
      const id = textOf(update['toolCallId']);
      if (id !== '') calls.set(id, mergeToolCall(calls.get(id), update));
      if (!idle.has(textOf(update['sessionUpdate']))) options.print(JSON.stringify(shortened(message)));
    },
    asked: (method, params) => answer(method, params),
  });

  return {
    outcome: run(),
    cancel() {
      canceled = true;
      if (session !== null) link.notify('session/cancel', { sessionId: session });
    },
  };

  async function run(): Promise<Outcome> {
    const { patience, folder } = options;
    const hello = await link.request('initialize', greeting, patience);
    if (hello.kind === 'late') return fail(`${noAgent}: it did not answer within ${patience / 1000} s`);
    if (hello.kind !== 'result') return ended(hello, noAgent);
    const version = exitCodeOf(hello.result['protocolVersion']);
    if (version === null) return fail(`${noAgent}: its answer names no version`);
    if (version !== greeting.protocolVersion)
      return fail(`The agent speaks version ${version} of the Agent Client Protocol, which is not supported`);
    options.print(JSON.stringify(shortened(hello.message)));
    const opened = await open(objectOf(hello.result['agentCapabilities']) ?? {});
    if (opened === null)
      return fail('session not found: this agent cannot go on in an earlier session; it is started afresh');
    if (opened.kind !== 'result') return ended(opened, 'The agent opened no session in time');
    session = options.session ?? textOf(opened.result['sessionId']);
    if (session === '') return fail(`${noAgent}: it named no session`);
    options.print(JSON.stringify(shortened({ ...opened.message, result: { sessionId: session } })));
    const problem = await settle(session, opened.result);
    if (problem !== null) return fail(problem);
    // A stop that came before there was anything to cancel.
    if (canceled) return 'failed';
    const turn = await link.request('session/prompt', {
      sessionId: session,
      prompt: [{ type: 'text', text: options.prompt }],
    });
    if (turn.kind !== 'result') return ended(turn, `The agent did not answer in ${folder}`);
    options.print(JSON.stringify(shortened(turn.message)));
    return turn.result['stopReason'] === 'end_turn' ? 'done' : 'failed';
  }

  /** Null where the agent cannot take up the session that is asked for. */
  async function open(capabilities: JsonObject): Promise<Reply | null> {
    const params = { cwd: options.folder, mcpServers: [] };
    const wait = 2 * options.patience;
    if (options.session === null) return link.request('session/new', params, wait);
    const known = { sessionId: options.session, ...params };
    if (objectOf(objectOf(capabilities['sessionCapabilities'])?.['resume']) !== null)
      return link.request('session/resume', known, wait);
    if (capabilities['loadSession'] !== true) return null;
    replays = true;
    const loaded = await link.request('session/load', known, wait);
    replays = false;
    return loaded;
  }

  /** Mode and model; says what is wrong, or null. A mode that cannot be set is no reason to stop: we are asked then. */
  async function settle(sessionId: string, opened: JsonObject): Promise<string | null> {
    const mode = modeSetting(opened, options.permissions);
    if (mode !== null) await link.request(mode.method, { sessionId, ...mode.params }, options.patience);
    const model = options.model === null ? null : modelSetting(opened, options.model);
    if (model === null) return null;
    if ('unknown' in model)
      return `invalid model: the agent has no "${options.model}"; it has ${model.unknown.join(', ')}`;
    const set = await link.request(model.method, { sessionId, ...model.params }, options.patience);
    return set.kind === 'result' ? null : `invalid model: the agent would not take "${options.model}"`;
  }

  async function answer(method: string, params: JsonObject): Promise<unknown> {
    switch (method) {
      case 'session/request_permission':
        return { outcome: await permission(params) };
      case 'fs/read_text_file': {
        const path = textOf(params['path']);
        const part = { line: exitCodeOf(params['line']), limit: exitCodeOf(params['limit']) };
        const content = await readText(options.folder, path, part);
        if (!replays) note(helperNote.read, { path });
        return { content };
      }
      case 'fs/write_text_file': {
        const path = textOf(params['path']);
        note(helperNote.writing, { path });
        await writeText(options.folder, path, textOf(params['content']));
        note(helperNote.write, { path });
        return {};
      }
      default:
        throw new Refusal(methodNotFound, `Method not found: ${method}`);
    }
  }

  async function permission(params: JsonObject): Promise<object> {
    const asked = objectOf(params['toolCall']) ?? {};
    const id = textOf(asked['toolCallId']);
    const call = mergeToolCall(calls.get(id), asked);
    const allowed = await isAllowed(call, options);
    if (canceled) return { outcome: 'cancelled' };
    if (!allowed) note(helperNote.denied, { toolCallId: id, what: refusedText(call) });
    const optionId = optionFor(params['options'], allowed);
    return optionId === null ? { outcome: 'cancelled' } : { outcome: 'selected', optionId };
  }

  function note(method: string, params: object): void {
    options.print(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }

  function ended(reply: Exclude<Reply, { kind: 'result' }>, late: string): Outcome {
    switch (reply.kind) {
      case 'gone':
        return 'gone';
      case 'late':
        return fail(`${late}: timed out`);
      case 'error':
        options.print(JSON.stringify(shortened(reply.message)));
        return 'failed';
      default:
        return reply satisfies never;
    }
  }

  function fail(message: string): Outcome {
    if (canceled) return 'failed';
    options.print(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message } }));
    return 'failed';
  }
}

const greeting = {
  protocolVersion: 1,
  // Commands are run by the agent, which asks first: it gets no terminal of ours.
  clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false },
  clientInfo: { name: 'swarm-panel', title: 'Swarm Panel', version: '1' },
};

const noAgent = 'Invalid request: the program does not speak the Agent Client Protocol';

/** Long, and of no importance for a run without a person. */
const idle: ReadonlySet<string> = new Set([
  'available_commands_update',
  'config_option_update',
  'current_mode_update',
  'session_info_update',
  'user_message_chunk',
]);

const longestText = 8_000;

/** Whole files come with tool calls; a line of the log must stay a line that can be read. */
function shortened(message: JsonObject): unknown {
  return JSON.parse(JSON.stringify(message), (_key, value: unknown) =>
    typeof value === 'string' && value.length > longestText ? `${value.slice(0, longestText)}…` : value,
  );
}
