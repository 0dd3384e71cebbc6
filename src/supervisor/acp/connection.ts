import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { type JsonObject, jsonLine, objectOf, textOf } from '../agents/jsonLine.js';

/** How a request of ours ended. `late` and `gone`: there was no answer in time, or nobody is left to give one. */
export type Reply =
  | { readonly kind: 'result'; readonly result: JsonObject; readonly message: JsonObject }
  | { readonly kind: 'error'; readonly message: JsonObject }
  | { readonly kind: 'late' }
  | { readonly kind: 'gone' };

/** A refusal that the other side gets as a JSON-RPC error. */
export class Refusal extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

export const methodNotFound = -32601;
export const invalidParams = -32602;

/** What the other side wants of us. */
export interface Listener {
  notified(method: string, params: JsonObject, message: JsonObject): void;
  /** The result of a request of theirs; throws a Refusal. */
  asked(method: string, params: JsonObject): Promise<unknown>;
  /** A line that is no message. */
  rubbish(line: string): void;
}

/** JSON-RPC 2.0 over lines: one side of a conversation. */
export interface Connection {
  request(method: string, params: object, patience?: number): Promise<Reply>;
  notify(method: string, params: object): void;
}

/** A longer line is no message of a sane program, and would fill the memory. */
const longestLine = 64 * 1024 * 1024;

export function connect(from: Readable, to: Writable, listener: Listener): Connection {
  const waiting = new Map<number, (reply: Reply) => void>();
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let last = 0;
  let gone = false;

  const leave = (): void => {
    gone = true;
    for (const settle of waiting.values()) settle({ kind: 'gone' });
    waiting.clear();
  };
  // A program that has ended closes its input too; that it has ended is told by its output.
  to.on('error', leave);
  from.on('error', leave);
  from.on('end', leave);
  from.on('close', leave);
  from.on('data', (bytes: Buffer) => {
    const lines = (rest + decoder.write(bytes)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > longestLine) rest = '';
    for (const line of lines) hear(line);
  });

  function hear(line: string): void {
    if (line.trim() === '') return;
    const message = jsonLine(line);
    if (message === null) return listener.rubbish(line);
    const method = textOf(message['method']);
    const params = objectOf(message['params']) ?? {};
    if (method !== '' && message['id'] !== undefined && message['id'] !== null)
      return void answer(message['id'], method, params);
    if (method !== '') return listener.notified(method, params, message);
    const settle = typeof message['id'] === 'number' ? waiting.get(message['id']) : undefined;
    if (settle === undefined) return listener.rubbish(line);
    const failed = objectOf(message['error']) !== null;
    settle(
      failed
        ? { kind: 'error', message }
        : { kind: 'result', result: objectOf(message['result']) ?? {}, message },
    );
  }

  async function answer(id: unknown, method: string, params: JsonObject): Promise<void> {
    try {
      send({ id, result: (await listener.asked(method, params)) ?? null });
    } catch (error) {
      const code = error instanceof Refusal ? error.code : -32603;
      send({ id, error: { code, message: error instanceof Error ? error.message : String(error) } });
    }
  }

  function send(message: object): void {
    if (!gone) to.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  return {
    request: (method, params, patience) =>
      new Promise((resolve) => {
        if (gone) return resolve({ kind: 'gone' });
        const id = ++last;
        const timer = patience === undefined ? null : setTimeout(() => settle({ kind: 'late' }), patience);
        const settle = (reply: Reply): void => {
          if (timer !== null) clearTimeout(timer);
          waiting.delete(id);
          resolve(reply);
        };
        waiting.set(id, settle);
        send({ id, method, params });
      }),
    notify: (method, params) => send({ method, params }),
  };
}
