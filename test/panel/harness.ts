import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { panelHtml } from '../../src/protocol/panelHtml.js';
import type { FromPanel, ToPanel } from '../../src/protocol/messages.js';
import { zone, type Situation } from './fixtures.js';

export const themes = ['dark-modern', 'light-modern', 'hc-black', 'hc-light'] as const;
export type Theme = (typeof themes)[number];

const bodyClass: Readonly<Record<Theme, string>> = {
  'dark-modern': 'vscode-dark',
  'light-modern': 'vscode-light',
  'hc-black': 'vscode-high-contrast',
  'hc-light': 'vscode-high-contrast-light vscode-high-contrast',
};

interface BuildWebview {
  readonly buildWebview: (options: { readonly outdir: string; readonly minify: boolean }) => Promise<unknown>;
}

/** The real bundle in a real Chromium, with the values of a theme and a host that notes what it is told. */
export class PanelHarness {
  private constructor(
    private readonly server: Server,
    private readonly folder: string,
    private readonly browser: Browser,
    private readonly origin: string,
  ) {}

  static async start(): Promise<PanelHarness> {
    const folder = await mkdtemp(path.join(tmpdir(), 'swarm-panel-'));
    const script = new URL('../../scripts/buildWebview.mjs', import.meta.url).href;
    const { buildWebview } = (await import(script)) as BuildWebview;
    await buildWebview({ outdir: folder, minify: false });
    const server = createServer((request, response) => {
      void answer(request.url ?? '/', folder).then(
        ({ type, body }) => {
          response.writeHead(200, { 'content-type': type });
          response.end(body);
        },
        () => {
          response.writeHead(404);
          response.end();
        },
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      headless: true,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    });
    return new PanelHarness(server, folder, browser, `http://127.0.0.1:${port}`);
  }

  /** Opens a page with the situation drawn and its clock stopped at the situation's instant. */
  async open(
    situation: Situation,
    size: {
      readonly width: number;
      readonly height?: number;
      readonly theme?: Theme;
      readonly byHand?: boolean;
    },
  ): Promise<PanelPage> {
    const theme = size.theme ?? 'dark-modern';
    const context = await this.browser.newContext({
      viewport: { width: size.width, height: size.height ?? 420 },
      deviceScaleFactor: 2,
      timezoneId: zone,
      locale: 'en-GB',
    });
    const page = await context.newPage();
    const panel = new PanelPage(context, page);
    await panel.listen();
    // The clock stands still; turned by hand, its timers too.
    if (size.byHand === true) {
      await page.clock.install({ time: new Date(Date.parse(situation.now) - 3_600_000) });
      await page.clock.pauseAt(new Date(situation.now));
    } else await page.clock.setFixedTime(new Date(situation.now));
    await page.addInitScript(hostScript, {
      theme,
      bodyClass: bodyClass[theme],
      kept: situation.kept ?? null,
    });
    await page.goto(`${this.origin}/`);
    await panel.send({ type: 'view', serial: 1, view: situation.view, host: situation.host });
    return panel;
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await new Promise((resolve) => this.server.close(resolve));
    await rm(this.folder, { recursive: true });
  }
}

/** One open panel. */
export class PanelPage {
  /** Console errors and refused content; a test ends with none. */
  readonly complaints: string[] = [];
  private serial = 1;

  constructor(
    private readonly context: BrowserContext,
    readonly page: Page,
  ) {}

  async listen(): Promise<void> {
    this.page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning')
        this.complaints.push(message.text().slice(0, 120));
    });
    this.page.on('pageerror', (error) => this.complaints.push(String(error)));
    await Promise.resolve();
  }

  async send(message: ToPanel): Promise<void> {
    await this.page.evaluate((data) => {
      (globalThis as unknown as { postMessage: (m: unknown, o: string) => void }).postMessage(data, '*');
    }, message);
    await this.settled();
  }

  /** A new view with the next serial number. */
  async show(situation: Pick<Situation, 'view' | 'host'>): Promise<void> {
    this.serial += 1;
    await this.send({
      type: 'view',
      serial: this.serial,
      view: { ...situation.view, seq: this.serial },
      host: situation.host,
    });
  }

  /** Lets messages arrive and the drawing finish. */
  async settled(): Promise<void> {
    await this.page.evaluate(`(async () => {
      const channel = new MessageChannel();
      for (let i = 0; i < 3; i++) {
        await new Promise((done) => { channel.port1.onmessage = done; channel.port2.postMessage(0); });
        await document.querySelector('swarm-panel').updateComplete;
      }
      await document.fonts.ready;
    })()`);
  }

  /** What the panel told the host since the last call. */
  async posted(): Promise<readonly FromPanel[]> {
    return this.page.evaluate<FromPanel[]>('window.posted.splice(0)');
  }

  /** Puts on another theme, as VS Code does it: other values, another class. */
  async wear(theme: Theme): Promise<void> {
    await this.page.evaluate(
      `document.documentElement.dataset.theme = '${theme}'; document.body.className = '${bodyClass[theme]}';`,
    );
    await this.settled();
  }

  async turnClock(ms: number): Promise<void> {
    await this.page.clock.runFor(ms);
    await this.settled();
  }

  async close(): Promise<void> {
    await this.context.close();
  }
}

/** Runs in the page before anything else: what VS Code gives a webview. */
function hostScript(given: { theme: string; bodyClass: string; kept: unknown }): void {
  const page = globalThis as unknown as {
    posted: unknown[];
    kept: unknown;
    acquireVsCodeApi: () => unknown;
    document: {
      documentElement: { dataset: Record<string, string> };
      body: { className: string };
      addEventListener: (n: string, f: () => void) => void;
    };
  };
  page.posted = [];
  page.kept = given.kept;
  page.acquireVsCodeApi = () => ({
    postMessage: (message: unknown) => page.posted.push(message),
    setState: (state: unknown) => {
      page.kept = state;
    },
    getState: () => page.kept,
  });
  const dress = () => {
    page.document.documentElement.dataset['theme'] = given.theme;
    page.document.body.className = given.bodyClass;
  };
  page.document.addEventListener('DOMContentLoaded', dress);
}

async function answer(
  url: string,
  folder: string,
): Promise<{ readonly type: string; readonly body: string | Buffer }> {
  const { pathname } = new URL(url, 'http://panel');
  if (pathname === '/') {
    const html = panelHtml({
      cspSource: "'self'",
      nonce: 'bm9uY2U',
      scriptUri: '/webview.js',
      styleUri: '/webview.css',
      codiconUri: '/codicon.css',
      locale: 'en',
    });
    const values = themes.map((name) => `<link rel="stylesheet" href="/themes/${name}.css">`).join('\n');
    return { type: 'text/html; charset=utf-8', body: html.replace('<link', `${values}\n<link`) };
  }
  const types: Readonly<Record<string, string>> = {
    '.js': 'text/javascript',
    '.css': 'text/css',
    '.ttf': 'font/ttf',
    '.map': 'application/json',
  };
  const type = types[path.extname(pathname)] ?? 'text/plain';
  const name = path.basename(pathname);
  const file = pathname.startsWith('/themes/')
    ? new URL(`./themes/${name}`, import.meta.url)
    : path.join(folder, name);
  return { type, body: await readFile(file) };
}
