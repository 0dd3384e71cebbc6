import type { BatchAction, ChildAction, ChildView } from '../protocol/view.js';
import { asksAPerson } from './marks.js';
import { t, type TextKey } from './texts.js';

/** The order of the menu, in its three sections; what cannot be done now is left out, nothing changes place. */
export const menuSections: readonly (readonly ChildAction[])[] = [
  [
    'resumeNow',
    'resumeAt',
    'dontResume',
    'resume',
    'startNext',
    'startFresh',
    'pause',
    'retry',
    'why',
    'signIn',
    'openSetting',
    'apply',
    'giveBack',
    'showErrors',
    'check',
    'moveLeft',
    'keepLeft',
  ],
  ['review', 'log', 'worktree', 'checkpoint', 'restore', 'copyReport'],
  ['stop'],
];

export const batchMenuSections: readonly (readonly BatchAction[])[] = [
  ['pauseAll', 'resumeAll'],
  ['applyAll', 'reviewAll', 'check'],
  ['remove', 'stopAll'],
];

/** Icons from codicons; the list is also what the build keeps of their style sheet. */
export const actionIcons: Readonly<Record<ChildAction, string>> = {
  resumeNow: 'debug-continue',
  resumeAt: 'debug-continue',
  dontResume: 'circle-slash',
  resume: 'debug-continue',
  startNext: 'debug-continue',
  startFresh: 'debug-restart',
  pause: 'debug-pause',
  retry: 'debug-restart',
  why: 'question',
  signIn: 'key',
  openSetting: 'settings-gear',
  review: 'diff-multiple',
  apply: 'git-merge',
  giveBack: 'reply',
  showErrors: 'error',
  check: 'beaker',
  moveLeft: 'worktree',
  keepLeft: 'check',
  log: 'output',
  worktree: 'worktree',
  checkpoint: 'bookmark',
  restore: 'history',
  copyReport: 'copy',
  stop: 'debug-stop',
};

export const batchActionIcons: Readonly<Record<BatchAction, string>> = {
  pauseAll: 'debug-pause',
  resumeAll: 'debug-continue',
  stopAll: 'debug-stop',
  check: 'beaker',
  reviewAll: 'diff-multiple',
  applyAll: 'git-merge',
  remove: 'close',
};

/** Letters that act on the focused row; only where the setting is on. */
export const letters: Readonly<Record<string, readonly ChildAction[]>> = {
  r: ['resumeNow', 'resume', 'retry'],
  p: ['pause'],
  v: ['review'],
  a: ['apply'],
  l: ['log'],
};

/** The key shown beside an action in the menu. */
export function keyOf(action: ChildAction, letterKeys: boolean): string {
  if (action === 'stop') return 'Del';
  if (!letterKeys) return '';
  const letter = Object.entries(letters).find(([, actions]) => actions.includes(action))?.[0];
  return letter === undefined ? '' : letter.toUpperCase();
}

export function actionLabel(action: ChildAction): string {
  return t(`action.${action}` satisfies TextKey);
}

export function batchActionLabel(action: BatchAction): string {
  return t(`batch.${action}` satisfies TextKey);
}

/** The buttons of a row: at most one beside the primary, which is last and in the same place in all rows. */
export function rowActions(
  child: ChildView,
): readonly { readonly action: ChildAction; readonly primary: boolean }[] {
  const minor = (['giveBack', 'apply', 'log'] as const).find(
    (action) => child.actions.includes(action) && action !== child.primary,
  );
  return [
    ...(minor === undefined ? [] : [{ action: minor, primary: false }]),
    ...(child.primary === null ? [] : [{ action: child.primary, primary: true }]),
  ];
}

/** The primary stays visible where a person is asked; a callout has its own buttons. */
export function primaryStays(child: ChildView, calloutOpen: boolean): boolean {
  if (asksAPerson(child)) return !calloutOpen;
  return child.display === 'done' || child.display === 'conflict' || child.display === 'checkRed';
}

/** The buttons of a callout: the primary, and the one that a person would think of next. */
export function calloutActions(child: ChildView): readonly ChildAction[] {
  const second = (
    ['retry', 'resume', 'resumeNow', 'review', 'log'] as const satisfies readonly ChildAction[]
  ).filter((action) => child.actions.includes(action) && action !== child.primary);
  const fit = child.reason?.class === 'context_overflow' && second.includes('review') ? 'review' : second[0];
  return [...(child.primary === null ? [] : [child.primary]), ...(fit === undefined ? [] : [fit])];
}
