import type { Log } from '../../supervisor/ports.js';
import type { Vscode } from '../vscodeTypes.js';
import type { WorkspaceSupervisors } from '../workspaceSupervisors.js';
import { reportAnswer } from './answers.js';
import { confirm } from './questions.js';

/** Removes worktrees whose work is applied or saved, after saying which and how much that frees. */
export async function cleanUp(
  vscode: Vscode,
  supervisors: WorkspaceSupervisors,
  log: Log & { show(): void },
): Promise<void> {
  const { l10n, window } = vscode;
  await supervisors.refresh();
  let found = 0;
  for (const supervisor of supervisors.open()) {
    const plan = await supervisor.request({ type: 'clean', dry: true });
    if (!reportAnswer(vscode, log, plan, '')) return;
    for (const { path, why } of plan.kept ?? []) log.info(`kept ${path}: ${why}`);
    const removed = plan.removed ?? [];
    if (removed.length === 0) continue;
    found += removed.length;
    const bytes = removed.reduce((sum, { bytes: size }) => sum + size, 0);
    const question = {
      text: l10n.t(
        'Remove {0} worktrees ({1})? Only those whose work is applied or saved.',
        removed.length,
        size(bytes),
      ),
      detail: removed
        .map(({ path }) => path)
        .slice(0, 20)
        .join('\n'),
      yes: l10n.t('Remove'),
    };
    if (!(await confirm(vscode, question))) continue;
    reportAnswer(vscode, log, await supervisor.request({ type: 'clean', dry: false }), '');
  }
  if (found === 0) void window.showInformationMessage(l10n.t('There is nothing to clean up.'));
}

export function size(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1000)} kB`;
  return bytes < 1_000_000_000
    ? `${(bytes / 1_000_000).toFixed(1)} MB`
    : `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}
