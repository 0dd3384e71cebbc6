import type { BatchCheckView, ChildCheckView, DetailsView, ReasonView } from '../../protocol/view.js';
import type {
  FailureClass,
  LimitWindow,
  ReasonClass,
  ResetSource,
  VerdictStep,
} from '../../protocol/verdict.js';

/** `batch/child`: unique over all batches, never changes. */
export type ChildKey = string;
/** `credential`, or `credential model` where the limit is one model's. */
export type GateKey = string;
/** Epoch milliseconds. */
export type Instant = number;

/** Everything the machine knows. Made by `reduce` alone; a value, never changed in place. */
export interface State {
  /** Sequence number of the last event. */
  readonly seq: number;
  /** Time of the last event; never goes back. */
  readonly at: Instant;
  /** Minutes that the local zone was ahead of UTC at the last event, for quiet hours. */
  readonly offset: number;
  readonly owner: Owner | null;
  readonly settings: Settings;
  readonly batches: Readonly<Record<string, Batch>>;
  readonly batchOrder: readonly string[];
  readonly children: Readonly<Record<ChildKey, Child>>;
  readonly gates: Readonly<Record<GateKey, Gate>>;
  /** The disk refused a write at this instant and has not been seen free since. */
  readonly diskFullSince: Instant | null;
}

export interface Owner {
  readonly pid: number;
  readonly epoch: number;
  readonly host: string;
}

/** Settings that the machine itself obeys; each change is an event. Durations in ms. */
export interface Settings {
  /** Over all batches. */
  readonly maxConcurrent: number;
  /** Ask before a resume that costs more tokens than this. */
  readonly askAbove: number | null;
}

/** How waits and resumes are allowed. Durations in ms. */
export interface Policy {
  readonly consent: Readonly<Partial<Record<LimitWindow | FailureClass, Consent>>>;
  readonly probe: readonly number[];
  readonly margin: number;
  /** Children started after the canary's progress; doubles per progress. */
  readonly ramp: number;
  /** Resumes of one child without progress in between. */
  readonly maxAutoResumes: number;
  /** Percent; from here on no new child starts on the credential. */
  readonly holdAbove: number;
  /** Go on with the next executor of the chain when the wait is longer; null: never. */
  readonly fallbackAfter: number | null;
  /** Minutes of the local day, from and to; null: none. */
  readonly quietHours: { readonly from: number; readonly to: number } | null;
  readonly tokensPerWake: number | null;
}

export type Consent = 'auto' | 'ask' | 'never';

/** A batch as it was launched. */
export interface Batch {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Instant;
  readonly isolation: 'worktree' | 'shared';
  readonly maxConcurrent: number;
  readonly policy: Policy;
  readonly timeout: { readonly idle: number; readonly total: number | null };
  /** Program and arguments; null: no check. */
  readonly check: readonly string[] | null;
  /** The commit that its worktrees start from. */
  readonly base: string;
  /** Keys in the manifest's order. */
  readonly children: readonly ChildKey[];
  readonly lastCheck: BatchCheckView | null;
  /** The user's tree is being moved: what `applyWriting` said, so that it can be finished after a crash. */
  readonly writing: ApplyStep | null;
}

export interface ApplyStep {
  readonly children: readonly ChildKey[];
  readonly from: string;
  readonly to: string;
  readonly paths: readonly string[];
  readonly commit?: { readonly from: string; readonly to: string };
}

/** What never changes of a child. */
export interface Task {
  readonly id: string;
  readonly title: string;
  /** Names of executors in order of preference. */
  readonly chain: readonly ExecutorChoice[];
  readonly files: readonly string[] | null;
  readonly timeout: { readonly idle: number; readonly total: number | null };
  readonly check: readonly string[] | null;
  /** Tokens of the prompt, about. */
  readonly promptTokens: number;
}

/** What the machine must know of an executor; the rest is in the manifest. */
export interface ExecutorChoice {
  readonly name: string;
  readonly adapter: string;
  readonly credential: string;
  readonly model: string | null;
}

