import { randomBytes } from 'node:crypto';
import type * as vscode from 'vscode';
import type { HostState, ToPanel } from '../../protocol/messages.js';
import { panelHtml } from '../../protocol/panelHtml.js';
import type { View } from '../../protocol/view.js';
import { panelView } from '../contributions.js';
import { Lifetime, type Disposable } from '../lifetime.js';
import { decisions } from '../statusText.js';
import type { Vscode } from '../vscodeTypes.js';
import { createPusher } from './pusher.js';

export interface PanelOptions {
  readonly vscode: Vscode;
  readonly extensionUri: vscode.Uri;
  readonly read: () => { readonly view: View; readonly host: HostState };
  /** Resolves when what the first view says of the surroundings is known. */
  readonly prepared: () => Promise<void>;
  /** A message of the panel, not parsed yet. */
  readonly receive: (message: unknown) => void;
}

/**
 * The webview view `swarm.panel`. It may be hidden, closed or reloaded at any time: the page asks with `ready` and
 * gets the whole view.
 */
export class PanelView implements vscode.WebviewViewProvider, Disposable {
  readonly #options: PanelOptions;
  readonly #life = new Lifetime();
  /** For a panel that is not there yet: kept until it says `ready`. */
  #pending: ToPanel[] = [];
  #shown: { readonly view: vscode.WebviewView; readonly changed: () => void; isReady: boolean } | null = null;

  constructor(options: PanelOptions) {
    this.#options = options;
    this.#life.add(options.vscode.window.registerWebviewViewProvider(panelView, this));
  }

  /** The view, or what surrounds it, may have changed. */
  changed(): void {
    const { view } = this.#options.read();
    if (this.#shown === null) return;
    this.#shown.changed();
    this.#badge(this.#shown.view, view);
  }

  post(message: ToPanel): void {
    if (this.#shown?.isReady) void this.#shown.view.webview.postMessage(message);
    else this.#pending.push(message);
  }

  /** Opens the panel and lets it act once it is there. */
  async reveal(message?: ToPanel): Promise<void> {
    if (message !== undefined) this.post(message);
    await this.#options.vscode.commands.executeCommand(`${panelView}.focus`);
  }

  resolveWebviewView(webviewView: vscode.WebviewView): void {
    const { vscode, extensionUri, read, receive, prepared } = this.#options;
    const { webview } = webviewView;
    const life = new Lifetime();
    const dist = vscode.Uri.joinPath(extensionUri, 'dist');
    webview.options = { enableScripts: true, localResourceRoots: [dist] };

    const pusher = life.add(
      createPusher({
        read,
        post: (message) => void webview.postMessage(message),
        now: () => performance.now(),
        after: (milliseconds, then) => {
          const timer = setTimeout(then, milliseconds);
          return { dispose: () => clearTimeout(timer) };
        },
      }),
    );
    const shown = {
      view: webviewView,
      // A hidden page is not told: it asks for everything when it is shown again.
      changed: () => {
        if (shown.isReady && webviewView.visible) pusher.changed();
      },
      isReady: false,
    };
    this.#shown = shown;
    const start = async (): Promise<void> => {
      await this.#patiently(prepared());
      if (life.ended) return;
      shown.isReady = true;
      pusher.ready();
      for (const pending of this.#pending.splice(0)) void webview.postMessage(pending);
    };
    life.add(
      webview.onDidReceiveMessage((message: unknown) => {
        if (isReady(message)) void start();
        else receive(message);
      }),
    );
    life.add(
      webviewView.onDidChangeVisibility(() => {
        if (!webviewView.visible) shown.isReady = false;
      }),
    );
    life.add(
      webviewView.onDidDispose(() => {
        life.dispose();
        if (this.#shown === shown) this.#shown = null;
      }),
    );
    this.#life.add(life);
    this.#badge(webviewView, read().view);
    const address = (name: string): string =>
      webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString();
    webview.html = panelHtml({
      cspSource: webview.cspSource,
      nonce: randomBytes(16).toString('hex'),
      scriptUri: address('webview.js'),
      styleUri: address('webview.css'),
      codiconUri: address('codicon.css'),
      locale: vscode.env.language,
      ...(vscode.l10n.bundle === undefined ? {} : { bundle: vscode.l10n.bundle }),
    });
  }

  dispose(): void {
    this.#life.dispose();
  }

  /** Nothing for a moment, then the editor's own progress line; in the end what is known is shown all the same. */
  async #patiently(work: Promise<void>): Promise<void> {
    const { vscode } = this.#options;
    const settled = work.catch(() => undefined);
    const soon = await Promise.race([settled.then(() => 'done' as const), later(400)]);
    if (soon === 'done') return;
    const location = { viewId: panelView };
    await vscode.window.withProgress({ location }, async () => {
      await Promise.race([settled, later(10_000)]);
    });
  }

  #badge(webviewView: vscode.WebviewView, view: View): void {
    const value = decisions(view);
    if ((webviewView.badge?.value ?? 0) === value) return;
    const { l10n } = this.#options.vscode;
    const tooltip =
      value === 1 ? l10n.t('1 decision waits for you') : l10n.t('{0} decisions wait for you', value);
    webviewView.badge = value === 0 ? undefined : { value, tooltip };
  }
}

function isReady(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'ready';
}

function later(milliseconds: number): Promise<'late'> {
  return new Promise((resolve) => setTimeout(() => resolve('late'), milliseconds));
}
