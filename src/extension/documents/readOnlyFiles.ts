import { open, stat } from 'node:fs/promises';
import type * as vscode from 'vscode';
import { plainText } from '../../protocol/plainText.js';
import { Lifetime, type Disposable } from '../lifetime.js';
import type { Vscode } from '../vscodeTypes.js';

/** Files of `.swarm`, as documents that nobody can change by mistake: logs and checkpoints. */
export const readOnlyScheme = 'swarm-file';

/** The newest part of a file, without terminal codes. A log grows without end, an editor does not. */
const shownBytes = 1024 * 1024;

export function createReadOnlyFiles(vscode: Vscode): Disposable & {
  show(file: string, title: string, options?: { readonly end?: boolean }): Promise<void>;
  /** Reads the open documents again where their files have grown. */
  changed(): void;
} {
  const life = new Lifetime();
  const emitter = life.add(new vscode.EventEmitter<vscode.Uri>());
  const sizes = new Map<string, number>();
  let looking = false;

  life.add(
    vscode.workspace.registerTextDocumentContentProvider(readOnlyScheme, {
      onDidChange: emitter.event,
      provideTextDocumentContent: async (uri) => {
        const file = fileOf(uri);
        const { text, size, cut } = await readEnd(file, shownBytes);
        sizes.set(uri.toString(), size);
        const head = cut ? `${vscode.l10n.t('(only the end is shown; the whole log is {0})', file)}\n` : '';
        return head + plainText(text);
      },
    }),
  );

  async function look(): Promise<void> {
    const open = vscode.workspace.textDocuments.filter((document) => document.uri.scheme === readOnlyScheme);
    for (const { uri } of open) {
      const size = await stat(fileOf(uri)).then(
        (stats) => stats.size,
        () => 0,
      );
      if (sizes.get(uri.toString()) !== size) emitter.fire(uri);
    }
  }

  return {
    async show(file, title, { end = false } = {}) {
      const uri = vscode.Uri.from({ scheme: readOnlyScheme, path: `/${title}`, query: file });
      emitter.fire(uri);
      const document = await vscode.workspace.openTextDocument(uri);
      const editor = await vscode.window.showTextDocument(document, { preview: true });
      if (end) {
        const last = document.lineAt(document.lineCount - 1).range;
        editor.revealRange(last);
      }
    },
    changed() {
      if (looking || life.ended) return;
      looking = true;
      // A log changes many times a second; an editor is refreshed once.
      const timer = setTimeout(() => {
        void look().finally(() => {
          looking = false;
        });
      }, 1000);
      life.add({ dispose: () => clearTimeout(timer) });
    },
    dispose: () => life.dispose(),
  };
}

/** The last lines of a file as plain text; none where it cannot be read. */
export async function lastLines(file: string, lines: number): Promise<readonly string[]> {
  try {
    const { text } = await readEnd(file, 64 * 1024);
    return plainText(text).trimEnd().split('\n').slice(-lines);
  } catch {
    return [];
  }
}

async function readEnd(
  file: string,
  bytes: number,
): Promise<{ readonly text: string; readonly size: number; readonly cut: boolean }> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const from = Math.max(0, size - bytes);
    const buffer = Buffer.alloc(size - from);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, from);
    const text = buffer.subarray(0, bytesRead).toString('utf8');
    return { text: from === 0 ? text : text.slice(text.indexOf('\n') + 1), size, cut: from > 0 };
  } finally {
    await handle.close();
  }
}

function fileOf(uri: vscode.Uri): string {
  return uri.query;
}
