import type { View } from '../protocol/view.js';
import type { Supervisor } from '../supervisor/api.js';
import type { Notice } from '../supervisor/core/effect.js';
import type { Actions } from './actions/actions.js';
import { shortTime } from './actions/times.js';
import type { Target } from './requests.js';
import type { Vscode } from './vscodeTypes.js';

export interface NotificationsOptions {
  readonly vscode: Vscode;
  readonly actions: Actions;
  readonly openPanel: () => Promise<void>;
  readonly cleanUp: () => Promise<void>;
  /** `swarm.notify.done`. */
  readonly tellDone: () => boolean;
}

/** What is told outside the panel, with what can be done at once. */
interface Notification {
  readonly level: 'information' | 'warning' | 'error';
  readonly text: string;
  readonly buttons: readonly { readonly label: string; readonly act: () => Promise<void> }[];
}

/** Shows a notice; the supervisor sends each once. Resolves when the person has answered or closed it. */
export async function notify(
  options: NotificationsOptions,
  notice: Notice,
  supervisor: Supervisor,
): Promise<void> {
  const notification = describe(options, notice, supervisor.view());
  if (notification === null) return;
  const { window } = options.vscode;
  const labels = notification.buttons.map(({ label }) => label);
  const choice = await {
    information: (text: string) => window.showInformationMessage(text, ...labels),
    warning: (text: string) => window.showWarningMessage(text, ...labels),
    error: (text: string) => window.showErrorMessage(text, ...labels),
  }[notification.level](notification.text);
  await notification.buttons.find(({ label }) => label === choice)?.act();
}

export function describe(options: NotificationsOptions, notice: Notice, view: View): Notification | null {
  const { vscode, actions } = options;
  const { l10n, env } = vscode;
  const tasks = (n: number): string => (n === 1 ? l10n.t('1 task') : l10n.t('{0} tasks', n));
  const waits = (n: number): string =>
    n === 1 ? l10n.t('1 task waits, its work is kept.') : l10n.t('{0} tasks wait, their work is kept.', n);
  const panel = { label: l10n.t('Open panel'), act: options.openPanel };
  switch (notice.kind) {
    case 'signedOut': {
      const { credential, waiting } = notice;
      return {
        level: 'warning',
        text: l10n.t('{0} is signed out. {1}', credential, waits(waiting)),
        buttons: [{ label: l10n.t('Sign in…'), act: () => actions.gate('signIn', { credential }) }, panel],
      };
    }
    case 'credits':
      return {
        level: 'warning',
        text: l10n.t('{0} is out of credits. {1}', notice.credential, waits(notice.waiting)),
        buttons: [panel],
      };
    case 'denied':
      return {
        level: 'warning',
        text: l10n.t('{0} was refused access. {1}', notice.credential, waits(notice.waiting)),
        buttons: [panel],
      };
    case 'weekly': {
      const { credential, waiting, resetAt } = notice;
      const dont = { label: l10n.t("Don't"), act: () => actions.gate('dontResume', { credential }) };
      if (resetAt === null)
        return {
          level: 'information',
          text: l10n.t(
            '{0} reached its weekly limit and gave no reset time. {1}',
            credential,
            waits(waiting),
          ),
          buttons: [dont, panel],
        };
      const on = shortTime(resetAt, Date.now(), env.language);
      const then = { label: l10n.t('Resume then'), act: () => actions.gate('resumeAtReset', { credential }) };
      return {
        level: 'information',
        text: l10n.t('{0} reached its weekly limit. Resume {1} on {2}?', credential, tasks(waiting), on),
        buttons: [then, dont, panel],
      };
    }
    case 'unknown': {
      const target = targetOf(notice.child);
      const why = async (): Promise<void> => {
        await options.openPanel();
        await actions.child('why', [target]);
      };
      return {
        level: 'warning',
        text: l10n.t('{0} stopped and the reason is unknown. Its work is kept.', notice.title),
        buttons: [{ label: l10n.t('Why?'), act: why }, panel],
      };
    }
    case 'failed': {
      const target = targetOf(notice.child);
      const child = view.batches
        .find((batch) => batch.id === target.batch)
        ?.children.find((other) => other.id === target.child);
      const step =
        child?.primary === 'retry'
          ? [{ label: l10n.t('Retry'), act: () => actions.child('retry', [target]) }]
          : [];
      return {
        level: 'error',
        text: l10n.t('{0} failed: {1}', notice.title, notice.message),
        buttons: [...step, { label: l10n.t('Show log'), act: () => actions.child('log', [target]) }, panel],
      };
    }
    case 'disk':
      return {
        level: 'error',
        text: l10n.t('The disk is full. Paused: {0}. Nothing saved is lost.', tasks(notice.waiting)),
        buttons: [{ label: l10n.t('Clean up…'), act: options.cleanUp }],
      };
    case 'credential': {
      const { credential, waiting } = notice;
      return {
        level: 'information',
        text: l10n.t('{0} looks signed in again. Resume {1}?', credential, tasks(waiting)),
        buttons: [
          { label: l10n.t('Resume'), act: () => actions.gate('tryAgain', { credential }) },
          { label: l10n.t('Not now'), act: () => Promise.resolve() },
        ],
      };
    }
    case 'done':
      if (!options.tellDone() || vscode.window.state.focused) return null;
      return {
        level: 'information',
        text: l10n.t('{0} is done: {1} ready to apply.', notice.name, notice.ready),
        buttons: [{ label: l10n.t('Review all'), act: () => actions.batch('reviewAll', notice.batch) }],
      };
    default:
      return notice satisfies never;
  }
}

/** A child's key is `batch/child`. */
function targetOf(key: string): Target {
  const [batch = '', child = ''] = key.split('/');
  return { batch, child };
}
