import type { Vscode } from '../../src/extension/vscodeTypes.js';

/** As much of the editor as the actions speak to: what was said is written down, what is chosen is told beforehand. */
export interface FakeVscode {
  readonly vscode: Vscode;
  /** One line for each message, dialog, pick and command, oldest first. */
  readonly said: readonly string[];
  /** Answers to the next questions, in order: a label, typed text, or undefined for Escape. */
  answer(...answers: readonly (string | undefined)[]): void;
}

export function translate(message: string, ...args: readonly (string | number)[]): string {
  return message.replace(/\{(\d+)\}/g, (_, n: string) => String(args[Number(n)]));
}

/** Where a setting `swarm.*` was given, as the editor tells it. */
export interface FakeSetting {
  readonly globalValue?: unknown;
  readonly workspaceValue?: unknown;
  readonly workspaceFolderValue?: unknown;
}

export function createFakeVscode(configured: Readonly<Record<string, FakeSetting>> = {}): FakeVscode {
  const said: string[] = [];
  const answers: (string | undefined)[] = [];
  const message =
    (level: string) =>
    (text: string, ...rest: readonly unknown[]): Promise<string | undefined> => {
      const dialog = rest[0];
      const isModal = typeof dialog === 'object' && dialog !== null;
      const modal = isModal ? 'modal ' : '';
      const detail = isModal && 'detail' in dialog ? ` (${String(dialog.detail)})` : '';
      const buttons = rest.filter((item): item is string => typeof item === 'string');
      said.push(`${modal}${level}: ${text}${detail}${buttons.length > 0 ? ` [${buttons.join(' | ')}]` : ''}`);
      return Promise.resolve(buttons.length > 0 ? answers.shift() : undefined);
    };
  const fake = {
    l10n: { t: translate, bundle: undefined },
    env: {
      language: 'en',
      clipboard: { writeText: (text: string) => Promise.resolve(said.push(`copied: ${text}`)) },
    },
    Uri: {
      file: (path: string) => ({ scheme: 'file', path, fsPath: path, toString: () => `file://${path}` }),
      from: (parts: Readonly<Record<string, string>>) => parts,
    },
    window: {
      state: { focused: true },
      showInformationMessage: message('information'),
      showWarningMessage: message('warning'),
      showErrorMessage: message('error'),
      setStatusBarMessage: () => undefined,
      showQuickPick: (
        items: readonly (string | { readonly label: string })[],
        options?: { readonly title?: string },
      ) => {
        const labels = items.map((item) => (typeof item === 'string' ? item : item.label));
        said.push(`pick ${options?.title ?? ''}: ${labels.join(' | ')}`);
        const wanted = answers.shift();
        return Promise.resolve(items[labels.indexOf(wanted ?? '')]);
      },
      showInputBox: (options?: { readonly title?: string }) => {
        said.push(`input ${options?.title ?? ''}`);
        return Promise.resolve(answers.shift());
      },
    },
    commands: {
      executeCommand: (command: string, ...args: readonly unknown[]) => {
        said.push(`command ${command} ${JSON.stringify(args)}`);
        return Promise.resolve();
      },
    },
    workspace: {
      textDocuments: [],
      workspaceFolders: [],
      getConfiguration: () => ({ inspect: (name: string) => configured[name] }),
    },
  };
  return {
    // Only what is listed above is called in these tests; anything else fails loudly.
    vscode: fake as unknown as Vscode,
    said,
    answer: (...next) => void answers.push(...next),
  };
}
