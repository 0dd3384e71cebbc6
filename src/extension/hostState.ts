import type { HostState } from '../protocol/messages.js';
import { settings } from './contributions.js';
import { setting } from './configuration.js';
import type { Engine } from './engine.js';
import { Signal } from './lifetime.js';
import type { Vscode } from './vscodeTypes.js';
import type { WorkspaceSupervisors } from './workspaceSupervisors.js';

export interface HostStateOptions {
  readonly vscode: Vscode;
  readonly supervisors: WorkspaceSupervisors;
  readonly engine: () => Promise<Engine>;
}

/** What the panel must know of its surroundings. Programs are looked for when a panel asks, not before. */
export function createHostState({ vscode, supervisors, engine }: HostStateOptions): {
  readonly changed: Signal<void>;
  state(): HostState;
  /** Resolves when the folders and the programs have been looked at. */
  prepared(): Promise<void>;
  /** Settings have changed: programs are looked for again. */
  refresh(): void;
} {
  const changed = new Signal<void>();
  let executors: HostState['executors'] = [];
  let looked: Promise<void> | null = null;
  let lookedFor = 0;

  async function look(): Promise<void> {
    lookedFor += 1;
    const mine = lookedFor;
    const found = await (await engine()).executors(supervisors.topLevels()[0] ?? null);
    if (mine !== lookedFor) return;
    executors = found;
    changed.fire();
  }

  return {
    changed,
    state: () => ({
      workspace: supervisors.workspace(),
      executors,
      supervisor: supervisors.role(),
      writtenBy: supervisors.writtenBy(),
      letterKeys: setting(vscode, settings.panelLetterKeys, false),
      hour12: null,
      locale: vscode.env.language,
    }),
    async prepared() {
      await supervisors.refresh();
      looked ??= look();
      await looked;
    },
    refresh() {
      if (looked !== null) looked = look();
      changed.fire();
    },
  };
}
