import path from 'node:path';
import * as vscode from 'vscode';
import type { HostState } from '../protocol/messages.js';
import type { View } from '../protocol/view.js';
import { createActions } from './actions/actions.js';
import { cleanUp } from './actions/cleaning.js';
import { createLaunching } from './actions/launching.js';
import { createShowing } from './actions/showing.js';
import { signIn } from './actions/signIn.js';
import { registerCheckTasks } from './checkTasks.js';
import { registerCommands } from './commands.js';
import { concerns, readConfiguration, setting } from './configuration.js';
import { contextValues, createContextKeys } from './contextKeys.js';
import { outputChannel, settings } from './contributions.js';
import { continueDemo, runDemo } from './demo.js';
import { runDoctor } from './doctor.js';
import { createGitDocuments } from './documents/gitDocuments.js';
import { createReadOnlyFiles } from './documents/readOnlyFiles.js';
import type { Engine } from './engine.js';
import { createHostState } from './hostState.js';
import { superviseInBackground } from './keepSupervising.js';
import { notify } from './notifications.js';
import { handlePanelMessage, type PanelCommand } from './panel/panelMessages.js';
import { PanelView } from './panel/panelView.js';
import { createCheckProblems } from './checkProblems.js';
import { createStatusBar } from './statusBar.js';
import { WorkspaceSupervisors } from './workspaceSupervisors.js';

/** What other extensions can read. */
export interface SwarmApi {
  /** What `swarm status --json` prints, of all folders of the window. */
  view(): View;
  host(): HostState;
  /** How long `activate` took, in milliseconds. */
  readonly activatedIn: number;
}

let giveUp: (() => Promise<void>) | null = null;

