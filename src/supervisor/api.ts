import type { Answer, Request } from '../protocol/request.js';
import type { View } from '../protocol/view.js';
import type { Notice } from './core/effect.js';
import type { Policy } from './core/state.js';
import type { Clock, Disposable, Git, Log, OpenedStore, Processes } from './ports.js';
import type { Executor, HelperName } from './agents/agent.js';

/** What the supervisor is built from. The extension and the command line differ only in these. */
export interface SupervisorOptions {
  /** The folder that was opened; anywhere in the repository. */
  readonly folder: string;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly git: Git;
  readonly processes: Processes;
  /** Tries to own `.swarm` of the repository. `create: false`: where there is none, none is made (`absent`). */
  readonly openStore: (swarmFolder: string, options: { readonly create: boolean }) => Promise<OpenedStore>;
  readonly settings: UserSettings;
  /** The environment that agents get, before it is cleaned. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Random bytes as hex, for nonces and ids. */
  readonly random: (bytes: number) => string;
  /** How `swarm` is run, for the type check of children that share a tree; without it they use their own. */
  readonly ownProgram?: OwnProgram;
  /** The programs of ours that some executors run through; without them those executors cannot start. */
  readonly helpers?: Readonly<Record<HelperName, OwnProgram>>;
  /** Owns the folder only to carry out a wish: what runs is followed, nothing new is started. */
  readonly passive?: boolean;
  /** Gives the folder to a process that asks for it: this one stands in for a window that has closed. */
  readonly yields?: boolean;
}

/** A program of ours that can be run without a shell. */
export interface OwnProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The person's settings (`swarm.*`), already validated. */
export interface UserSettings {
  readonly maxConcurrent: number;
  readonly executors: Readonly<Record<string, Partial<Executor> & { readonly adapter: string }>>;
  readonly defaultExecutor: string;
  readonly worktrees: {
    /** Folder for worktrees; null: `<top level>.worktrees`. */
    readonly location: string | null;
    readonly link: 'link' | 'copy' | 'none';
    readonly setup: readonly string[];
    readonly includeUncommitted: boolean;
  };
  readonly check: readonly string[] | null;
  readonly apply: 'uncommitted' | 'commit' | 'branch';
  readonly timeout: { readonly idle: number; readonly total: number | null };
  readonly holdAbove: number;
  /** How waits end where a manifest says nothing. */
  readonly resume: Pick<Policy, 'consent' | 'quietHours' | 'tokensPerWake'>;
  readonly verdictRules: unknown;
}

/** One folder's supervisor, whoever owns it: the same calls reach this process's machine or the owner's. */
export interface Supervisor {
  readonly role: 'owner' | 'viewer' | 'readOnly';
  /** The last view. */
  view(): View;
  /** Called with each new view, at most ten times a second, and at once with the present one. */
  onView(listener: (view: View) => void): Disposable;
  /** What a person must be told; only while this process owns the folder. */
  onNotice(listener: (notice: Notice) => void): Disposable;
  onRole(listener: (role: 'owner' | 'viewer' | 'readOnly' | 'gone') => void): Disposable;
  request(request: Request): Promise<Answer>;
  /** Resolves when everything that was asked for so far has been journaled and nothing is in flight. */
  settled(): Promise<void>;
  /** Gives the folder up. Agents go on; the next owner takes them up. `stopAgents`: stops them first, their work kept. */
  close(options: { readonly stopAgents: boolean }): Promise<void>;
}

/** Opens a folder: owner if nobody else is, else viewer; a viewer takes over when its owner dies. */
export type OpenSupervisor = (
  options: SupervisorOptions,
) => Promise<
  | { readonly ok: true; readonly supervisor: Supervisor }
  | { readonly ok: false; readonly code: 2 | 3; readonly message: string; readonly fix: string }
>;
