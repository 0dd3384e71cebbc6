import path from 'node:path';
import type * as vscode from 'vscode';
import type { Log } from '../../supervisor/ports.js';
import type { Engine, LaunchRequest } from '../engine.js';
import { repositoryOf } from '../repositories.js';
import { oneLine } from '../requests.js';
import { programsOfFolder } from '../configuration.js';
import type { Vscode } from '../vscodeTypes.js';
import type { WorkspaceSupervisors } from '../workspaceSupervisors.js';
import { reportAnswer } from './answers.js';

export interface LaunchingOptions {
  readonly vscode: Vscode;
  readonly supervisors: WorkspaceSupervisors;
  readonly engine: () => Promise<Engine>;
  /** Shows the panel once a batch has been launched. */
  readonly reveal: () => Promise<void>;
  readonly log: Log & { show(): void };
}

/** What other extensions and key bindings may give to `swarm.launchBatch`. */
export interface TypedBatch {
  readonly tasks: readonly string[];
  readonly executor?: string;
  readonly isolation?: 'worktree' | 'shared';
  readonly maxConcurrent?: number;
}

/** Every way to launch a batch; each answers with the batch's id, or null if nothing was started. */
export interface Launching {
  typed(batch?: TypedBatch): Promise<string | null>;
  /** `consented`: the programs that the manifest names were consented to already. */
  fromFile(uri?: vscode.Uri, options?: { readonly consented: boolean }): Promise<string | null>;
  fromSelection(): Promise<string | null>;
  launch(request: LaunchRequest, topLevel?: string): Promise<string | null>;
}

export function createLaunching(options: LaunchingOptions): Launching {
  const { vscode, supervisors, log } = options;
  const { l10n, window, workspace, Uri } = vscode;
  /** Programs of folders' settings that a person has agreed to in this window. */
  const agreed = new Set<string>();

  async function launch(request: LaunchRequest, where?: string): Promise<string | null> {
    const topLevel = where ?? (await pickRepository(vscode, supervisors));
    if (topLevel === null) return null;
    const named = (await options.engine()).programs(request, topLevel);
    if (named.length > 0 && !request.consent && !(await consent(vscode, named, request.manifest.name)))
      return null;
    const theirs = programsOfFolder(vscode, topLevel).filter(
      (program) => !agreed.has(JSON.stringify(program)),
    );
    if (theirs.length > 0 && !(await consent(vscode, theirs, l10n.t('The settings file of this folder'))))
      return null;
    for (const program of theirs) agreed.add(JSON.stringify(program));
    const answer = await supervisors.launch(topLevel, { ...request, consent: named.length > 0 });
    if (!reportAnswer(vscode, log, answer, request.manifest.name)) return null;
    for (const note of answer.notes ?? []) void window.showWarningMessage(note);
    await options.reveal();
    return answer.batch ?? null;
  }

  async function typed(batch?: TypedBatch): Promise<string | null> {
    const topLevel = await pickRepository(vscode, supervisors);
    if (topLevel === null) return null;
    const tasks = batch?.tasks ?? (await askTasks(vscode));
    if (tasks.length === 0) return null;
    const executor = batch?.executor ?? (await pickExecutor(vscode, await options.engine(), topLevel));
    if (executor === null) return null;
    return launch(
      {
        type: 'launch',
        manifest: { kind: 'tasks', text: tasks.map(oneLine).join('\n'), name: '' },
        executor,
        ...(batch?.isolation === undefined ? {} : { isolation: batch.isolation }),
        ...(batch?.maxConcurrent === undefined ? {} : { maxConcurrent: batch.maxConcurrent }),
        consent: false,
      },
      topLevel,
    );
  }

  async function fromFile(uri?: vscode.Uri, { consented } = { consented: false }): Promise<string | null> {
    const file = uri ?? (await pickFile(vscode));
    if (file === undefined) return null;
    const kind = kinds[path.extname(file.path).toLowerCase()];
    if (kind === undefined) {
      void window.showErrorMessage(
        l10n.t('{0} is no manifest. Choose a YAML, JSON or Markdown file.', path.basename(file.path)),
      );
      return null;
    }
    // What stands in the editor counts, saved or not.
    const open = workspace.textDocuments.find((document) => document.uri.toString() === file.toString());
    const text = open?.getText() ?? new TextDecoder().decode(await workspace.fs.readFile(file));
    const name = path.basename(file.path);
    const topLevel = repositoryOf(file.fsPath, supervisors.topLevels());
    return launch(
      { type: 'launch', manifest: { kind, text, name, path: file.fsPath }, consent: consented },
      topLevel,
    );
  }

  async function fromSelection(): Promise<string | null> {
    const editor = window.activeTextEditor;
    const text =
      editor === undefined ? '' : editor.selections.map((part) => editor.document.getText(part)).join('\n');
    if (editor === undefined || text.trim() === '') {
      void window.showInformationMessage(l10n.t('Select the tasks in an editor first, one a line.'));
      return null;
    }
    const topLevel = await pickRepository(vscode, supervisors);
    if (topLevel === null) return null;
    const executor = await pickExecutor(vscode, await options.engine(), topLevel);
    if (executor === null) return null;
    const kind = hasCheckboxes(text) ? 'markdown' : 'tasks';
    const name = path.basename(editor.document.uri.path);
    return launch({ type: 'launch', manifest: { kind, text, name }, executor, consent: false }, topLevel);
  }

  async function pickFile({ workspace: { workspaceFolders } }: Vscode): Promise<vscode.Uri | undefined> {
    const active = window.activeTextEditor?.document.uri;
    if (active?.scheme === 'file' && kinds[path.extname(active.path).toLowerCase()] !== undefined) {
      const here = l10n.t('Start from {0}', path.basename(active.path));
      const other = l10n.t('Choose another file…');
      const choice = await window.showQuickPick([here, other], { title: l10n.t('Start Batch from File') });
      if (choice === undefined) return undefined;
      if (choice === here) return active;
    }
    const folder = workspaceFolders?.[0]?.uri ?? Uri.file('/');
    const chosen = await window.showOpenDialog({
      title: l10n.t('Start Batch from File'),
      defaultUri: folder,
      canSelectMany: false,
      filters: { [l10n.t('Manifest')]: ['yaml', 'yml', 'json', 'md', 'markdown'] },
    });
    return chosen?.[0];
  }

  return { typed, fromFile, fromSelection, launch };
}

