import type * as vscode from 'vscode';
import type { ChildAction, View } from '../protocol/view.js';
import type { Actions } from './actions/actions.js';
import type { Launching, TypedBatch } from './actions/launching.js';
import { pickChild } from './actions/questions.js';
import { childCommands, commands, type ChildCommand, type CommandName } from './contributions.js';
import { Lifetime, type Disposable } from './lifetime.js';
import type { PanelView } from './panel/panelView.js';
import { findChild, type Target } from './requests.js';
import type { Vscode } from './vscodeTypes.js';

export interface CommandsOptions {
  readonly vscode: Vscode;
  readonly view: () => View;
  readonly actions: Actions;
  readonly launching: Launching;
  readonly panel: PanelView;
  readonly check: () => Promise<void>;
  readonly cleanUp: () => Promise<void>;
  readonly doctor: () => Promise<void>;
  readonly demo: () => Promise<void>;
  /** A command that failed by a mistake of ours. */
  readonly onError: (command: string, error: unknown) => void;
}

/** Registers every command of `contributions.ts`. A command on a child takes it as its argument, or asks for it. */
export function registerCommands(options: CommandsOptions): Disposable {
  const { vscode, view, actions, launching, panel } = options;
  const { l10n } = vscode;
  const titles: Readonly<Record<ChildCommand, string>> = {
    resume: l10n.t('Resume which child?'),
    pause: l10n.t('Pause which child?'),
    stop: l10n.t('Stop which child?'),
    retry: l10n.t('Retry which child?'),
    review: l10n.t('Review the changes of which child?'),
    apply: l10n.t('Apply the changes of which child?'),
    openWorktree: l10n.t('Open the worktree of which child?'),
    openCheckpoint: l10n.t('Open the checkpoint of which child?'),
    showLog: l10n.t('Show the log of which child?'),
  };

  const onChild =
    (name: ChildCommand) =>
    async (given?: unknown): Promise<void> => {
      const wanted: readonly ChildAction[] = childCommands[name];
      const target = targetOf(given);
      if (target !== null) {
        const child = findChild(view(), target);
        const action = wanted.find((one) => child?.actions.includes(one));
        if (action === undefined)
          void vscode.window.showInformationMessage(l10n.t('This child cannot do that now.'));
        else await actions.child(action, [target]);
        return;
      }
      const picked = await pickChild(vscode, view(), wanted, titles[name]);
      if (picked !== null) await actions.child(picked.action, [picked.target]);
    };

  const handlers: Readonly<Record<CommandName, (argument?: unknown) => Promise<unknown>>> = {
    launchBatch: (given) => launching.typed(given as TypedBatch | undefined),
    launchFromFile: (given) => launching.fromFile(given as vscode.Uri | undefined),
    launchFromSelection: () => launching.fromSelection(),
    resume: onChild('resume'),
    resumeAll: () => actions.resumeAll(),
    pause: onChild('pause'),
    pauseAll: () => actions.pauseAll(),
    stop: onChild('stop'),
    retry: onChild('retry'),
    check: options.check,
    review: onChild('review'),
    apply: onChild('apply'),
    applyAll: () => actions.applyAll(),
    openWorktree: onChild('openWorktree'),
    openCheckpoint: onChild('openCheckpoint'),
    showLog: onChild('showLog'),
    cleanUp: options.cleanUp,
    demo: options.demo,
    doctor: options.doctor,
    openPanel: () => panel.reveal({ type: 'revealNeedsYou' }),
    newBatchInPanel: () => panel.reveal({ type: 'newBatch' }),
    toggleTimeline: () => panel.reveal({ type: 'toggle', what: 'timeline' }),
    toggleFilter: () => panel.reveal({ type: 'toggle', what: 'filter' }),
    toggleGroup: () => panel.reveal({ type: 'toggle', what: 'group' }),
    nextNeedsYou: () => panel.reveal({ type: 'revealNeedsYou' }),
  };

  const life = new Lifetime();
  for (const [name, id] of Object.entries(commands) as [CommandName, string][])
    life.add(
      vscode.commands.registerCommand(id, async (argument?: unknown) => {
        try {
          return await handlers[name](argument);
        } catch (error) {
          options.onError(id, error);
          return undefined;
        }
      }),
    );
  return life;
}

/** An argument from a key binding or a menu: `{ batch, child }`. */
function targetOf(given: unknown): Target | null {
  if (typeof given !== 'object' || given === null || !('batch' in given) || !('child' in given)) return null;
  const { batch, child } = given;
  return typeof batch === 'string' && typeof child === 'string' ? { batch, child } : null;
}
