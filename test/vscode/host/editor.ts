import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { SwarmApi } from '../../../src/extension/extension.js';
import type { BatchView, ChildView } from '../../../src/protocol/view.js';

export const extensionId = 'swarm-panel.swarm-panel';

export async function swarm(): Promise<SwarmApi> {
  const extension = vscode.extensions.getExtension<SwarmApi>(extensionId);
  if (extension === undefined) throw new Error(`${extensionId} is not installed`);
  return extension.activate();
}

export function workspaceFolder(): string {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (folder === undefined) throw new Error('the tests need a folder');
  return folder.uri.fsPath;
}

/** Looks again until it is so, and says what was wanted if it never is. */
export async function until<T>(
  what: string,
  look: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  within = 120_000,
): Promise<T> {
  const end = Date.now() + within;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (Date.now() > end)
      throw new Error(
        `Not within ${within / 1000} s: ${what}\n${JSON.stringify((await swarm()).view(), null, 1).slice(0, 4000)}`,
      );
    await sleep(50);
  }
}

/** A batch of the view; one that was just launched is there with the next view. */
export async function batch(id: string): Promise<BatchView> {
  return until(`the batch ${id}`, async () => (await swarm()).view().batches.find((one) => one.id === id));
}

export async function childWith(
  batchId: string,
  test: (child: ChildView) => boolean,
  what: string,
): Promise<ChildView> {
  return until(what, async () => (await batch(batchId)).children.find(test));
}

/** Replaces questions of the editor by answers, for the time of `work`; returns what was said. */
export async function answering(
  answers: { readonly warning?: string; readonly pick?: string; readonly input?: readonly string[] },
  work: () => Thenable<unknown>,
): Promise<readonly string[]> {
  const said: string[] = [];
  const inputs = [...(answers.input ?? [])];
  const window = vscode.window as unknown as Record<string, unknown>;
  const replaced: Record<string, unknown> = {
    showInformationMessage: (text: string) => (said.push(text), Promise.resolve(undefined)),
    showErrorMessage: (text: string) => (said.push(text), Promise.resolve(undefined)),
    showWarningMessage: (text: string) => (said.push(text), Promise.resolve(answers.warning)),
    showInputBox: () => Promise.resolve(inputs.shift()),
    showQuickPick: (items: readonly (string | { readonly label: string })[]) =>
      Promise.resolve(items.find((item) => (typeof item === 'string' ? item : item.label) === answers.pick)),
  };
  const kept = Object.fromEntries(Object.keys(replaced).map((name) => [name, window[name]]));
  Object.assign(window, replaced);
  try {
    await work();
  } finally {
    Object.assign(window, kept);
  }
  return said;
}
