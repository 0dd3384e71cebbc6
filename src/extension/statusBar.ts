import type { View } from '../protocol/view.js';
import { commands, statusBarItem } from './contributions.js';
import { Lifetime, type Disposable } from './lifetime.js';
import { nextChange, statusText } from './statusText.js';
import type { Vscode } from './vscodeTypes.js';

/** Counts and the nearest countdown, in steps of a minute. Shown once something was launched. */
export function createStatusBar(vscode: Vscode, read: () => View): Disposable & { changed(): void } {
  const life = new Lifetime();
  const item = life.add(vscode.window.createStatusBarItem(statusBarItem, vscode.StatusBarAlignment.Left, 10));
  item.name = vscode.l10n.t('Swarm');
  item.command = commands.openPanel;
  let timer: NodeJS.Timeout | undefined;
  let shown = '';

  function changed(): void {
    clearTimeout(timer);
    if (life.ended) return;
    const view = read();
    const now = Date.now();
    const { text, tooltip, warning } = statusText(view, now, vscode.l10n.t);
    const key = JSON.stringify([text, tooltip, warning]);
    if (key !== shown) {
      shown = key;
      item.text = text;
      item.tooltip = tooltip.join('\n');
      item.backgroundColor = warning ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    }
    if (view.batches.length > 0) item.show();
    else item.hide();
    const next = nextChange(view, now);
    // Re-armed at least once a minute: a sleep or a clock change puts it right by the next one.
    if (next !== null) timer = setTimeout(changed, Math.min(next - now + 50, 60_000));
  }

  changed();
  return {
    changed,
    dispose: () => {
      clearTimeout(timer);
      life.dispose();
    },
  };
}
