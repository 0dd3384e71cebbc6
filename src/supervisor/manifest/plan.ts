import type { Executor } from '../agents/agent.js';
import type { Policy } from '../core/state.js';

/** A batch as it will be launched: everything merged, filled in and checked. Durations in ms. */
export interface Plan {
  readonly name: string;
  readonly isolation: 'worktree' | 'shared';
  readonly maxConcurrent: number;
  readonly maxTotalSpawned: number;
  /** Put before each first prompt; empty for none. */
  readonly context: string;
  /** Program and arguments; null: none named. */
  readonly check: readonly string[] | null;
  readonly timeout: { readonly idle: number; readonly total: number | null };
  readonly policy: Policy;
  readonly tasks: readonly PlannedTask[];
  /** Every executor that a task names, merged. */
  readonly executors: Readonly<Record<string, Executor>>;
  /** Absolute path of the manifest file, for values that are not stored; null where there is none. */
  readonly source: string | null;
}

export interface PlannedTask {
  readonly id: string;
  readonly title: string;
  readonly prompt: string;
  /** Names of executors in order of preference; never empty. */
  readonly chain: readonly string[];
  /** Globs of the files it needs; null: all. */
  readonly files: readonly string[] | null;
  readonly check: readonly string[] | null;
  readonly timeout: { readonly idle: number; readonly total: number | null };
}

/** A program that the input itself names, so that a person can see it before it runs. */
export interface NamedProgram {
  /** What it is for: `executor NAME` or `check`. */
  readonly use: string;
  readonly command: readonly string[];
  /** The executor asks for the agent's bypass of all its permissions. */
  readonly full: boolean;
}

export const idPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
export const longestPrompt = 256 * 1024;

/** A title for a task that names none: the first line of its prompt, shortened. */
export function titleOf(prompt: string, longest = 80): string {
  const line =
    prompt
      .split('\n')
      .find((text) => text.trim() !== '')
      ?.trim() ?? '';
  const characters = [...line];
  return characters.length <= longest ? line : `${characters.slice(0, longest - 1).join('')}…`;
}
