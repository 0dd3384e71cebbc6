import type { FromPanel } from '../../protocol/messages.js';
import type { Actions } from '../actions/actions.js';
import type { Launching } from '../actions/launching.js';
import type { Showing } from '../actions/showing.js';
import { launchRequest } from '../requests.js';

/** Buttons of the panel that are about the window and no child. */
export type PanelCommand = Extract<FromPanel, { readonly type: 'command' }>['command'];

export interface PanelMessagesOptions {
  readonly actions: Actions;
  readonly launching: Launching;
  readonly showing: Showing;
  readonly command: (command: PanelCommand) => Promise<void>;
}

/** Carries out what was clicked in the panel, through the same actions as the palette. */
export async function handlePanelMessage(options: PanelMessagesOptions, message: FromPanel): Promise<void> {
  const { actions, launching, showing } = options;
  switch (message.type) {
    case 'ready':
      return;
    case 'child':
      return actions.child(message.action, message.targets);
    case 'batch':
      return actions.batch(message.action, message.batch);
    case 'gate':
      return actions.gate(message.action, message);
    case 'launch':
      await launching.launch(launchRequest(message));
      return;
    case 'command':
      return options.command(message.command);
    case 'file':
      return showing.file(message, message.path, message.inWorktree);
    case 'tree':
      return showing.tree(message, message.tree);
    default:
      return message satisfies never;
  }
}
