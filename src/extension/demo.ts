import { access } from 'node:fs/promises';
import path from 'node:path';
import type * as vscode from 'vscode';
import type { Launching } from './actions/launching.js';
import type { Engine } from './engine.js';
import type { Vscode } from './vscodeTypes.js';

const manifestName = 'demo.swarm.yaml';
const pendingKey = 'swarm.demo.pending';
/** Folders that the demo has made: their manifest is ours, so that nobody is asked about its programs. */
const madeKey = 'swarm.demo.made';
const startedKey = 'swarm.demo.started';

export interface DemoOptions {
  readonly vscode: Vscode;
  readonly launching: Launching;
  readonly engine: () => Promise<Engine>;
  readonly state: vscode.Memento;
  readonly topLevels: () => readonly string[];
  /** A manifest that whoever started VS Code wants launched, once: `SWARM_START` of its environment. */
  readonly startWith: string | undefined;
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
  await options.state.update(madeKey, [...made(options), folder].slice(-20));
  const empty = (vscode.workspace.workspaceFolders ?? []).length === 0;
  await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(folder), {
    forceNewWindow: !empty,
  });
}

/** In the window that the demo, or `npm start`, has opened: starts what was asked for. */
export async function continueDemo(options: DemoOptions): Promise<void> {
  const { state, vscode, launching, startWith } = options;
  const pending = state.get<string>(pendingKey);
  if (pending !== undefined && options.topLevels().includes(pending)) {
    await state.update(pendingKey, undefined);
    await launchIn(options, pending);
  }
  if (startWith === undefined || state.get<string>(startedKey) === startWith) return;
  if (!options.topLevels().some((topLevel) => startWith.startsWith(topLevel + path.sep))) return;
  await state.update(startedKey, startWith);
  // Whoever started VS Code with it has consented.
  await launching.fromFile(vscode.Uri.file(startWith), { consented: true });
}

async function launchIn(options: DemoOptions, topLevel: string): Promise<boolean> {
  const { vscode, launching } = options;
  const manifest = path.join(topLevel, manifestName);
  try {
    await access(manifest);
  } catch {
    return false;
  }
  await launching.fromFile(vscode.Uri.file(manifest), { consented: made(options).includes(topLevel) });
  return true;
}

function made({ state }: DemoOptions): readonly string[] {
  return state.get<readonly string[]>(madeKey) ?? [];
}
