import { access } from 'node:fs/promises';
import path from 'node:path';
import type * as vscode from 'vscode';
import type { Launching } from './actions/launching.js';
import type { Engine } from './engine.js';
import type { Vscode } from './vscodeTypes.js';

const manifestName = 'demo.swarm.yaml';
const pendingKey = 'swarm.demo.pending';

export interface DemoOptions {
  readonly vscode: Vscode;
  readonly launching: Launching;
  readonly engine: () => Promise<Engine>;
  readonly state: vscode.Memento;
  readonly topLevels: () => readonly string[];
}

/**
 * The demo plays in a small repository of its own, in a temporary folder: it never touches the reader's files. In a
 * window that shows such a folder it starts at once, else it opens one.
 */
export async function runDemo(options: DemoOptions): Promise<void> {
  const { vscode } = options;
  for (const topLevel of options.topLevels()) if (await launchIn(options, topLevel)) return;
  const { folder } = await (await options.engine()).createDemo();
  await options.state.update(pendingKey, folder);
  const empty = (vscode.workspace.workspaceFolders ?? []).length === 0;
  await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(folder), {
    forceNewWindow: !empty,
  });
}

/** In the window that the demo has opened: starts what was asked for in the other one. */
export async function continueDemo(options: DemoOptions): Promise<void> {
  const pending = options.state.get<string>(pendingKey);
  if (pending === undefined || !options.topLevels().includes(pending)) return;
  await options.state.update(pendingKey, undefined);
  await launchIn(options, pending);
}

async function launchIn({ vscode, launching }: DemoOptions, topLevel: string): Promise<boolean> {
  const manifest = path.join(topLevel, manifestName);
  try {
    await access(manifest);
  } catch {
    return false;
  }
  await launching.fromFile(vscode.Uri.file(manifest));
  return true;
}
