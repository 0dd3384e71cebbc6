import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

/** One thing that the scripted model does; `say` is said before it. */
export type Step = { readonly say?: string } & (
  | { readonly read: string }
  | { readonly write: string; readonly content: string }
  | { readonly shell: string }
  | { readonly plan: readonly { readonly text: string; readonly done: boolean }[] }
);

/** A tool call that the model makes, with an id of which the step can be told again from the history. */
export interface Call {
  readonly id: string;
  readonly step: Step;
}

/** What the model answers: words, a tool call, or both. */
export interface Reply {
  readonly text: string;
  readonly call: Call | null;
}

export interface Usage {
  readonly input: number;
  readonly cachedInput: number;
  readonly output: number;
}

/** What a request says, whatever the API it is written in. */
export interface Conversation {
  /** Texts of the person, without what the agent puts in between by itself. */
  readonly prompts: readonly string[];
  /** Results of tool calls by call id. */
  readonly results: ReadonlyMap<string, string>;
  /** The folder that the agent works in, where the request tells it. */
  readonly folder: string | null;
  /** The agent's own loop, as against a title or a summary that it asks for beside it. */
  readonly main: boolean;
  readonly model: string;
  readonly stream: boolean;
}

/** A usage limit, as it stands when a request is refused. */
export interface Limit {
  /** Epoch ms, a whole second. */
  readonly resetAt: number;
  readonly now: number;
}

/** One model API: how its requests are read and its answers written. */
export interface Wire {
  readonly path: string;
  account(headers: IncomingHttpHeaders): string;
  read(body: Record<string, unknown>): Conversation;
  answer(response: ServerResponse, conversation: Conversation, reply: Reply, usage: Usage): void;
  /** As much of a streamed answer as comes before the line is cut. */
  beginAnswer(response: ServerResponse, conversation: Conversation): void;
  refuse(response: ServerResponse, limit: Limit): void;
  overload(response: ServerResponse): void;
  unauthorized(response: ServerResponse): void;
}

/** Answers with JSON. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Starts a stream of server-sent events. */
export function startEvents(response: ServerResponse, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...headers });
}

/** One event whose name is also its `type`. */
export function sendEvent(response: ServerResponse, type: string, data: object): void {
  response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
}

/** The value as a list of objects. */
export function objects(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value)
    ? value.filter((item): item is Record<string, unknown> => typeof item === 'object' && item !== null)
    : [];
}

/** The text of a message's content: a text, or blocks with a text. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return objects(content)
    .map((block) => (typeof block['text'] === 'string' ? block['text'] : ''))
    .join('\n');
}

/** Whether the agent itself put this text between the person's. */
export function isInjected(text: string): boolean {
  return (
    text.trim() === '' ||
    text.trimStart().startsWith('<') ||
    text.startsWith('# AGENTS.md') ||
    text.startsWith('[Request interrupted')
  );
}

export function bearer(headers: IncomingHttpHeaders): string {
  return (headers.authorization ?? '').replace(/^Bearer /, '');
}

/** The last match of the pattern's first group. */
export function lastMatch(text: string, pattern: RegExp): string | null {
  return [...text.matchAll(pattern)].at(-1)?.[1] ?? null;
}
