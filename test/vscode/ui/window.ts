import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { chromium, type Browser, type FrameLocator, type Locator, type Page } from 'playwright-core';
import type { View } from '../../../src/protocol/view.js';
import { startServer, type Server } from '../../../scripts/vscodeServer.mjs';
import { testSettings } from '../workspace.mjs';

/** Long enough for a machine that is busy with other things. */
export const patience = Number(process.env['SWARM_TEST_PATIENCE'] ?? 120_000);

function environment(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set; run node test/vscode/run.mjs`);
  return value;
}

/** A server with the packed extension in it, and one browser. */
export class Editor {
  private constructor(
    readonly server: Server,
    private readonly browser: Browser,
    readonly profile: string,
  ) {}

  static async start(
    options: { readonly trust?: boolean; readonly env?: NodeJS.ProcessEnv } = {},
  ): Promise<Editor> {
    const profile = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'swarm-window-')));
    const server = await startServer({ profile, privateHome: true, settings: testSettings(), ...options });
    try {
      await server.installExtension(environment('SWARM_VSIX'));
      const browser = await chromium.launch({
        executablePath: environment('SWARM_CHROMIUM'),
        args: [
          '--no-sandbox',
          '--disable-gpu',
          '--disable-background-networking',
          '--disable-component-update',
        ],
      });
      return new Editor(server, browser, profile);
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  async open(folder: string): Promise<Window> {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 } });
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: this.server.origin });
    const page = await context.newPage();
    page.setDefaultTimeout(patience);
    const window = new Window(page, folder);
    await page.goto(this.server.windowAddress(folder));
    await window.ready();
    return window;
  }

  /** Pids of the extension hosts that live: one per window. */
  extensionHosts(): readonly number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        try {
          const [command, env] = ['cmdline', 'environ'].map((file) =>
            readFileSync(`/proc/${pid}/${file}`, 'latin1'),
          );
          return (
            command?.includes('--type=extensionHost') === true && env?.includes(`${this.profile}/`) === true
          );
        } catch {
          return false;
        }
      })
      .map(Number);
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.server.stop();
  }
}

/** One VS Code window on a folder. */
export class Window {
  /** What the page complained about that is ours: a breach of the content security policy above all. */
  readonly complaints: string[] = [];

  constructor(
    readonly page: Page,
    readonly folder: string,
  ) {
    page.on('console', (message) => {
      const text = message.text();
      // The editor's own extensions lie in a folder that carries our name too.
      if (text.includes('/lib/vscode/extensions/')) return;
      if (/Content Security Policy|swarm-panel/i.test(text) && message.type() === 'error')
        this.complaints.push(text);
    });
  }

  get panel(): FrameLocator {
    return this.page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
  }

  get status(): Locator {
    return this.page.locator('[id="swarm-panel.swarm-panel.swarm.status"]');
  }

  /** The row of a child in the panel, by a part of its title. */
  row(title: string): Locator {
    return this.panel.getByRole('row', { name: title, level: 2 }).first();
  }

  async ready(): Promise<void> {
    await this.page.locator('.monaco-workbench').waitFor();
    await this.icon.waitFor();
  }

  get icon(): Locator {
    return this.page.locator('.activitybar a.action-label[aria-label^="Swarm"]');
  }

  /**
   * The view, whether or not it is shown already. A window that reloads brings its side bar back when it likes, and a
   * click on the icon of a shown view hides it: so the icon is clicked only as long as its view is not the shown one.
   */
  async openPanel(): Promise<void> {
    const shown = this.page.locator('.activitybar .action-item.checked a.action-label[aria-label^="Swarm"]');
    const panel = this.panel.locator('swarm-panel');
    const end = Date.now() + patience;
    for (;;) {
      if (!(await shown.isVisible())) await this.icon.click();
      const found = await panel.waitFor({ timeout: 10_000 }).then(
        () => true,
        () => false,
      );
      if (found) return;
      if (Date.now() > end) throw new Error(`The panel did not show within ${patience / 1000} s.`);
    }
  }

  /** Takes the pointer off the panel: lines and strips do not move under it. */
  async away(): Promise<void> {
    await this.page.mouse.move(900, 400);
  }

  async command(title: string): Promise<void> {
    await this.page.keyboard.press('F1');
    const input = this.page.locator('.quick-input-widget input.input');
    await input.waitFor();
    await input.fill(`>${title}`);
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first().waitFor();
    await this.page.keyboard.press('Enter');
  }

  /** Types into the input box whose place holder is given, and confirms. */
  async type(placeholder: string, text: string): Promise<void> {
    const input = this.page.locator(`.quick-input-widget input.input[placeholder^="${placeholder}"]`);
    await input.waitFor();
    await input.fill(text);
    await this.page.keyboard.press('Enter');
  }

  async pick(label: string): Promise<void> {
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: label }).first().click();
  }

  /** A button of the modal dialog. */
  async confirm(button: string): Promise<string> {
    const dialog = this.page.locator('.monaco-dialog-box');
    await dialog.waitFor();
    const text = await dialog.innerText();
    await dialog.getByRole('button', { name: button, exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
    return text;
  }

  toast(text: string): Locator {
    return this.page.locator('.notifications-toasts .notification-list-item-message', { hasText: text });
  }

  async screenshot(name: string): Promise<void> {
    await this.page.screenshot({ path: path.join(environment('SWARM_ARTIFACTS'), `${name}.png`) });
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}

/** What the command line says of a folder. */
export function viewOf(folder: string): View {
  return JSON.parse(cli(folder, 'status', '--json')) as View;
}

export function cli(folder: string, ...args: readonly string[]): string {
  return execFileSync(process.execPath, [path.resolve('dist', 'cli.js'), '-C', folder, ...args], {
    encoding: 'utf8',
  });
}

/** Looks again until it is so; `within` in ms. */
export async function until<T>(
  what: string,
  look: () => T | null | undefined | false,
  within = patience,
): Promise<T> {
  const end = Date.now() + within;
  for (;;) {
    const found = look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`Not within ${within / 1000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
