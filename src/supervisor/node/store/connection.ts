import net, { type Socket } from 'node:net';
import { z } from 'zod';
import type { View } from '../../../protocol/view.js';
import type { Owner } from '../../core/state.js';
import { StoreError, type Connection } from '../../ports.js';
import { readMessages, sendMessage, type Message } from './channel.js';
import type { Holder } from './lock.js';

const pingEvery = 5_000;
/** An owner that says nothing for so long is held to be stuck. */
const silentFor = 30_000;

const ownerSchema = z.object({ pid: z.number(), epoch: z.number(), host: z.string() });

/** Why no line to the owner came about: `unreachable`, nothing listens (yet); `silent`, it does not answer. */
export type ConnectFailure = 'unreachable' | 'silent';

export async function connectTo(holder: Holder, within: number): Promise<Connection | ConnectFailure> {
  return new Promise((resolve) => {
    const socket = net.connect(holder.socket);
    const late = setTimeout(() => {
      socket.destroy();
      resolve('silent');
    }, within);
    let viewer: ViewerEnd | null = null;
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearTimeout(late);
      viewer?.end();
      resolve('unreachable');
    });
    socket.once('connect', () => sendMessage(socket, { hello: holder.nonce }));
    readMessages(
      socket,
      (message) => {
        if (viewer !== null) {
          viewer.receive(message);
          return;
        }
        const owner = ownerSchema.safeParse(message['hello']);
        if (!owner.success) {
          socket.destroy();
          return;
        }
        clearTimeout(late);
        viewer = new ViewerEnd(socket, owner.data);
        resolve(viewer);
      },
      Infinity,
    );
  });
}

interface Question {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

class ViewerEnd implements Connection {
  readonly closed: Promise<void>;
  private readonly open = new Map<number, Question>();
  private readonly listeners = new Set<(view: View) => void>();
  private readonly timer: NodeJS.Timeout;
  private lastView: View | null = null;
  private silent = 0;
  private next = 0;
  private gone = false;
  private tellClosed: () => void = () => undefined;

  constructor(
    private readonly socket: Socket,
    readonly owner: Owner,
  ) {
    this.closed = new Promise((resolve) => (this.tellClosed = resolve));
    // Counted in turns of the timer, not in time: a sleep of the machine is no silence.
    this.timer = setInterval(() => {
      this.silent += pingEvery;
      if (this.silent > silentFor) this.socket.destroy();
      else sendMessage(this.socket, { ping: this.silent });
    }, pingEvery);
    this.timer.unref();
  }

  request(request: unknown): Promise<unknown> {
    if (this.gone) return Promise.reject(new StoreError('closed', 'The owner has gone.'));
    const id = ++this.next;
    return new Promise((resolve, reject) => {
      this.open.set(id, { resolve, reject });
      sendMessage(this.socket, { id, request });
    });
  }

  onView(listener: (view: View) => void): { dispose(): void } {
    this.listeners.add(listener);
    if (this.lastView !== null) listener(this.lastView);
    return { dispose: () => void this.listeners.delete(listener) };
  }

  close(): void {
    this.socket.destroy();
    this.end();
  }

  receive(message: Message): void {
    this.silent = 0;
    if (typeof message['view'] === 'object' && message['view'] !== null) {
      // Our own owner's view: it comes from the same program, over a line only this user can open.
      this.lastView = message['view'] as View;
      for (const listener of this.listeners) listener(this.lastView);
      return;
    }
    const { id, answer, error } = message;
    const question = typeof id === 'number' ? this.open.get(id) : undefined;
    if (question === undefined) return;
    this.open.delete(Number(id));
    if (typeof error === 'string') question.reject(new Error(error));
    else question.resolve(answer);
  }

  end(): void {
    if (this.gone) return;
    this.gone = true;
    clearInterval(this.timer);
    for (const question of this.open.values())
      question.reject(new StoreError('closed', 'The owner has gone before it answered.'));
    this.open.clear();
    this.tellClosed();
  }
}
