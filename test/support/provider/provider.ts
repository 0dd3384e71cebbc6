import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropic } from './anthropic.js';
import { chat } from './chat.js';
import { responses } from './responses.js';
import { nextReply, type Task, taskOf } from './script.js';
import type { Conversation, Reply, Wire } from './wire.js';

export interface ProviderOptions {
  /** Whose API and limits it speaks. */
  readonly agent: 'claude' | 'codex' | 'kimi';
  /** The tasks by the marker that their prompts carry: `task: t3`. */
  readonly tasks: Readonly<Record<string, Task>>;
  /** After so many answered calls of an account its usage limit closes, once; never without it. */
  readonly limitAfterCalls?: number;
  /** How far away the reset then is; it falls on the next whole second. */
  readonly resetInMs?: number;
  /** How long the model thinks before each answer. */
  readonly thinkMs?: number;
}

/** One request as it was seen. */
export interface ProviderRequest {
  readonly n: number;
  /** Epoch ms of its arrival. */
  readonly at: number;
  readonly path: string;
  /** The key or token that pays. */
  readonly account: string;
  /** The marker of the child, where the prompt carries one. */
  readonly task: string | null;
  /** The agent's own loop, as against side requests such as a title. */
  readonly main: boolean;
  readonly bytes: number;
  /** A fourth of the characters. */
  readonly tokens: number;
  readonly status: number;
  /** Refused by the usage limit. */
  readonly refused: boolean;
  /** The first request of a session that goes on: the whole history is sent again with a new prompt. */
  readonly resumed: boolean;
  /** How many tool results the history carries. */
  readonly results: number;
  /** Which step it was answered with; null for the last word, a refusal or a side request. */
  readonly step: number | null;
}

export type Fault = 'overloaded' | 'cut' | 'unauthorized';

export interface Provider {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** All requests in order of arrival. */
  readonly log: readonly ProviderRequest[];
  /** The latest reset of a limit that was reached (epoch ms), past or to come; null if none was. */
  readonly resetAt: number | null;
  /** Arms the limit once more: it closes for each account after so many further answered calls. */
  limitAfter(calls: number, resetInMs: number): void;
  /** The next so many requests fail so. */
  failNext(count: number, fault: Fault): void;
  /** Ends the limit now. */
  open(): void;
  /** Answers nothing until `release`; requests are logged as they come. */
  hold(): void;
  release(): void;
  close(): Promise<void>;
}

interface Account {
  answered: number;
  /** Answered calls at which the limit closes; null when it is not armed. */
  closesAt: number | null;
  resetAt: number | null;
}

const wires: Readonly<Record<ProviderOptions['agent'], Wire>> = {
  claude: anthropic,
  codex: responses,
  kimi: chat,
};

