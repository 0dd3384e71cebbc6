import type { HelperName } from '../agents/agent.js';
import type { OwnProgram, UserSettings } from '../api.js';
import type { Notice } from '../core/effect.js';
import type { Event } from '../core/event.js';
import type { ChildKey, State } from '../core/state.js';
import type { Plan, PlannedTask } from '../manifest/plan.js';
import type { Clock, Disposable, Git, Log, Processes, Repository, Store } from '../ports.js';
import type { FileState } from '../research/research.js';
import type { RuleSet } from '../verdict/rules/rule.js';
import type { Attempt } from './attempt.js';
import type { Forecasts } from './forecasts.js';
import type { SharedWork } from './shared.js';
import type { Turns } from './turns.js';

/** What effects need, and the little they remember between each other: never the machine's state. */
export interface EffectContext {
  readonly store: Store;
  readonly git: Git;
  readonly processes: Processes;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: UserSettings;
  /** The person's own rules for messages. */
  readonly rules: RuleSet;
  /** How `swarm` itself is run; null where that is not known. */
  readonly ownProgram: OwnProgram | null;
  readonly helpers: Readonly<Record<HelperName, OwnProgram>> | null;
  /** The environment before it is cleaned. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly random: (bytes: number) => string;
  readonly repository: Repository;
  /** The machine's last journaled state. */
  readonly state: () => State;
  /** Hands an event to the loop. Nothing happens any more when this owner may not act. */
  readonly post: (event: Event) => void;
  /** As `post`; resolves when the event is in the journal, and false if it never will be. */
  readonly postDurably: (event: Event) => Promise<boolean>;
  /** False from the moment that this owner gave the folder up or was superseded. Asked after every wait. */
  readonly mayAct: () => boolean;
  /** Keeps a piece of work until it ends, and logs what it throws. */
  readonly track: (name: string, work: Promise<unknown>) => void;
  /** The same for work that lasts as long as a child runs. */
  readonly watch: (name: string, work: Promise<unknown>) => void;
  readonly notice: (notice: Notice) => void;
  /** A write has failed for want of space: everything pauses. */
  readonly diskFilled: () => void;
  /** A file of a child as it is now; null where it cannot be read. */
  readonly fileState: (folder: string, name: string) => Promise<FileState | null>;
  /** The end of a text file outside `.swarm`; null where there is none. */
  readonly readText: (file: string) => Promise<string | null>;
  /** A file outside `.swarm`, by its path; null where there is none. */
  readonly findFile: (folder: string, matches: (file: string) => boolean) => Promise<string | null>;

  /** The plan of a batch, from memory or its batch.json; null where it cannot be read. */
  readonly plan: (batch: string) => Promise<Plan | null>;
  /** The user's tree, where children work in it together. */
  readonly shared: SharedWork;
  readonly forecasts: Forecasts;

  readonly attempts: Map<ChildKey, Attempt>;
  readonly timers: Map<string, Disposable>;
  /** One piece of work at a time per key. */
  readonly turns: Turns;
  readonly notified: Set<string>;
}

/** A child's planned task with its plan. */
export async function plannedTask(
  context: EffectContext,
  key: ChildKey,
): Promise<{ readonly plan: Plan; readonly task: PlannedTask } | null> {
  const child = context.state().children[key];
  if (child === undefined) return null;
  const plan = await context.plan(child.batch);
  const task = plan?.tasks.find((candidate) => candidate.id === child.task.id);
  return plan === null || task === undefined ? null : { plan, task };
}

/** Whether the error of a file operation means that nothing can be written. */
export function isDiskError(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  const kind = typeof error === 'object' && error !== null && 'kind' in error ? error.kind : null;
  return kind === 'disk' || code === 'ENOSPC' || code === 'EDQUOT' || code === 'EIO' || code === 'EROFS';
}

/** Whether nothing can be written: as the error says, or as a trial says, since git does not always tell why it failed. */
export async function isDiskFailing(
  { store }: { readonly store: Pick<Store, 'probe'> },
  error: unknown,
): Promise<boolean> {
  return isDiskError(error) || !(await store.probe().catch(() => false));
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What is, and what to do about it, as one text. */
export function sentences({ message, fix }: { readonly message: string; readonly fix: string }): string {
  return /[.!?…]$/.test(message) ? `${message} ${fix}` : `${message}. ${fix}`;
}
