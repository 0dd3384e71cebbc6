import type { Problem, View } from '../protocol/view.js';
import type { Stamped } from './core/event.js';
import type { Instant, Owner, ProcessId, State } from './core/state.js';

/**
 * What the supervisor needs from outside. Each port has a real version in `node/` and an in-memory one in the tests.
 * Nothing here assumes one machine: a later engine implements the same ports for many hosts.
 */
export type * from './ports/git.js';

/** Wall and monotonic time, and timers for absolute instants. */
export interface Clock {
  /** Epoch milliseconds of the wall clock; may jump. */
  now(): Instant;
  /** Milliseconds that never go back, for measuring. */
  monotonic(): number;
  /** Minutes that the local zone is ahead of UTC at `t`. */
  offset(t: Instant): number;
  /** IANA name of the local zone. */
  readonly zone: string;
  /** Fires once, at or soon after `at` by the wall clock, also after sleep and clock changes: re-armed at most 60 s ahead. */
  timer(at: Instant, fire: () => void): Disposable;
}

export interface Disposable {
  dispose(): void;
}

/** Lines for the output channel or `--verbose`. Never secrets; agent text is passed as text. */
export interface Log {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

// ---------------------------------------------------------------- store

/** The folder `.swarm`, as its one writer sees it. */
export interface Store {
  /** Absolute path of `.swarm`. */
  readonly folder: string;
  readonly owner: Owner;
  /** What was on the disk when it was opened. `events` follow `state`. */
  readonly loaded: {
    readonly state: State | null;
    readonly events: readonly Stamped[];
    readonly problems: readonly Problem[];
    /** Number of the last record, which may be one that this version does not know: the next event's is higher. */
    readonly lastSeq: number;
  };
  /**
   * Appends events in order. Resolves when they are written, and if `synced`, when they are on the disk.
   * Rejects with a StoreError; after that nothing of these events is in the journal.
   */
  append(events: readonly Stamped[], synced: boolean): Promise<void>;
  /** The machine's snapshot and the last view; both can be rebuilt. */
  saveState(state: State): Promise<void>;
  saveView(view: View): Promise<void>;
  /** Path of an attempt's folder, made if it is missing (0700). */
  attemptFolder(batch: string, child: string, attempt: number): Promise<string>;
  childFolder(batch: string, child: string): string;
  /** Whole file, atomic and synced; relative to `.swarm`. */
  write(path: string, text: string): Promise<void>;
  /** Text of a file below `.swarm`, bounded; null where there is none. */
  read(path: string): Promise<string | null>;
  /** Appends whole lines to a file below `.swarm`. */
  appendLines(path: string, lines: readonly string[]): Promise<void>;
  /** Bytes of `.swarm` on the disk. */
  size(): Promise<number>;
  /** Whether something can be written now. */
  probe(): Promise<boolean>;
  /** Called once when another owner has superseded this one: nothing more may be done. */
  onSuperseded(listener: (reason: string) => void): Disposable;
  /** Answers viewers' requests; what is returned is sent back. */
  serve(handler: (request: unknown) => Promise<unknown>): Disposable;
  /** Sends a view to all connected viewers. */
  publish(view: View): void;
  /** Gives the folder up: flushes, syncs, removes the lock. */
  close(): Promise<void>;
}

/** `superseded`: another owner has taken over. `disk`: no space or an input/output error. */
export class StoreError extends Error {
  constructor(
    readonly kind: 'superseded' | 'disk' | 'closed',
    message: string,
  ) {
    super(message);
  }
}

/** What became of the attempt to own a folder. */
export type OpenedStore =
  | { readonly kind: 'owner'; readonly store: Store }
  /** With `create: false`, where there is no `.swarm` yet: nothing was made. An existing one is opened either way. */
  | { readonly kind: 'absent' }
  /** Another live process owns it. */
  | { readonly kind: 'viewer'; readonly connection: Connection }
  /** Written by a newer version: it can be read, as far as it is understood. */
  | { readonly kind: 'readOnly'; readonly writtenBy: string; readonly view: View | null }
  | { readonly kind: 'refused'; readonly message: string; readonly fix: string };

/** A viewer's line to the owner. */
export interface Connection {
  readonly owner: Owner;
  request(request: unknown): Promise<unknown>;
  /** The last view the owner has sent. */
  onView(listener: (view: View) => void): Disposable;
  /** The owner has gone: someone may take over. */
  readonly closed: Promise<void>;
  close(): void;
}

// ---------------------------------------------------------------- processes

export interface StartRequest {
  /** The attempt's folder: claim, pid, stdout.log, stderr.log, exit.json live there. */
  readonly folder: string;
  /** Absolute path of the program. */
  readonly file: string;
  readonly args: readonly string[];
  /** The whole environment; never written to disk. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Absolute path of a file for stdin; null: closed. */
  readonly stdin: string | null;
  readonly nonce: string;
}

export type StartOutcome =
  | { readonly kind: 'started'; readonly process: ProcessId }
  /** This attempt was started before; it is not started again. */
  | { readonly kind: 'startedBefore'; readonly found: Found }
  | { readonly kind: 'failed'; readonly message: string; readonly disk: boolean };

/** What has become of an attempt, from its files and the process table. */
export type Found =
  | { readonly kind: 'alive'; readonly process: ProcessId }
  | { readonly kind: 'ended'; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: 'never' }
  /** Gone without a status. */
  | { readonly kind: 'lost' };

export interface FollowRequest {
  readonly folder: string;
  readonly process: ProcessId | null;
  /** Byte offsets to go on from. */
  readonly stdout: number;
  readonly stderr: number;
  /**
   * Complete lines in the order seen, with the offset after each; a line over 256 KiB is cut, and marked so.
   * `since` (epoch ms): when it was last looked before; all of them were printed after that. 0: not known.
   */
  readonly onLines: (lines: readonly FollowedLine[], since: number) => void;
}

export interface FollowedLine {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
  readonly end: number;
  readonly cut: boolean;
}

export interface Follower {
  /** Resolves after the last line was passed on. Never rejects. */
  readonly exited: Promise<Found & { readonly kind: 'ended' | 'lost' | 'never' }>;
  /** Passes on at once what has been printed until now. */
  catchUp(): void;
  dispose(): void;
}

/** Detached processes whose output goes to files and whose end is written down, so that they outlive us. */
export interface Processes {
  start(request: StartRequest): Promise<StartOutcome>;
  find(folder: string): Promise<Found>;
  follow(request: FollowRequest): Follower;
  /** Asks it, and its group, to stop; false where it is gone already. Never signals a process that is not the same. */
  ask(process: ProcessId, signal: 'SIGTERM' | 'SIGINT'): Promise<boolean>;
  /** Kills the process, its group, its descendants and whatever carries its nonce in the environment. Returns how many were hit. */
  kill(process: ProcessId): Promise<number>;
  /** Everything alive that carries one of these nonces. */
  survivors(nonces: readonly string[]): Promise<readonly { readonly pid: number; readonly nonce: string }[]>;
  /** Absolute path of a program: as given, or on PATH; or why it cannot be run. */
  resolve(
    program: string,
    path: string | undefined,
    cwd: string,
  ): Promise<
    | { readonly ok: true; readonly file: string }
    | { readonly ok: false; readonly message: string; readonly fix: string }
  >;
}
