import type { TimerId } from './event.js';
import type { ChildKey, Instant, Launch, ProcessId } from './state.js';

/**
 * What the machine orders, as data. Each may be carried out twice: it is keyed by child and attempt, and whoever
 * runs it looks first at what has been done. Its result comes back as an event.
 */
export type Effect =
  /** Preflight (program, session, worktree) and make or find the worktree. -> `prepared` | `prepareFailed` */
  | { readonly type: 'prepare'; readonly child: ChildKey; readonly launch: Launch }
  /** Start the attempt, unless it was started before (then follow it). -> `spawned` | `spawnFailed`, later `exited` */
  | { readonly type: 'spawn'; readonly child: ChildKey; readonly launch: Launch }
  /** Find an attempt again after a restart. -> `adopted` | `exited` (kind `lost` if it is gone without a status) */
  | {
      readonly type: 'adopt';
      readonly child: ChildKey;
      readonly launch: Launch;
      readonly process: ProcessId | null;
    }
  /** Ask it to stop as its agent likes best; at the deadline kill its whole tree. -> `exited` */
  | { readonly type: 'stop'; readonly child: ChildKey; readonly attempt: number; readonly deadline: Instant }
  /** Kill its whole tree now. -> `exited` */
  | { readonly type: 'kill'; readonly child: ChildKey; readonly attempt: number }
  /** Capture its edits under refs/swarm. -> `snapshotTaken` | `snapshotFailed` | nothing if nothing changed */
  | {
      readonly type: 'snapshot';
      readonly child: ChildKey;
      readonly why: 'paused' | 'ended' | 'apply' | 'edits';
    }
  /** Take its half-written edits out of the shared tree. -> `quarantined` */
  | { readonly type: 'quarantine'; readonly child: ChildKey }
  | { readonly type: 'restoreWorktree'; readonly child: ChildKey }
  | { readonly type: 'forecast' }
  /** -> `applyWriting`, `applyEnded` */
  | { readonly type: 'apply'; readonly batch: string; readonly children: readonly ChildKey[] }
  /** -> `checked` */
  | { readonly type: 'check'; readonly batch: string }
  | { readonly type: 'setTimer'; readonly timer: TimerId; readonly at: Instant }
  | { readonly type: 'clearTimer'; readonly timer: TimerId }
  /** Write result.json of a finished child. */
  | { readonly type: 'writeResult'; readonly child: ChildKey }
  /** Tell a person, once per key. */
  | { readonly type: 'notify'; readonly key: string; readonly notice: Notice }
  /** Try to write again after the disk was full; -> `diskFreed` */
  | { readonly type: 'watchDisk' };

/** What a person is told outside the panel; only what needs one. */
export type Notice =
  | {
      readonly kind: 'signedOut' | 'credits' | 'denied';
      readonly credential: string;
      readonly waiting: number;
    }
  | {
      readonly kind: 'weekly';
      readonly credential: string;
      readonly waiting: number;
      readonly resetAt: Instant | null;
    }
  | { readonly kind: 'unknown'; readonly child: ChildKey; readonly title: string }
  | { readonly kind: 'failed'; readonly child: ChildKey; readonly title: string; readonly message: string }
  | { readonly kind: 'disk'; readonly waiting: number }
  | { readonly kind: 'credential'; readonly credential: string; readonly waiting: number }
  | { readonly kind: 'done'; readonly batch: string; readonly name: string; readonly ready: number };
