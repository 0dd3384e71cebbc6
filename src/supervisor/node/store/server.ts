import fs from 'node:fs/promises';
import net, { type Server, type Socket } from 'node:net';
import type { View } from '../../../protocol/view.js';
import type { Owner } from '../../core/state.js';
import type { Disposable } from '../../ports.js';
import { messageOf } from '../fsCalls.js';
import { readMessages, sendMessage, type Message } from './channel.js';

/** A viewer that does not read gets no further views until it has taken what is under way. */
const mostWaiting = 8 * 1024 * 1024;
/** Time to say the secret. */
const helloWithin = 5_000;
const mostViewers = 64;

export type Handler = (request: unknown) => Promise<unknown>;

interface Viewer {
  readonly socket: Socket;
  behind: boolean;
}

/**
 * The owner's end of the line to the viewers. A viewer first names the secret that stands in the owner's lock file,
 * which only this user can read; then it sends requests and gets views.
 */
export class ViewerServer {
  private server: Server | null = null;
  private handler: Handler | null = null;
  private readonly viewers = new Set<Viewer>();
  private readonly sockets = new Set<Socket>();
  /** The last view as it is sent, and the one that nobody was there to see. */
  private lastView: string | null = null;
  private pending: View | null = null;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly path: string,
    private readonly secret: string,
    private readonly owner: Owner,
  ) {}

  async listen(): Promise<void> {
    const server = net.createServer((socket) => this.welcome(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.path, resolve);
    });
    server.on('error', () => undefined);
    server.unref();
    this.server = server;
    if (process.platform !== 'win32') await fs.chmod(this.path, 0o600).catch(() => undefined);
  }

  serve(handler: Handler): Disposable {
    this.handler = handler;
    for (const go of this.waiting.splice(0)) go();
    return {
      dispose: () => {
        if (this.handler === handler) this.handler = null;
      },
    };
  }

  publish(view: View): void {
    if (this.viewers.size === 0) {
      this.pending = view;
      return;
    }
    this.pending = null;
    this.lastView = JSON.stringify({ view }) + '\n';
    for (const viewer of this.viewers) this.sendView(viewer);
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    const server = this.server;
    this.server = null;
    for (const go of this.waiting.splice(0)) go();
    if (server !== null) await new Promise<void>((resolve) => server.close(() => resolve()));
    if (process.platform !== 'win32') await fs.unlink(this.path).catch(() => undefined);
  }

  private welcome(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    const viewer: Viewer = { socket, behind: false };
    const impatience = setTimeout(() => socket.destroy(), helloWithin);
    socket.once('close', () => {
      clearTimeout(impatience);
      this.sockets.delete(socket);
      this.viewers.delete(viewer);
    });
    if (this.sockets.size > mostViewers) {
      socket.destroy();
      return;
    }
    socket.on('drain', () => {
      if (!viewer.behind) return;
      viewer.behind = false;
      this.sendView(viewer);
    });
    readMessages(socket, (message) => {
      if (this.viewers.has(viewer)) void this.answer(viewer, message);
      else if (message['hello'] === this.secret) {
        clearTimeout(impatience);
        this.viewers.add(viewer);
        sendMessage(socket, { hello: this.owner });
        if (this.pending !== null) this.publish(this.pending);
        else this.sendView(viewer);
      } else socket.destroy();
    });
  }

  private async answer(viewer: Viewer, message: Message): Promise<void> {
    if ('ping' in message) sendMessage(viewer.socket, { pong: message['ping'] });
    const { id, request } = message;
    if (typeof id !== 'number') return;
    try {
      const handler = await this.ready();
      sendMessage(viewer.socket, { id, answer: (await handler(request)) ?? null });
    } catch (error) {
      sendMessage(viewer.socket, { id, error: messageOf(error) });
    }
  }

  /** A viewer may ask before the owner is through with its own recovery; it waits. */
  private async ready(): Promise<Handler> {
    while (this.handler === null) {
      if (this.server === null) throw new Error('The owner is closing.');
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    return this.handler;
  }

  private sendView(viewer: Viewer): void {
    if (this.lastView === null) return;
    if (viewer.socket.writableLength > mostWaiting) viewer.behind = true;
    else viewer.socket.write(this.lastView);
  }
}
