import type { ChildAction } from '../protocol/view.js';

/**
 * Every id that package.json contributes, in one place; a test holds this file, package.json and
 * package.nls.json together.
 */
export const commands = {
  launchBatch: 'swarm.launchBatch',
  launchFromFile: 'swarm.launchFromFile',
  launchFromSelection: 'swarm.launchFromSelection',
  resume: 'swarm.resume',
  resumeAll: 'swarm.resumeAll',
  pause: 'swarm.pause',
  pauseAll: 'swarm.pauseAll',
  stop: 'swarm.stop',
  retry: 'swarm.retry',
  check: 'swarm.check',
  review: 'swarm.review',
  apply: 'swarm.apply',
  applyAll: 'swarm.applyAll',
  openWorktree: 'swarm.openWorktree',
  openCheckpoint: 'swarm.openCheckpoint',
  showLog: 'swarm.showLog',
  cleanUp: 'swarm.cleanUp',
  demo: 'swarm.demo',
  doctor: 'swarm.doctor',
  openPanel: 'swarm.openPanel',
  newBatchInPanel: 'swarm.newBatchInPanel',
  toggleTimeline: 'swarm.toggleTimeline',
  toggleFilter: 'swarm.toggleFilter',
  toggleGroup: 'swarm.toggleGroup',
  nextNeedsYou: 'swarm.nextNeedsYou',
} as const;

export type CommandName = keyof typeof commands;

export const viewContainer = 'swarm';
export const panelView = 'swarm.panel';
export const statusBarItem = 'swarm.status';
export const taskType = 'swarm';
export const outputChannel = 'Swarm';

/** Names below `swarm.`; the supervisor reads most of them, the rest are the editor's own. */
export const settings = {
  maxConcurrent: 'maxConcurrent',
  executors: 'executors',
  defaultExecutor: 'defaultExecutor',
  holdAbove: 'limits.holdAbove',
  worktreesLocation: 'worktrees.location',
  worktreesLink: 'worktrees.link',
  worktreesSetup: 'worktrees.setup',
  worktreesIncludeUncommitted: 'worktrees.includeUncommitted',
  checkCommand: 'check.command',
  applyMode: 'apply.mode',
  timeoutIdle: 'timeout.idle',
  timeoutTotal: 'timeout.total',
  resumeConsent: 'resume.consent',
  resumeQuietHours: 'resume.quietHours',
  resumeMaxTokensPerWake: 'resume.maxTokensPerWake',
  resumeAskAbove: 'resume.askAbove',
  verdictRules: 'verdict.rules',
  notifyDone: 'notify.done',
  panelLetterKeys: 'panel.letterKeys',
  keepSupervising: 'keepSupervising',
} as const;

export type SettingName = (typeof settings)[keyof typeof settings];

/** Settings that name programs or change what runs: ignored from a folder that is not trusted. */
export const restrictedSettings: readonly SettingName[] = [
  settings.executors,
  settings.defaultExecutor,
  settings.worktreesLocation,
  settings.worktreesLink,
  settings.worktreesSetup,
  settings.checkCommand,
  settings.verdictRules,
];

/** Context keys for `when` clauses. */
export const contextKeys = {
  ready: 'swarm:ready',
  supervisor: 'swarm:supervisor',
  batches: 'swarm:batches',
  resume: 'swarm:canResume',
  pause: 'swarm:canPause',
  stop: 'swarm:canStop',
  retry: 'swarm:canRetry',
  review: 'swarm:canReview',
  apply: 'swarm:canApply',
  needsYou: 'swarm:needsYou',
} as const;

/** Which actions of a child a palette command can stand for; the first that the view allows is taken. */
export const childCommands = {
  resume: ['resumeNow', 'resume', 'startFresh'],
  pause: ['pause'],
  stop: ['stop'],
  retry: ['retry'],
  review: ['review'],
  apply: ['apply'],
  openWorktree: ['worktree'],
  openCheckpoint: ['checkpoint'],
  showLog: ['log'],
} as const satisfies Partial<Record<CommandName, readonly ChildAction[]>>;

export type ChildCommand = keyof typeof childCommands;
