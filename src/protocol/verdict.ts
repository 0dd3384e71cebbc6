/** What a failure can mean. `none`: nothing failed. */
export type FailureClass =
  | 'none'
  | 'usage_limit'
  | 'rate_limit'
  | 'credits_exhausted'
  | 'overloaded'
  | 'stream_interrupted'
  | 'network'
  | 'auth_expired'
  | 'auth_denied'
  | 'timeout'
  | 'context_overflow'
  | 'invalid_request'
  | 'content_policy'
  | 'process_crash'
  | 'cancelled'
  | 'unknown';

/** Why a child is paused or failed: a failure class, or one of our own reasons. */
export type ReasonClass = Exclude<FailureClass, 'none'> | 'user' | 'interrupted' | 'disk' | 'budget';

/** Where a reset time comes from. `probe`: nobody stated one, we try then. */
export type ResetSource = 'event' | 'header' | 'body' | 'text' | 'probe';

/** The window a limit counts in. `unknown`: a limit was named, its window was not. */
export type LimitWindow = 'minute' | 'five_hour' | 'daily' | 'weekly' | 'monthly' | 'unknown';

/** What a limit closes. */
export type LimitScope = 'account' | 'model' | 'session' | 'request';

/** A warning that a limit is near; it stops nothing. */
export interface NearLimit {
  /** 0 to 1, as the agent reports it. */
  readonly utilization: number | null;
  readonly window: LimitWindow | null;
  /** Epoch milliseconds. Schedules nothing. */
  readonly resetAt: number | null;
}

/** One step of the reading of a signal: what it looked at, what it found, how sure it is. */
export interface VerdictStep {
  readonly step: 'structured' | 'status' | 'header' | 'body' | 'text' | 'exit' | 'time' | 'context';
  /** Name of the rule that matched. */
  readonly rule: string;
  /** The words or the field that decided, bounded and redacted. */
  readonly found: string;
  readonly confidence: 'certain' | 'likely' | 'weak';
}

/** What a failure means, and when it is over. */
export interface Verdict {
  readonly class: FailureClass;
  /** The same session can go on later. */
  readonly recoverable: boolean;
  /** A person must act first. */
  readonly needsUser: boolean;
  /** Epoch milliseconds, rounded up to a whole second; null where nobody stated it. */
  readonly resetAt: number | null;
  readonly resetSource: Exclude<ResetSource, 'probe'> | null;
  /** True when the time stated no zone and the local one was assumed. */
  readonly zoneAssumed: boolean;
  /** What the limit closes; null when nothing failed. */
  readonly scope: LimitScope | null;
  /** The window of a limit; null where the class is no limit. */
  readonly window: LimitWindow | null;
  /** The model whose limit it is, where scope is `model` and it was named. */
  readonly model: string | null;
  /** The agent's own message, bounded to 2,000 characters and redacted. Empty when nothing failed. */
  readonly message: string;
  readonly nearLimit: NearLimit | null;
  /** How it was read, first step first. */
  readonly steps: readonly VerdictStep[];
}
