import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { parseObject } from './record.js';

/** Bytes of one message; a manifest with many long prompts fits. */
export const longestMessage = 64 * 1024 * 1024;

export type Message = Readonly<Record<string, unknown>>;

/**
 * JSON objects over a stream, one a line. The other side is not trusted: a line that is too long or no object ends the
 * connection.
 */
export function readMessages(
  socket: Socket,
  onMessage: (message: Message) => void,
  limit = longestMessage,
): void {
  const decoder = new StringDecoder('utf8');
  let parts: string[] = [];
  let length = 0;
  socket.on('data', (chunk: Buffer) => {
    let text = decoder.write(chunk);
    for (;;) {
      const newline = text.indexOf('\n');
      if (newline === -1) break;
      const message = parseObject(parts.join('') + text.slice(0, newline));
      parts = [];
      length = 0;
      text = text.slice(newline + 1);
      if (message === null) {
        socket.destroy();
        return;
      }
      onMessage(message);
    }
    if (text === '') return;
    parts.push(text);
    length += text.length;
    if (length > limit) socket.destroy();
  });
}

export function sendMessage(socket: Socket, message: Message): void {
  if (!socket.destroyed && socket.writable) socket.write(JSON.stringify(message) + '\n');
}