export function activate(context: vscode.ExtensionContext): SwarmApi {
  const started = performance.now();
  const cpu = process.cpuUsage();
  const own = <T extends { dispose(): unknown }>(thing: T): T => {
    context.subscriptions.push(thing);
    return thing;
  };
  const dist = path.join(context.extensionPath, 'dist');
  const log = own(vscode.window.createOutputChannel(outputChannel, { log: true }));
  const failed = (what: string, error: unknown): void => {
    log.error(`${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    void vscode.window.showErrorMessage(
      vscode.l10n.t('Swarm: {0}', error instanceof Error ? error.message : String(error)),
    );
  };
  const quietly = (work: Promise<unknown>): void =>
    void work.catch((error: unknown) => failed('Swarm', error));

  // The supervisors, and all that they are made of, loaded at first use.
  const engine = lazyEngine(context, dist, log);
  const supervisors = new WorkspaceSupervisors({
    folders: () =>
      (vscode.workspace.workspaceFolders ?? []).filter(isLocal).map((folder) => folder.uri.fsPath),
    trusted: () => vscode.workspace.isTrusted,
    open: async (topLevel) => (await engine()).open(topLevel),
    onRefused: ({ message, fix }) => void vscode.window.showErrorMessage(`${message} ${fix}`),
    log,
  });
  giveUp = () => closeAll(supervisors, dist);

  // What is shown of them.
  const files = own(createReadOnlyFiles(vscode));
  own(createGitDocuments(vscode, async (address) => (await engine()).textAt(address)));
  const statusBar = own(createStatusBar(vscode, () => supervisors.view()));
  const checkProblems = own(
    createCheckProblems(
      vscode,
      () => supervisors.view(),
      (batch) => supervisors.holder(batch)?.topLevel ?? null,
    ),
  );
  const setContext = createContextKeys(vscode);
  const host = createHostState({ vscode, supervisors, engine });

  // What a person can do with them.
  const checks = own(registerCheckTasks(vscode, dist));
  const showing = createShowing({
    vscode,
    engine,
    view: () => supervisors.view(),
    listen: (changed) => supervisors.changed.listen(changed),
    topLevelOf: (batch) => supervisors.holder(batch)?.topLevel ?? null,
    files,
  });
  const actions = createActions({
    vscode,
    supervisors,
    showing,
    signIn: async (executor, topLevel) =>
      signIn(
        vscode,
        await engine(),
        executor,
        topLevel ?? supervisors.topLevels()[0] ?? context.extensionPath,
      ),
    runCheckTask: (topLevel) => checks.run(topLevel),
    post: (message) => panel.post(message),
    askAbove: () => setting<number | null>(vscode, settings.resumeAskAbove, null),
    log,
  });
  const launching = createLaunching({ vscode, supervisors, engine, reveal: () => panel.reveal(), log });
  const demo = {
    vscode,
    launching,
    engine,
    state: context.globalState,
    topLevels: () => supervisors.topLevels(),
    startWith: process.env['SWARM_START'],
  };
  const clean = (): Promise<void> => cleanUp(vscode, supervisors, log);
  const doctor = (): Promise<void> =>
    runDoctor(
      vscode,
      log,
      dist,
      supervisors.topLevels().length > 0
        ? supervisors.topLevels()
        : (vscode.workspace.workspaceFolders ?? [])
            .filter(isLocal)
            .slice(0, 1)
            .map(({ uri }) => uri.fsPath),
    );

  // The panel and the commands: two doors to the same actions.
  const panelOptions = { actions, launching, showing, command: runPanelCommand };
  const panel: PanelView = own(
    new PanelView({
      vscode,
      extensionUri: context.extensionUri,
      read: () => ({ view: supervisors.view(), host: host.state() }),
      prepared: () => host.prepared(),
      receive: (raw) =>
        quietly(
          engine().then((loaded) => {
            const message = loaded.parse(raw);
            if (message !== null) return handlePanelMessage(panelOptions, message);
            log.warn('The panel sent a message that is none of its own; it was dropped.');
            return undefined;
          }),
        ),
    }),
  );
  own(
    registerCommands({
      vscode,
      view: () => supervisors.view(),
      actions,
      launching,
      panel,
      check: () => runCheck(),
      cleanUp: clean,
      doctor,
      demo: () => runDemo(demo),
      onError: failed,
    }),
  );

  // What changes them.
  const changed = (): void => {
    panel.changed();
    statusBar.changed();
    checkProblems.changed();
    files.changed();
    setContext(contextValues(supervisors.view(), host.state()));
  };
  own(supervisors.changed.listen(changed));
  own(host.changed.listen(changed));
  const notifications = {
    vscode,
    actions,
    openPanel: () => panel.reveal({ type: 'revealNeedsYou' }),
    cleanUp: clean,
    tellDone: () => setting(vscode, settings.notifyDone, false),
  };
  own(
    supervisors.noticed.listen(({ notice, supervisor }) =>
      quietly(notify(notifications, notice, supervisor)),
    ),
  );
  own(vscode.workspace.onDidChangeWorkspaceFolders(() => quietly(supervisors.refresh())));
  // Another window or the command line may launch first.
  const launched = own(vscode.workspace.createFileSystemWatcher('**/.swarm/VERSION', false, true, true));
  own(launched.onDidCreate(() => quietly(supervisors.refresh())));
  own(vscode.workspace.onDidGrantWorkspaceTrust(() => quietly(supervisors.refresh())));
  own(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (!concerns(event)) return;
      host.refresh();
      const maxConcurrent = setting(vscode, settings.maxConcurrent, 8);
      if (event.affectsConfiguration(`swarm.${settings.maxConcurrent}`))
        for (const supervisor of supervisors.open())
          quietly(supervisor.request({ type: 'settings', maxConcurrent }));
    }),
  );
  quietly(supervisors.refresh().then(() => continueDemo(demo)));
  // On a machine that is busy with others the time that passed says nothing about us.
  const { user, system } = process.cpuUsage(cpu);
  const activatedIn = Math.min(performance.now() - started, (user + system) / 1000);
  log.info(`Activated in ${activatedIn.toFixed(1)} ms`);
  return { view: () => supervisors.view(), host: () => host.state(), activatedIn };

  /** The check of a batch is the panel's; without a batch it is the task, which works in any repository. */
  async function runCheck(): Promise<void> {
    const batch = supervisors.view().batches.findLast((one) => one.actions.includes('check'));
    if (batch !== undefined) await actions.batch('check', batch.id);
    else await checks.run(supervisors.topLevels()[0] ?? null);
  }

  async function runPanelCommand(command: PanelCommand): Promise<void> {
    switch (command) {
      case 'launchFromFile':
        return void (await launching.fromFile());
      case 'demo':
        return runDemo(demo);
      case 'doctor':
        return doctor();
      case 'cleanUp':
        return clean();
      case 'openFolder':
        return void (await vscode.commands.executeCommand('vscode.openFolder'));
      case 'initRepository':
        await vscode.commands.executeCommand('git.init');
        return supervisors.refresh();
      case 'manageTrust':
        return void (await vscode.commands.executeCommand('workbench.trust.manage'));
      case 'checkForUpdate':
        return void (await vscode.commands.executeCommand('workbench.extensions.action.checkForUpdates'));
      case 'showProblem':
        for (const { path: file, message } of supervisors.view().problems) log.warn(`${file}: ${message}`);
        return log.show();
      default:
        return command satisfies never;
    }
  }
}

/** Closing or reloading the window gives the folders up; agents go on and are taken up by the next owner. */
export async function deactivate(): Promise<void> {
  await giveUp?.();
  giveUp = null;
}

function lazyEngine(
  context: vscode.ExtensionContext,
  dist: string,
  log: vscode.LogOutputChannel,
): () => Promise<Engine> {
  const { version } = context.extension.packageJSON as { readonly version: string };
  let loaded: Promise<Engine> | null = null;
  return () => {
    loaded ??= import('./engine.js').then(({ createEngine }) =>
      createEngine({
        version,
        dist,
        log,
        settings: (topLevel) => readConfiguration(vscode, topLevel, (message) => log.warn(message)),
        binary: vscode.l10n.t('This file is no text.'),
      }),
    );
    return loaded;
  };
}

async function closeAll(supervisors: WorkspaceSupervisors, dist: string): Promise<void> {
  const unfinished = setting(vscode, settings.keepSupervising, false) ? supervisors.unfinished() : [];
  const maxConcurrent = setting(vscode, settings.maxConcurrent, 8);
  await Promise.all(unfinished.map((topLevel) => superviseInBackground({ dist, topLevel, maxConcurrent })));
  await supervisors.close();
}

function isLocal(folder: vscode.WorkspaceFolder): boolean {
  return folder.uri.scheme === 'file';
}
