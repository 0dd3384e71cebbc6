import path from 'node:path';
import type { CheckProblem, View } from '../protocol/view.js';
import { Lifetime, type Disposable } from './lifetime.js';
import type { Vscode } from './vscodeTypes.js';

/** The errors of the last check of each batch, by file. The task `swarm: check` has a problem matcher of its own. */
export function problemsByFile(
  view: View,
  topLevelOf: (batch: string) => string | null,
): ReadonlyMap<string, readonly CheckProblem[]> {
  const files = new Map<string, CheckProblem[]>();
  for (const batch of view.batches) {
    const top = topLevelOf(batch.id);
    if (top === null || batch.check?.state !== 'red') continue;
    for (const problem of batch.check.problems ?? []) {
      const file = path.join(top, problem.path);
      files.set(file, [...(files.get(file) ?? []), problem]);
    }
  }
  return files;
}

/** Shows them in the Problems view, each with the child that wrote the file. */
export function createCheckProblems(
  vscode: Vscode,
  read: () => View,
  topLevelOf: (batch: string) => string | null,
): Disposable & { changed(): void } {
  const life = new Lifetime();
  const shown = life.add(vscode.languages.createDiagnosticCollection('swarm'));
  let last = '';

  function changed(): void {
    if (life.ended) return;
    const files = problemsByFile(read(), topLevelOf);
    const key = JSON.stringify([...files]);
    if (key === last) return;
    last = key;
    shown.clear();
    for (const [file, problems] of files)
      shown.set(
        vscode.Uri.file(file),
        problems.map(({ line, column, message, of }) => {
          const at = new vscode.Position(Math.max(0, line - 1), Math.max(0, column - 1));
          const text =
            of.length === 0 ? message : vscode.l10n.t('{0} (written by {1})', message, of.join(', '));
          const diagnostic = new vscode.Diagnostic(
            new vscode.Range(at, at),
            text,
            vscode.DiagnosticSeverity.Error,
          );
          diagnostic.source = 'Swarm';
          return diagnostic;
        }),
      );
  }

  changed();
  return { changed, dispose: () => life.dispose() };
}
