import type { Signal } from '../verdict/signal.js';

/** One complete line of a child's output, without its line end. */
export interface OutputLine {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

/**
 * What a line of an agent's output says, in words that all agents share.
 * Paths are as the agent printed them (absolute, or relative to the child's folder).
 */
export type AgentEvent =
  | { readonly type: 'session'; readonly id: string }
  | { readonly type: 'read'; readonly path: string }
  /** A file is about to be written. */
  | { readonly type: 'writing'; readonly path: string; readonly tool: string }
  | { readonly type: 'write'; readonly path: string; readonly tool: string }
  /** A shell command has started; `shell` follows when it has ended, and does not if it was refused or never ended. */
  | { readonly type: 'shellStarted'; readonly command: string }
  | { readonly type: 'shell'; readonly command: string; readonly exitCode: number | null }
  | { readonly type: 'decision'; readonly text: string }
  | { readonly type: 'next'; readonly items: readonly { readonly text: string; readonly done: boolean }[] }
  /** The agent's own words. Never a failure, whatever they say. */
  | { readonly type: 'text'; readonly text: string }
  /**
   * `mode: total` replaces what was counted for this session before, `add` adds to it.
   * `input` is all input, `cachedInput` the part of it that came from the provider's cache.
   */
  | {
      readonly type: 'usage';
      readonly mode: 'add' | 'total';
      readonly input: number;
      readonly cachedInput: number;
      readonly output: number;
    }
  /** Something the verdict must read: a limit event, an error, a failed result. `final`: the agent says that the run has ended with it. */
  | { readonly type: 'signal'; readonly signal: Signal; readonly final: boolean }
  /** The agent was refused a tool by its own permissions. */
  | { readonly type: 'denied'; readonly what: string }
  /** The agent says that it has finished; `ok: false` goes with a final signal. */
  | { readonly type: 'done'; readonly ok: boolean; readonly result: string }
  /** Known and of no importance. */
  | { readonly type: 'ignored' }
  /** A line this adapter does not know. */
  | { readonly type: 'unrecognized'; readonly text: string };

/** Turns the lines of one attempt into events. Never throws. May remember earlier lines of the same attempt. */
export interface AgentParser {
  push(line: OutputLine): readonly AgentEvent[];
}

/** What to run: a plain value, no shell. */
export interface CommandLine {
  /** Program as configured; resolved on PATH before the launch. */
  readonly file: string;
  readonly args: readonly string[];
  /** Added to the cleaned environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  /** `none`: stdin is closed. `prompt`: stdin is the prompt file, for prompts that are too long for the command line. */
  readonly stdin: 'none' | 'prompt';
  /** A program of ours that runs in its place and starts it: its own arguments come first, then `--` and this line. */
  readonly helper?: { readonly name: HelperName; readonly args: readonly string[] };
}

/** `acp` holds the conversation with an Agent Client Protocol agent, `local` carries out a plan or runs a program. */
export type HelperName = 'acp' | 'local';

export type Permissions = 'edit' | 'full';

/** An executor as it stands after profiles, settings and manifest are merged. */
export interface Executor {
  readonly name: string;
  readonly adapter: string;
  /** Program, or program and leading arguments. */
  readonly command: readonly string[];
  readonly args: readonly string[];
  /** Values may be `${env:NAME}`; they are resolved at launch and never written to disk. */
  readonly env: Readonly<Record<string, string>>;
  readonly model: string | null;
  /** The account that pays: what a limit closes. */
  readonly credential: string;
  readonly permissions: Permissions;
}

/** What an adapter needs to know to build a command line. */
export interface LaunchRequest {
  readonly executor: Executor;
  /** Absolute path of the child's folder (its worktree). */
  readonly folder: string;
  /** The whole prompt text of this attempt. */
  readonly prompt: string;
  /** Absolute path of a 0600 file that holds `prompt`. */
  readonly promptFile: string;
  /** Absolute path of checkpoint.md. */
  readonly checkpointFile: string;
  /** A fresh random UUID: the session id where the agent lets us choose it. */
  readonly newSessionId: string;
  /** The batch's check command, so that it can be allowed without a question; null if there is none. */
  readonly check: readonly string[] | null;
  /** Programs of ours stand first on its PATH: a login shell of the agent's must not build another one. */
  readonly keepsPath?: boolean;
}

/** How an adapter's agent behaves, as data. */
export interface AgentTraits {
  /** The session id is chosen by us (`newSessionId`), printed early, or found in a file after the run. */
  readonly sessionId: 'chosen' | 'printed' | 'index';
  /** How it is asked to stop most kindly. */
  readonly stopSignal: 'SIGTERM' | 'SIGINT';
  /** A resume from another folder works (`new`), works but in the first folder (`original`), or is refused. */
  readonly resumeElsewhere: 'new' | 'original' | 'refused';
  /** The agent's own limit of silence in ms; our idle timeout is above it. */
  readonly silentFor: number;
}

/** One agent kind. Pure: builds values and parses lines. */
export interface Adapter {
  readonly name: string;
  /** Programs looked for on PATH when the executor names none. */
  readonly programs: readonly string[];
  readonly traits: AgentTraits;
  /** Works without a program of the executor's: its helper does it all. */
  readonly needsNoProgram?: true;
  commandLine(request: LaunchRequest): CommandLine;
  /** Null where the agent cannot go on in a session: the caller starts fresh with a brief. */
  resumeLine(request: LaunchRequest, session: string): CommandLine | null;
  parser(): AgentParser;
  /** Folder-independent place where the session id is found after the fact, for `sessionId: 'index'`. */
  sessionIndex?: {
    /** Path of the index file from the attempt's environment. */
    file(env: Readonly<Record<string, string>>): string;
    /** The newest session of the folder in the index text, at or after `since` (epoch ms); null if there is none. */
    find(text: string, folder: string, since: number): string | null;
  };
  /**
   * The agent's own log of a session, where it says more than the stream does: an exact reset where the stream has
   * only prose. Read when an attempt has ended with a limit, and for agents that wait in silence.
   */
  sessionLog?: {
    /** The folder below which the log lies, from the attempt's environment. */
    folder(env: Readonly<Record<string, string>>): string;
    /** Whether a file, by its path, is the log of this session. */
    isLog(path: string, session: string): boolean;
    /** What the newest entries say about limits; the text may begin and end within a line. */
    limits(text: string): readonly AgentEvent[];
  };
  /** The command of the agent's own sign-in, run in a terminal; null if there is none. */
  readonly signIn: readonly string[] | null;
  /** Files whose change of time stamp proposes that a person has signed in; `~` is the home. */
  readonly credentialFiles: readonly string[];
}
