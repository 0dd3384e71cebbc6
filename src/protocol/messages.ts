import { z } from 'zod';
import type { View } from './view.js';

/** From the host to the panel. */
export type ToPanel =
  /** The whole view; one with an older `seq` than the last drawn is dropped. `serial` grows with every push of one host. */
  | { readonly type: 'view'; readonly serial: number; readonly view: View; readonly host: HostState }
  /** Turns a view option on or off, from the title bar of the view. */
  | { readonly type: 'toggle'; readonly what: 'timeline' | 'filter' | 'group' }
  /** Selects and scrolls to the next row that needs a person. */
  | { readonly type: 'revealNeedsYou' }
  /** Opens the form for a new batch. */
  | { readonly type: 'newBatch' }
  /** The answer to `why`: what was read, and the last lines of the log. Plain text. */
  | {
      readonly type: 'why';
      readonly batch: string;
      readonly child: string;
      readonly lines: readonly string[];
    };

/** What the panel must know of its surroundings. */
export interface HostState {
  /** Which welcome fits; `ready` once a batch can be launched. */
  readonly workspace: 'ready' | 'noFolder' | 'noGit' | 'untrusted';
  /** Executors that can be chosen, with whether their program was found. */
  readonly executors: readonly { readonly name: string; readonly found: boolean }[];
  /** `gone`: the supervisor has ended and is being restarted. `viewer`: another process owns the folder. */
  readonly supervisor: 'starting' | 'owner' | 'viewer' | 'gone' | 'readOnly';
  readonly writtenBy: string | null;
  readonly letterKeys: boolean;
  /** 12 or 24 hour clock of the reader; null: by locale. */
  readonly hour12: boolean | null;
  readonly locale: string;
}

const id = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/);
const child = { batch: id, child: id };

/** From the panel to the host; parsed before it is used. */
export const fromPanel = z.discriminatedUnion('type', [
  /** The panel has loaded and wants the whole view. */
  z.object({ type: z.literal('ready') }),
  /** A click on an action of a child. The host asks first where `interaction` wants a question. */
  z.object({
    type: z.literal('child'),
    action: z.enum([
      'resumeNow',
      'resumeAt',
      'dontResume',
      'resume',
      'startNext',
      'startFresh',
      'pause',
      'retry',
      'why',
      'signIn',
      'openSetting',
      'review',
      'apply',
      'giveBack',
      'showErrors',
      'check',
      'moveLeft',
      'keepLeft',
      'log',
      'worktree',
      'checkpoint',
      'restore',
      'copyReport',
      'stop',
    ]),
    targets: z.array(z.object(child)).min(1).max(2000),
  }),
  z.object({
    type: z.literal('batch'),
    action: z.enum(['pauseAll', 'resumeAll', 'stopAll', 'check', 'reviewAll', 'applyAll', 'remove']),
    batch: id,
  }),
  z.object({
    type: z.literal('gate'),
    action: z.enum([
      'resumeNow',
      'resumeAtReset',
      'resumeAt',
      'dontResume',
      'signIn',
      'tryAgain',
      'openSetting',
    ]),
    credential: z.string().max(200),
    model: z.string().max(200).optional(),
  }),
  /** Launch tasks that were typed. */
  z.object({
    type: z.literal('launch'),
    tasks: z.array(z.string().max(262_144)).min(1).max(1000),
    executor: z.string().max(200),
    isolation: z.enum(['worktree', 'shared']),
  }),
  z.object({
    type: z.literal('command'),
    command: z.enum([
      'launchFromFile',
      'demo',
      'doctor',
      'openFolder',
      'initRepository',
      'manageTrust',
      'cleanUp',
      'showProblem',
      'checkForUpdate',
    ]),
  }),
  /** Open the diff of a file of a child against its base; `inWorktree`: the file itself. */
  z.object({ type: z.literal('file'), ...child, path: z.string().max(4096), inWorktree: z.boolean() }),
  /** Open the changes of a commit. */
  z.object({ type: z.literal('tree'), ...child, tree: z.string().max(64) }),
]);

export type FromPanel = z.infer<typeof fromPanel>;