/** A model provider on loopback that walks the real agents through scripted tasks. */
export async function startProvider(options: ProviderOptions): Promise<Provider> {
  const wire = wires[options.agent];
  const log: ProviderRequest[] = [];
  const accounts = new Map<string, Account>();
  const promptsSeen = new Map<string, number>();
  const tokensSeen = new Map<string, number>();
  const faults: Fault[] = [];
  let gate: { readonly opened: Promise<void>; readonly open: () => void } | null = null;
  let limit =
    options.limitAfterCalls === undefined
      ? null
      : { calls: options.limitAfterCalls, resetInMs: options.resetInMs ?? 8_000 };

  const server = createServer((request, response) => {
    void handle(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = (server.address() as AddressInfo).port;

  return {
    url: `http://127.0.0.1:${port}`,
    log,
    get resetAt() {
      const resets = [...accounts.values()].flatMap((account) =>
        account.resetAt === null ? [] : [account.resetAt],
      );
      return resets.length === 0 ? null : Math.max(...resets);
    },
    limitAfter(calls, resetInMs) {
      limit = { calls, resetInMs };
      for (const account of accounts.values()) account.closesAt = account.answered + calls;
    },
    failNext(count, fault) {
      for (let i = 0; i < count; i++) faults.push(fault);
    },
    open() {
      for (const account of accounts.values())
        account.resetAt = account.resetAt === null ? null : Math.min(account.resetAt, Date.now());
    },
    hold() {
      let open = () => {};
      const opened = new Promise<void>((resolve) => (open = resolve));
      gate ??= { opened, open };
    },
    release() {
      gate?.open();
      gate = null;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = Date.now();
    const text = await bodyText(request);
    const pathname = new URL(request.url ?? '/', 'http://x').pathname;
    const account = wire.account(request.headers);
    if (request.method !== 'POST' || pathname !== wire.path) {
      note({
        at,
        path: pathname,
        account,
        task: null,
        main: false,
        bytes: text.length,
        status: 404,
        refused: false,
        resumed: false,
        results: 0,
        step: null,
      });
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"not found","type":"not_found_error"}}');
      return;
    }

    const conversation = wire.read(JSON.parse(text) as Record<string, unknown>);
    const task = taskOf(conversation, options.tasks);
    const state = accountState(account);
    const main = conversation.main && task !== null;
    const seen = {
      at,
      path: pathname,
      account,
      task,
      main,
      bytes: Buffer.byteLength(text),
      results: conversation.results.size,
    };
    const resumed = main && isResumed(task, conversation);
    if (main && state.closesAt !== null && state.answered >= state.closesAt && limit !== null) {
      state.closesAt = null;
      state.resetAt = Math.ceil((at + limit.resetInMs) / 1000) * 1000;
    }
    if (state.resetAt !== null && at < state.resetAt) {
      note({ ...seen, status: options.agent === 'kimi' ? 403 : 429, refused: true, resumed, step: null });
      wire.refuse(response, { resetAt: state.resetAt, now: at });
      return;
    }
    const fault = faults.shift();
    if (fault !== undefined) {
      note({
        ...seen,
        status: fault === 'overloaded' ? 503 : fault === 'unauthorized' ? 401 : 200,
        refused: false,
        resumed,
        step: null,
      });
      fail(fault, response, conversation);
      return;
    }
    if (main) state.answered++;
    const { reply, step } = main
      ? nextReply(task, options.tasks, conversation)
      : { reply: sideReply, step: null };
    note({ ...seen, status: 200, refused: false, resumed, step });
    await gate?.opened;
    if (options.thinkMs !== undefined) await new Promise((resolve) => setTimeout(resolve, options.thinkMs));
    const input = Math.ceil(text.length / 4);
    const cachedInput = task === null ? 0 : Math.min(input, tokensSeen.get(task) ?? 0);
    if (task !== null) tokensSeen.set(task, input);
    wire.answer(response, conversation, reply, { input, cachedInput, output: 25 });
  }

  function note(entry: Omit<ProviderRequest, 'n' | 'tokens'>): void {
    log.push({ n: log.length + 1, tokens: Math.ceil(entry.bytes / 4), ...entry });
  }

  function accountState(name: string): Account {
    const known = accounts.get(name);
    if (known !== undefined) return known;
    const fresh: Account = { answered: 0, closesAt: limit?.calls ?? null, resetAt: null };
    accounts.set(name, fresh);
    return fresh;
  }

  /** A resume sends what was sent before and one prompt more. */
  function isResumed(task: string, conversation: Conversation): boolean {
    const before = promptsSeen.get(task);
    promptsSeen.set(task, conversation.prompts.length);
    return before !== undefined && conversation.prompts.length > before;
  }

  function fail(fault: Fault, response: ServerResponse, conversation: Conversation): void {
    switch (fault) {
      case 'overloaded':
        return wire.overload(response);
      case 'unauthorized':
        return wire.unauthorized(response);
      case 'cut':
        wire.beginAnswer(response, conversation);
        response.socket?.destroySoon();
        return;
      default:
        return fault satisfies never;
    }
  }
}

const sideReply: Reply = { text: 'A small task', call: null };

async function bodyText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
