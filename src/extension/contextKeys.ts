import type { View } from '../protocol/view.js';
import type { HostState } from '../protocol/messages.js';
import { contextKeys } from './contributions.js';
import { candidates } from './requests.js';
import { decisions } from './statusText.js';
import type { Vscode } from './vscodeTypes.js';

export type ContextValues = Readonly<Record<keyof typeof contextKeys, boolean | number | string>>;

/** What `when` clauses may ask: whether something can be done now, so that the palette offers only that. */
export function contextValues(view: View, host: Pick<HostState, 'workspace' | 'supervisor'>): ContextValues {
  const can = (...actions: Parameters<typeof candidates>[1]): boolean => candidates(view, actions).length > 0;
  return {
    ready: host.workspace === 'ready',
    supervisor: host.supervisor,
    batches: view.batches.length,
    resume: can('resumeNow', 'resume', 'startFresh'),
    pause: can('pause'),
    stop: can('stop'),
    retry: can('retry'),
    review: can('review'),
    apply: can('apply'),
    needsYou: decisions(view),
  };
}

/** Sets the context keys, each only when it has changed. */
export function createContextKeys(vscode: Vscode): (values: ContextValues) => void {
  const shown = new Map<string, unknown>();
  return (values) => {
    for (const [name, value] of Object.entries(values) as [keyof typeof contextKeys, unknown][]) {
      if (shown.get(name) === value) continue;
      shown.set(name, value);
      void vscode.commands.executeCommand('setContext', contextKeys[name], value);
    }
  };
}
