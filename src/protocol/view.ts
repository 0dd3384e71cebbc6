import type { LimitWindow, ReasonClass, ResetSource, FailureClass, VerdictStep } from './verdict.js';

/**
 * The view: everything that a person or a tool can be shown, derived from the state by one function.
 * `swarm status --json` prints it, the panel draws it. Instants are ISO 8601 in UTC; resets are without margin.
 */
export interface View {
  readonly schema: 1;
  /** Sequence number of the last event in it. */
  readonly seq: number;
  readonly at: string;
  readonly owner: { readonly pid: number; readonly epoch: number; readonly host: string } | null;
  readonly problems: readonly Problem[];
  readonly gates: readonly GateView[];
  readonly batches: readonly BatchView[];
}

/** Something about the files or the environment that a person should know. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

export interface GateView {
  readonly credential: string;
  /** Present where the limit is one model's. */
  readonly model?: string;
  readonly state: 'open' | 'closed' | 'probing';
  /** When it is expected to open; stays while probing. */
  readonly until: string | null;
  readonly reason: FailureClass;
  readonly source: ResetSource | null;
  /** Queued children behind it. */
  readonly held: number;

  /** What the strip says: which sentence of the panel fits. */
  readonly display:
    | 'open'
    | 'near'
    | 'closedUntil'
    | 'closedGuess'
    | 'closedSoon'
    | 'probing'
    | 'opening'
    | 'signedOut'
    | 'denied'
    | 'credits'
    | 'weekly'
    | 'quietHours'
    | 'budget'
    | 'noResume';
  readonly episode: number;
  readonly since: string | null;
  readonly window: LimitWindow | null;
  /** Paused and held children that wait for it. */
  readonly waiting: number;
  /** Use in percent, while near a limit. */
  readonly utilization: number | null;
  /** When it is tried next without a stated reset, or after the next refusal. */
  readonly nextTry: string | null;
  readonly needsUser: boolean;
  /** Title of the child that is tried first. */
  readonly canary: string | null;
  /** The child that would go first on "Resume now", and about how many tokens it costs. */
  readonly first: { readonly id: string; readonly title: string; readonly tokens: number | null } | null;
  /** While opening: resumed so far, of how many. */
  readonly resumed: { readonly done: number; readonly of: number } | null;
  /** The agent's own words, bounded. */
  readonly message: string;
  readonly actions: readonly GateAction[];
}

export type GateAction =
  'resumeNow' | 'resumeAtReset' | 'resumeAt' | 'dontResume' | 'signIn' | 'tryAgain' | 'openSetting';

export type BatchStatus = 'queued' | 'running' | 'paused' | 'succeeded' | 'failed' | 'canceled';

export interface BatchView {
  readonly id: string;
  readonly name: string;
  readonly status: BatchStatus;
  readonly children: readonly ChildView[];

  readonly isolation: 'worktree' | 'shared';
  readonly createdAt: string;
  readonly endedAt: string | null;
  /** The last check of the user's tree with what was applied, or of the merged tree. */
  readonly check: BatchCheckView | null;
  readonly actions: readonly BatchAction[];
}

export interface BatchCheckView {
  readonly state: 'running' | 'green' | 'red' | 'broken';
  /** The command as a person would read it. */
  readonly command: string;
  readonly errors: number;
  readonly errorsInTree: number;
  readonly errorsByChild: readonly { readonly id: string; readonly title: string; readonly errors: number }[];
  /** The first of the errors, each with the titles of the children whose file it lies in. */
  readonly problems?: readonly CheckProblem[];
  /** Short hash of the tree it ran on. */
  readonly tree: string;
  readonly at: string;
  readonly stale: boolean;
}

export interface CheckProblem {
  /** Relative to the top of the tree. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly of: readonly string[];
}

export type BatchAction =
  'pauseAll' | 'resumeAll' | 'stopAll' | 'check' | 'reviewAll' | 'applyAll' | 'remove';

export type ChildPhase =
  | 'queued'
  | 'preparing'
  | 'running'
  | 'parking'
  | 'paused'
  | 'stopping'
  | 'succeeded'
  | 'failed'
  | 'canceled';

export type ChildStatus = 'queued' | 'held' | 'running' | 'paused' | 'failed' | 'done' | 'canceled';

/** What the panel's word and icon are; finer than the status. */
export type ChildDisplay =
  | 'queued'
  | 'held'
  | 'starting'
  | 'running'
  | 'pausing'
  | 'paused'
  /** Paused behind something that a person must do for the whole account. */
  | 'pausedForYou'
  /** This child alone asks a person. */
  | 'needsYou'
  | 'stopping'
  | 'done'
  | 'applied'
  | 'conflict'
  | 'checkRed'
  | 'failed'
  | 'canceled';

export interface ChildView {
  readonly id: string;
  readonly title: string;
  readonly executor: string;
  readonly phase: ChildPhase;
  readonly status: ChildStatus;
  /** Attempts so far. */
  readonly attempts: number;
  readonly reason: ReasonView | null;
  readonly resetAt: string | null;
  readonly resetSource: ResetSource | null;
  /** The agent's own session. */
  readonly session: string | null;
  /** Absolute path. */
  readonly worktree: string | null;
  /** Bytes that its worktree takes on the disk, as measured when it last stopped; linked inputs are not in it. */
  readonly diskUse?: number;
  /** Newest snapshot ref. */
  readonly snapshot: string | null;
  /** What its worktree holds and no snapshot can: it is not reviewed, applied or cleaned up. */
  readonly uncaptured?: readonly { readonly path: string; readonly reason: string }[];
  /** What it wrote outside of its worktree; `who`: `you` for the user's tree, else the id of a child. */
  readonly strays?: readonly { readonly path: string; readonly who: string; readonly moved: boolean }[];
  readonly quarantined: boolean;
  readonly files: { readonly read: number; readonly written: number };
  readonly tokens: TokensView;
  readonly lastLine: string;