/** A child: what holds in every phase, and its phase. */
export interface Child {
  readonly key: ChildKey;
  readonly batch: string;
  readonly task: Task;
  /** Index into `task.chain`. */
  readonly chosen: number;
  /** Number of the last attempt; 0 before the first. */
  readonly attempt: number;
  readonly session: string | null;
  readonly worktree: Place | null;
  readonly snapshot: {
    readonly ref: string;
    readonly commit: string;
    readonly n: number;
    readonly at: Instant;
    /** How many files differ from the base in it; not there in journals of before it was counted. */
    readonly files?: number;
  } | null;
  /** What its worktree holds and no snapshot can; not there where that is nothing. */
  readonly uncaptured?: readonly Uncaptured[];
  /** What it wrote outside of its worktree, each path once, the newest last; not there where that is nothing. */
  readonly strays?: readonly Stray[];
  /** When a snapshot of arriving edits was last ordered. */
  readonly snapshotAskedAt: Instant | null;
  readonly report: Report;
  /** Resumes by itself since the last progress. */
  readonly resumesWithoutProgress: number;
  /** Crashes since the last progress, for the back-off. */
  readonly crashes: number;
  /** Retries after a verdict of `unknown`. */
  readonly unknowns: number;
  readonly history: readonly Stretch[];
  readonly quarantine: Quarantine | null;
  readonly applied: Applied;
  readonly check: ChildCheckView | null;
  /** A prompt given back to a finished child as its next task; null: none. */
  readonly nextPrompt: string | null;
  readonly phase: Phase;
}

/** Work of a child that is nowhere but in its worktree. */
export interface Uncaptured {
  readonly path: string;
  readonly reason: string;
}

/** A file that a child wrote in somebody else's tree. */
export interface Stray {
  readonly path: string;
  /** Whose tree: `you` for the user's, else a child's id. */
  readonly who: string;
  /** It was taken out of there, into the child's own worktree. */
  readonly moved: boolean;
}

/** Where a child works. */
export interface Place {
  readonly path: string;
  readonly base: string;
  readonly inputs: readonly string[];
  /** What it takes on the disk, as last measured. */
  readonly bytes?: number;
}

export type Phase =
  | { readonly name: 'queued'; readonly since: Instant; readonly startNext: boolean }
  | { readonly name: 'preparing'; readonly since: Instant; readonly launch: Launch }
  | {
      readonly name: 'running';
      readonly since: Instant;
      readonly launch: Launch;
      /** Null between the start order and its confirmation. */
      readonly process: ProcessId | null;
      readonly lastSign: Instant;
      /** No sign for a minute. */
      readonly quiet: boolean;
      readonly progressed: boolean;
    }
  /** Asked to stop at a safe point; `then` is the pause it ends in. */
  | {
      readonly name: 'parking';
      readonly since: Instant;
      readonly launch: Launch;
      readonly process: ProcessId | null;
      readonly then: Pause;
      readonly progressed: boolean;
    }
  | { readonly name: 'paused'; readonly since: Instant; readonly pause: Pause }
  | {
      readonly name: 'stopping';
      readonly since: Instant;
      readonly launch: Launch;
      readonly process: ProcessId | null;
      readonly then: 'canceled';
    }
  | { readonly name: 'succeeded'; readonly since: Instant; readonly result: string }
  | { readonly name: 'failed'; readonly since: Instant; readonly reason: ReasonView }
  | { readonly name: 'canceled'; readonly since: Instant };

/** How an attempt is started. */
export interface Launch {
  readonly attempt: number;
  /** `first`: the task's prompt. `session`: on in its session. `brief`: a fresh session with a brief. `native`: found alive. */
  readonly how: 'first' | 'session' | 'brief';
  /** Who wanted it: the queue, the end of a wait, or a person. */
  readonly by: 'queue' | 'auto' | 'user';
  /** It is a resume by itself that counts until there is progress. */
  readonly counted: boolean;
  /** It is the one tried first at this gate. */
  readonly canary: { readonly gate: GateKey; readonly episode: number } | null;
}

/** A process is the same only if all three are. */
export interface ProcessId {
  readonly pid: number;
  /** As the system tells it, a text that is compared and nothing else. */
  readonly startTime: string;
  readonly nonce: string;
}

/** Why a child is paused and what ends it. */
export interface Pause {
  readonly reason: ReasonClass;
  readonly message: string;
  readonly needsUser: boolean;
  readonly detail: ReasonView['detail'] | null;
  readonly resetAt: Instant | null;
  readonly source: ResetSource | null;
  readonly zoneAssumed: boolean;
  readonly window: LimitWindow | null;
  readonly steps: readonly VerdictStep[];
  /** The gate it waits behind, with the episode it belongs to; null: it waits for itself. */
  readonly gate: { readonly key: GateKey; readonly episode: number } | null;
  /** When it goes on by itself without a gate (back-off); null: not by itself. */
  readonly retryAt: Instant | null;
  /** A person has chosen `retryAt`: then it is resumed as if asked for at that moment. */
  readonly chosen: boolean;
  /** A person has asked for it to go on; it starts as soon as it may. */
  readonly wanted: boolean;
  /** A person has answered the question of its gate: it goes on with the others. */
  readonly agreed: boolean;
  /** A person has said that it shall not go on by itself. */
  readonly declined: boolean;
  /** How it goes on: the same session, or fresh with a brief. */
  readonly how: 'session' | 'brief';
}

