import type { BatchCheckView, ChildCheckView, DetailsView } from '../../protocol/view.js';
import type { Verdict } from '../../protocol/verdict.js';
import type {
  Batch,
  ChildKey,
  GateKey,
  Instant,
  Owner,
  Place,
  ProcessId,
  Settings,
  Stray,
  Task,
  Uncaptured,
} from './state.js';

/**
 * What the machine is told. Facts in the past tense; wishes end in `Requested`.
 * An event is in the journal before any of its effects starts. Ids and times arrive in events, never from the machine.
 */
export type Event =
  /** This process has become the one writer of the folder; everything that was under way is looked at again. */
  | { readonly type: 'opened'; readonly owner: Owner; readonly version: string }
  | { readonly type: 'settingsChanged'; readonly settings: Settings }
  /** A batch with all its children; refused before it becomes an event if anything in it is wrong. */
  | {
      readonly type: 'batchLaunched';
      readonly batch: Omit<Batch, 'createdAt' | 'children' | 'lastCheck' | 'writing'>;
      readonly tasks: readonly Task[];
    }
  | { readonly type: 'batchRemoved'; readonly batch: string }

  // An attempt, from the order to prepare it to its end. `attempt` says which; another one's changes nothing.
  | { readonly type: 'prepared'; readonly child: ChildKey; readonly attempt: number; readonly place: Place }
  | {
      readonly type: 'prepareFailed';
      readonly child: ChildKey;
      readonly attempt: number;
      readonly failure: PrepareFailure;
    }
  | {
      readonly type: 'spawned';
      readonly child: ChildKey;
      readonly attempt: number;
      readonly process: ProcessId;
    }
  | {
      readonly type: 'spawnFailed';
      readonly child: ChildKey;
      readonly attempt: number;
      readonly message: string;
      readonly disk: boolean;
    }
  | {
      readonly type: 'sessionLearned';
      readonly child: ChildKey;
      readonly attempt: number;
      readonly session: string;
    }
  /** What the output says so far; at most twice a second. `progress`: something of rule 10 has happened since the last report. */
  | {
      readonly type: 'reported';
      readonly child: ChildKey;
      readonly attempt: number;
      readonly progress: boolean;
      readonly report: ReportChange;
    }
  /** A living child has said, by a structured event, that it met a limit or is near one. */
  | {
      readonly type: 'limitHeard';
      readonly child: ChildKey;
      readonly attempt: number;
      readonly verdict: Verdict;
    }
  /** The end of the process, read from its files. `verdict.class` `none` with `done` is success. */
  | {
      readonly type: 'exited';
      readonly child: ChildKey;
      readonly attempt: number;
      readonly exit: Exit;
      readonly verdict: Verdict;
      readonly result: string;
      /** The agent said that it has finished. Absent: a result that is not empty says so. Decides only where a stop was asked. */
      readonly done?: boolean;
      /** Progress seen since the last report. */
      readonly progress: boolean;
    }
  /** After a restart: the process was found alive and is followed again. */
  | {
      readonly type: 'adopted';
      readonly child: ChildKey;
      readonly attempt: number;
      readonly process: ProcessId;
    }

  // What was done for a child.
  | {
      readonly type: 'snapshotTaken';
      readonly child: ChildKey;
      readonly n: number;
      readonly ref: string;
      readonly commit: string;
      /** How many files differ from the base. */
      readonly files?: number;
    }
  | {
      readonly type: 'snapshotFailed';
      readonly child: ChildKey;
      readonly message: string;
      readonly disk: boolean;
    }
  /** What no capture of its worktree can take in, in place of what was told before. */
  | { readonly type: 'uncaptured'; readonly child: ChildKey; readonly paths: readonly Uncaptured[] }
  /** It wrote outside of its worktree. */
  | { readonly type: 'strayed'; readonly child: ChildKey; readonly strays: readonly Stray[] }
  | { readonly type: 'worktreeLost'; readonly child: ChildKey }
  | { readonly type: 'worktreeRestored'; readonly child: ChildKey; readonly place: Place }
  | { readonly type: 'quarantineStarted'; readonly child: ChildKey }
  | {
      readonly type: 'quarantined';
      readonly child: ChildKey;
      readonly moved: readonly string[];
      readonly left: readonly { readonly path: string; readonly who: string }[];
    }
  /** A person decided about what a quarantine left. */
  | { readonly type: 'settleLeftRequested'; readonly child: ChildKey; readonly how: 'move' | 'keep' }
  | {
      readonly type: 'forecasted';
      readonly forecasts: readonly {
        readonly child: ChildKey;
        readonly clean: boolean;
        readonly with: readonly { readonly who: string; readonly path: string }[];
      }[];
    }
  | {
      readonly type: 'applyWriting';
      readonly batch: string;
      readonly children: readonly ChildKey[];
      readonly from: string;
      readonly to: string;
      readonly paths: readonly string[];
      /** Where HEAD goes from and to, if it moves. */
      readonly commit?: { readonly from: string; readonly to: string };
    }
  | {
      readonly type: 'applyEnded';
      readonly children: readonly ChildKey[];
      readonly applied: readonly ChildKey[];
      readonly conflicts: readonly {
        readonly child: ChildKey;
        readonly with: readonly { readonly who: string; readonly path: string }[];
      }[];
      readonly red: readonly { readonly child: ChildKey; readonly errors: number }[];
      /** Why nothing was done at all; null where it was. */
      readonly message: string | null;
    }
  | {
      readonly type: 'checked';
      readonly batch: string;
      readonly check: BatchCheckView;
      readonly children: readonly { readonly child: ChildKey; readonly check: ChildCheckView }[];
    }
  | { readonly type: 'worktreeMeasured'; readonly child: ChildKey; readonly bytes: number }
  | { readonly type: 'worktreeRemoved'; readonly child: ChildKey }

  // Time. A timer that fires late, early or twice is harmless: what it is for is looked at anew.
  | { readonly type: 'timerFired'; readonly timer: TimerId }

  // What a person wants.
  | {
      readonly type: 'resumeRequested';
      readonly children: readonly ChildKey[];
      readonly how: 'auto' | 'brief';
    }
  | { readonly type: 'resumeAtRequested'; readonly children: readonly ChildKey[]; readonly at: Instant }
  | { readonly type: 'declineRequested'; readonly children: readonly ChildKey[] }
  | { readonly type: 'pauseRequested'; readonly children: readonly ChildKey[] }
  | { readonly type: 'stopRequested'; readonly children: readonly ChildKey[] }
  | {
      readonly type: 'retryRequested';
      readonly children: readonly ChildKey[];
      readonly prompt: string | null;
    }
  | { readonly type: 'startNextRequested'; readonly children: readonly ChildKey[] }
  | {
      readonly type: 'gateAnswered';
      readonly gate: GateKey;
      readonly answer: 'resumeNow' | 'resumeAtReset' | 'decline' | { readonly at: Instant };
    }
  | { readonly type: 'applyRequested'; readonly batch: string; readonly children: readonly ChildKey[] }
  | { readonly type: 'checkRequested'; readonly batch: string }
  | { readonly type: 'restoreRequested'; readonly child: ChildKey }

  // The surroundings.
  /** A credential file changed: someone may have signed in. Proposes, resumes nothing by itself. */
  | { readonly type: 'credentialChanged'; readonly credential: string }
  | { readonly type: 'diskFilled' }
  | { readonly type: 'diskFreed' };