  readonly display: ChildDisplay;
  /** Place in the line after a reset: 1 is tried first. */
  readonly order: number | null;
  /** Since when a running child has given no sign; null while it talks. */
  readonly quietSince: string | null;
  readonly quarantine: QuarantineView | null;
  readonly apply: ApplyView | null;
  readonly check: ChildCheckView | null;
  readonly resumePrice: ResumePriceView | null;
  /** What can be done now, in the order of the menu. */
  readonly actions: readonly ChildAction[];

  /** The one sensible next click; null where there is none. */
  readonly primary: ChildAction | null;
  readonly credential: string;
  readonly model: string | null;
  /** Since when it is in this phase. */
  readonly since: string;
  /** When it started to run for the first time. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** How long it ran, waits not counted, in seconds. */
  readonly ranFor: number;
  /** Its place in the queue text: slots busy of how many. */
  readonly slots: { readonly busy: number; readonly of: number } | null;
  /** Every stretch of time, oldest first, for the timeline and the list of attempts. */
  readonly history: readonly StretchView[];
  /** From the checkpoint; shown in the details. */
  readonly details: DetailsView | null;
}

export interface ReasonView {
  readonly class: ReasonClass;
  /** The agent's message, bounded; plain text. */
  readonly message: string;
  readonly needsUser: boolean;
  readonly window?: LimitWindow;
  /** True when the time named no zone. */
  readonly zoneAssumed?: boolean;
  /** Which of two texts fits: `idle` or `total` timeouts, held by a near limit, resumed too often, worktree gone. */
  readonly detail?: 'idle' | 'total' | 'near' | 'attempts' | 'worktreeGone' | 'consent' | 'dontResume';
  /** How it was read, for "Why?". */
  readonly steps?: readonly VerdictStep[];
}

export interface TokensView {
  readonly input: number;
  readonly cachedInput: number;
  readonly output: number;
}

export interface QuarantineView {
  /** Files moved into the child's worktree. */
  readonly moved: number;
  /** Files left in place because others changed them too. */
  readonly left: number;
  /** A check has run on the tree since. */
  readonly checked: boolean;
  /** Errors in the user's tree at that check. */
  readonly errors?: number;
  readonly files?: readonly string[];
  readonly leftWith?: readonly string[];
  /** What was left, each with whoever else may have written it; a person can have it moved as it is, or kept. */
  readonly leftFiles?: readonly { readonly path: string; readonly who: string }[];
}

export interface ApplyView {
  readonly state:
    'forecastClean' | 'forecastConflict' | 'ready' | 'applying' | 'applied' | 'conflict' | 'red';
  /** Paths and whose they are: `you` or a child's id. */
  readonly with: readonly { readonly who: string; readonly path: string }[];
  readonly at?: string;
  /** Why the last apply has done nothing. */
  readonly refused?: string;
}

export interface ChildCheckView {
  readonly state: 'running' | 'green' | 'red' | 'broken';
  readonly errors: number;
  readonly tree: string;
  readonly stale: boolean;
  readonly command?: string;
  readonly at?: string;
  readonly changedSince?: number;
}

export interface ResumePriceView {
  /** Tokens to go on in the same session while its cache is warm. */
  readonly sameNow: number;
  /** Tokens to go on in the same session with a cold cache. */
  readonly sameLater: number;
  /** Tokens of a fresh session with a brief. */
  readonly fresh: number;
}

export type ChildAction =
  | 'resumeNow'
  | 'resumeAt'
  | 'dontResume'
  | 'resume'
  | 'startNext'
  | 'startFresh'
  | 'pause'
  | 'retry'
  | 'why'
  | 'signIn'
  | 'openSetting'
  | 'review'
  | 'apply'
  | 'giveBack'
  | 'showErrors'
  | 'check'
  | 'moveLeft'
  | 'keepLeft'
  | 'log'
  | 'worktree'
  | 'checkpoint'
  | 'restore'
  | 'copyReport'
  | 'stop';

export interface StretchView {
  readonly kind: 'queued' | 'held' | 'running' | 'paused';
  readonly from: string;
  /** Null: it still lasts. */
  readonly to: string | null;
  readonly attempt: number | null;
  readonly reason?: ReasonClass;
  /** How a running stretch began. */
  readonly how?: 'started' | 'resumedSelf' | 'resumedYou' | 'resumedFresh' | 'switched';
}

export interface DetailsView {
  readonly plan: readonly { readonly text: string; readonly done: boolean }[];
  readonly decisions: readonly string[];
  readonly written: readonly {
    readonly path: string;
    readonly kind: 'M' | 'A' | 'D';
    readonly added?: number;
    readonly removed?: number;
  }[];
  readonly read: readonly string[];
  readonly verification: readonly {
    readonly command: string;
    readonly exitCode: number | null;
    readonly tree: string;
    readonly at: string;
    readonly stale: boolean;
  }[];
  readonly lastLineAt: string | null;
}