/** Where to launch; said plainly if there is no place. */
async function pickRepository(
  { window, l10n }: Vscode,
  supervisors: WorkspaceSupervisors,
): Promise<string | null> {
  await supervisors.refresh();
  const topLevels = supervisors.topLevels();
  const [only] = topLevels;
  if (only === undefined) {
    const why = {
      noFolder: l10n.t('Open a folder with a git repository first.'),
      noGit: l10n.t(
        'This folder is not a git repository. Run git init and make a first commit, then start again.',
      ),
      untrusted: l10n.t('Swarm runs programs, so it is off in Restricted Mode. Trust this folder first.'),
      ready: l10n.t('Open a folder with a git repository first.'),
    };
    void window.showErrorMessage(why[supervisors.workspace()]);
    return null;
  }
  if (topLevels.length === 1) return only;
  const items = topLevels.map((topLevel) => ({
    label: path.basename(topLevel),
    description: topLevel,
    topLevel,
  }));
  return (await window.showQuickPick(items, { title: l10n.t('In which repository?') }))?.topLevel ?? null;
}

/** One task after the other; an empty line starts the batch, Escape gives it up. */
async function askTasks({ window, l10n }: Vscode): Promise<readonly string[]> {
  const tasks: string[] = [];
  for (;;) {
    const task = await window.showInputBox({
      title: tasks.length === 0 ? l10n.t('New Batch') : l10n.t('New Batch: {0} tasks', tasks.length),
      placeHolder:
        tasks.length === 0 ? l10n.t('What is the first task?') : l10n.t('Next task, or Enter to start'),
      prompt: tasks.at(-1) ?? l10n.t('Each task becomes one child with its own worktree'),
      ignoreFocusOut: true,
    });
    if (task === undefined) return [];
    if (task.trim() === '') return tasks;
    tasks.push(task);
  }
}

async function pickExecutor(
  { window, l10n }: Vscode,
  engine: Engine,
  topLevel: string,
): Promise<string | null> {
  const executors = await engine.executors(topLevel);
  const found = executors.filter((executor) => executor.found);
  if (found.length === 0) {
    void window.showErrorMessage(
      l10n.t('No agent was found on PATH. Install one, or name it in the setting swarm.executors.'),
    );
    return null;
  }
  const items = found.map((executor) => ({
    label: executor.name,
    description: executor.name === 'demo' ? l10n.t('pretends, needs no account') : '',
  }));
  return (await window.showQuickPick(items, { title: l10n.t('Which agent?') }))?.label ?? null;
}

/** A manifest may name programs; a person sees them before they run. */
async function consent(
  { window, l10n }: Vscode,
  programs: readonly { readonly use: string; readonly command: readonly string[]; readonly full: boolean }[],
  name: string,
): Promise<boolean> {
  const run = l10n.t('Run Them');
  const lines = programs.map(({ use, command, full }) =>
    full ? l10n.t('{0}: {1} (with all permissions)', use, command.join(' ')) : `${use}: ${command.join(' ')}`,
  );
  const choice = await window.showWarningMessage(
    l10n.t('{0} names programs of its own. Run them?', name),
    { modal: true, detail: lines.join('\n') },
    run,
  );
  return choice === run;
}

const kinds: Readonly<Record<string, 'yaml' | 'json' | 'markdown'>> = {
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.json': 'json',
  '.md': 'markdown',
  '.markdown': 'markdown',
};

export function hasCheckboxes(text: string): boolean {
  return /^\s*(?:[-*+]|\d+[.)])\s+\[[ xX]\]\s/m.test(text);
}