/** What is told of an attempt's output; counted by the loop, kept here so that one value is drawn. */
export interface Report {
  readonly read: number;
  readonly written: number;
  readonly input: number;
  readonly cachedInput: number;
  readonly output: number;
  /** Tokens of the last request, where the agent tells them; null: estimated from the sums. */
  readonly context: number | null;
  readonly lastLine: string;
  readonly lastLineAt: Instant | null;
  readonly details: DetailsView | null;
  /** Bytes of the attempt's stdout and stderr that are accounted for. */
  readonly offsets: { readonly attempt: number; readonly stdout: number; readonly stderr: number };
}

export interface Stretch {
  readonly kind: 'queued' | 'held' | 'running' | 'paused';
  readonly from: Instant;
  readonly to: Instant | null;
  readonly attempt: number | null;
  readonly reason: ReasonClass | null;
  readonly how: 'started' | 'resumedSelf' | 'resumedYou' | 'resumedFresh' | 'switched' | null;
}

export interface Quarantine {
  readonly state: 'moving' | 'moved';
  readonly moved: readonly string[];
  readonly left: readonly { readonly path: string; readonly who: string }[];
  /** A person wants what was left moved as it is. */
  readonly whole?: boolean;
  readonly checked: boolean;
  readonly errors: number | null;
}

export type Applied =
  /** `refused`: why the last apply has done nothing. */
  | { readonly state: 'none'; readonly refused?: string }
  | {
      readonly state: 'forecast';
      readonly clean: boolean;
      readonly with: readonly { readonly who: string; readonly path: string }[];
      readonly refused?: string;
    }
  | { readonly state: 'applying' }
  | { readonly state: 'applied'; readonly at: Instant }
  | { readonly state: 'conflict'; readonly with: readonly { readonly who: string; readonly path: string }[] }
  | { readonly state: 'red'; readonly errors: number };

/** A credential (or one model of it): may anything start on it? */
export interface Gate {
  readonly key: GateKey;
  readonly credential: string;
  readonly model: string | null;
  /** Number of the last closing; 0: never closed. */
  readonly episode: number;
  /** It was learned from an executor that names no model, so it holds those too. */
  readonly coversDefault: boolean;
  /** When the last closing began, and when it was last opened again. */
  readonly closedAt: Instant | null;
  readonly openedAt: Instant | null;
  /** What has been spent since it woke by itself, for the ceiling per wake; null: no such wake. */
  readonly wake: { readonly since: Instant; readonly tokens: number } | null;
  readonly near: {
    readonly utilization: number;
    readonly window: LimitWindow | null;
    readonly resetAt: Instant | null;
  } | null;
  readonly position: GatePosition;
}

export type GatePosition =
  | { readonly name: 'open' }
  /** Open again after a closing: only `allowed` resumes at a time until all that waited have started. */
  | {
      readonly name: 'opening';
      readonly since: Instant;
      readonly allowed: number;
      readonly resumed: number;
      readonly of: number;
    }
  | {
      readonly name: 'closed';
      readonly since: Instant;
      readonly reason: FailureClass;
      /** Stated reset without margin; null: nobody stated one. */
      readonly until: Instant | null;
      readonly source: ResetSource | null;
      readonly window: LimitWindow | null;
      readonly message: string;
      /** Refusals of this kind in a row, for the next guess. */
      readonly tries: number;
      /** When the canary goes: the reset plus margin, a guess, or what a person chose; null: only a person can say. */
      readonly tryAt: Instant | null;
      readonly consent: Consent;
      /** What a person has answered. */
      readonly answer: 'resume' | 'decline' | null;
      readonly needsUser: boolean;
      /** A person wants it tried at `tryAt`, whatever was stated. */
      readonly byUser: boolean;
      /** The verdict itself said that a person must act. */
      readonly asks: boolean;
      /** Children whose word on the reset has been counted in this episode. */
      readonly heard: readonly ChildKey[];
    }
  | {
      readonly name: 'probing';
      readonly since: Instant;
      readonly canary: ChildKey;
      readonly byUser: boolean;
      /** What it was before, for the view and for a refusal. */
      readonly reason: FailureClass;
      readonly until: Instant | null;
      readonly source: ResetSource | null;
      readonly window: LimitWindow | null;
      readonly message: string;
      readonly tries: number;
      readonly consent: Consent;
      readonly answer: 'resume' | 'decline' | null;
      readonly needsUser: boolean;
      readonly asks: boolean;
      readonly heard: readonly ChildKey[];
    };