export interface Exit {
  /** `lost`: the process is gone and left no status. */
  readonly kind: 'exited' | 'lost';
  readonly code: number | null;
  readonly signal: string | null;
  /** We had asked it to stop. */
  readonly asked: boolean;
}

export interface PrepareFailure {
  readonly kind: 'programMissing' | 'worktreeGone' | 'repository' | 'disk' | 'setup' | 'session';
  readonly message: string;
}

/** Counts are of the whole child, all attempts together. */
export interface ReportChange {
  readonly read: number;
  readonly written: number;
  readonly input: number;
  readonly cachedInput: number;
  readonly output: number;
  /** Tokens of the last request, where the agent tells them. */
  readonly context?: number;
  readonly lastLine: string;
  readonly lastLineAt: Instant | null;
  /** Null: unchanged. */
  readonly details: DetailsView | null;
  readonly stdout: number;
  readonly stderr: number;
}

/** A timer is named by what it is for, so that setting it twice is one timer. */
export type TimerId =
  | { readonly kind: 'gate'; readonly gate: GateKey; readonly episode: number }
  | { readonly kind: 'retry'; readonly child: ChildKey; readonly attempt: number }
  | { readonly kind: 'idle'; readonly child: ChildKey; readonly attempt: number }
  | { readonly kind: 'total'; readonly child: ChildKey; readonly attempt: number }
  /** The deadline of a parking or stopping child. */
  | { readonly kind: 'stop'; readonly child: ChildKey; readonly attempt: number }
  | { readonly kind: 'near'; readonly gate: GateKey }
  | { readonly kind: 'quiet' }
  | { readonly kind: 'ramp'; readonly gate: GateKey; readonly episode: number };

/** An event with its place in the one order of all events. */
export interface Stamped {
  readonly seq: number;
  readonly t: Instant;
  /** Offset of the local zone from UTC in minutes at `t`, for quiet hours. */
  readonly offset: number;
  readonly event: Event;
}

/** Whether the journal must be on the disk before the effects of this event may run. */
export const syncedEvents: Readonly<Record<Event['type'], boolean>> = {
  opened: true,
  settingsChanged: false,
  batchLaunched: true,
  batchRemoved: true,
  prepared: true,
  prepareFailed: true,
  spawned: true,
  spawnFailed: true,
  sessionLearned: true,
  reported: false,
  limitHeard: true,
  exited: true,
  adopted: true,
  snapshotTaken: true,
  snapshotFailed: true,
  uncaptured: true,
  strayed: true,
  worktreeLost: true,
  worktreeRestored: true,
  quarantineStarted: true,
  quarantined: true,
  settleLeftRequested: true,
  forecasted: false,
  applyWriting: true,
  applyEnded: true,
  checked: false,
  worktreeMeasured: false,
  worktreeRemoved: true,
  timerFired: true,
  resumeRequested: true,
  resumeAtRequested: true,
  declineRequested: true,
  pauseRequested: true,
  stopRequested: true,
  retryRequested: true,
  startNextRequested: true,
  gateAnswered: true,
  applyRequested: true,
  checkRequested: false,
  restoreRequested: true,
  credentialChanged: false,
  diskFilled: false,
  diskFreed: true,
};
