import { z } from 'zod';

const id = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/);
const target = z.object({ batch: id, child: id });

/**
 * What a person can ask of the owner, from the panel, the palette or the command line: one path for all three.
 * A viewer sends it over the local socket; the owner parses it with this schema.
 */
export const request = z.discriminatedUnion('type', [
  /** `manifest`: the text of a manifest file, or of typed tasks. Answered with the batch's id, or with every error. */
  z.object({
    type: z.literal('launch'),
    manifest: z.object({
      kind: z.enum(['yaml', 'json', 'markdown', 'tasks']),
      text: z.string().max(64 * 1024 * 1024),
      /** For messages; a base name. */
      name: z.string().max(500),
      /** Absolute path of the file it was read from: values of its executors' `env` are never stored, so that after a restart they are read from there again. */
      path: z.string().max(4096).optional(),
    }),
    executor: z.string().max(200).optional(),
    maxConcurrent: z.number().int().min(1).max(1000).optional(),
    isolation: z.enum(['worktree', 'shared']).optional(),
    /** A person has seen the manifest's own programs. */
    consent: z.boolean(),
  }),
  z.object({ type: z.literal('resume'), targets: z.array(target).min(1), how: z.enum(['auto', 'brief']) }),
  z.object({ type: z.literal('resumeAt'), targets: z.array(target).min(1), at: z.number() }),
  z.object({ type: z.literal('dontResume'), targets: z.array(target).min(1) }),
  z.object({ type: z.literal('pause'), targets: z.array(target).min(1) }),
  z.object({ type: z.literal('stop'), targets: z.array(target).min(1) }),
  z.object({
    type: z.literal('retry'),
    targets: z.array(target).min(1),
    prompt: z.string().max(262_144).nullable(),
  }),
  z.object({ type: z.literal('startNext'), targets: z.array(target).min(1) }),
  z.object({
    type: z.literal('gate'),
    credential: z.string(),
    model: z.string().optional(),
    answer: z.union([z.enum(['resumeNow', 'resumeAtReset', 'decline']), z.object({ at: z.number() })]),
  }),
  z.object({ type: z.literal('apply'), targets: z.array(target).min(1) }),
  z.object({ type: z.literal('check'), batch: id }),
  /** Takes what is half-written out of the way of a check that the process `pid` is about to run. Answered with `place`. */
  z.object({ type: z.literal('placeCheck'), pid: z.number().int().positive() }),
  /** What came of it, for the panel. `errors`: the path of each. */
  z.object({
    type: z.literal('checkEnded'),
    command: z.string().max(10_000),
    exitCode: z.number().int(),
    tree: z.string().max(100),
    errors: z.array(z.string().max(4096)).max(1000),
  }),
  z.object({ type: z.literal('restore'), target }),
  /** Sends the errors of a red check, or the conflict, to the child as its next task. */
  z.object({ type: z.literal('giveBack'), target }),
  /** What a quarantine left because several had written it: moved as it is, or kept in the tree. */
  z.object({
    type: z.literal('settleLeft'),
    targets: z.array(target).min(1),
    how: z.enum(['move', 'keep']),
  }),
  z.object({ type: z.literal('removeBatch'), batch: id }),
  /** Removes worktrees whose work is applied or saved. `dry`: only say what would go. */
  z.object({ type: z.literal('clean'), dry: z.boolean() }),
  z.object({ type: z.literal('settings'), maxConcurrent: z.number().int().min(1).max(1000) }),
  /** The owner gives the folder up so that the asker can take over; its agents go on. */
  z.object({ type: z.literal('handOver') }),
]);

export type Request = z.infer<typeof request>;

/** Where a check runs so that nobody's half-written files are in its way, and whose work is where. */
export interface CheckPlace {
  /** Top of the tree to run in; null: the user's own. */
  readonly folder: string | null;
  readonly tree: string | null;
  readonly children: readonly CheckedChild[];
  /** Files that could not be told apart and stay in. */
  readonly left: readonly { readonly path: string; readonly who: readonly string[] }[];
}

/** A child with edits. `tree`: they are in what is checked; `held`: kept out of it; `own`: in its own worktree. */
export interface CheckedChild {
  readonly id: string;
  readonly title: string;
  readonly phase: string;
  readonly where: 'tree' | 'held' | 'own';
  readonly files: readonly string[];
}

export interface InputError {
  /** 1-based line of the input, where it is known. */
  readonly line: number | null;
  readonly message: string;
  /** What to write or do instead. */
  readonly fix: string;
}

/** `code` is the exit code of the command line for this kind of refusal. */
export type Answer =
  | {
      readonly ok: true;
      readonly batch?: string;
      /** What a person should know of what was done, a sentence each. */
      readonly notes?: readonly string[];
      readonly text?: string;
      readonly place?: CheckPlace;
      readonly removed?: readonly { readonly path: string; readonly bytes: number }[];
      readonly kept?: readonly { readonly path: string; readonly why: string }[];
    }
  | { readonly ok: false; readonly code: 1 | 2 | 3; readonly errors: readonly InputError[] };
