import type { CheckCommand, CheckOutcome, CheckRequest, Refusal, Worktree, WorktreeRequest } from './git.js';

/**
 * One tree in which several children and a person work at once: who wrote what, and how a child's half-written
 * edits get out of it. Made for one repository; call `close` at the end.
 */
export interface SharedTree {
  /**
   * Begins to watch. What changed since the last run of the supervisor is put down to `running`, the children that
   * were at work then; to nobody where there were none. What plans without a noted end have restored is nobody's.
   */
  start(running: readonly Writer[], unfinished?: readonly QuarantinePlan[]): Promise<readonly LedgerLine[]>;
  /** The last lines that were handed out, also by a run that may have died before it could keep them. */
  recent(): readonly LedgerLine[];
  /** A tool of the child is about to write the path: what changed until now was not it. */
  writing(writer: Writer, path: string, heard?: () => Heard): Promise<readonly LedgerLine[]>;
  /** A tool of the child has written the path (relative to the top, with `/`). */
  wrote(writer: Writer, path: string): Promise<readonly LedgerLine[]>;
  /** A command of the child begins; what changes until its end is the child's, if nobody else has one open. */
  shellStarted(writer: Writer): Promise<readonly LedgerLine[]>;
  shellEnded(writer: Writer): Promise<readonly LedgerLine[]>;
  /** Looks now: what has changed is put down to whoever was at work then, as far as we have heard. */
  look(heard: () => Heard): Promise<readonly LedgerLine[]>;

  /** Runs something of ours that writes to the tree, e.g. an apply: nobody's edit. The lines are from before it. */
  ourWrite<Result>(
    act: () => Promise<Result>,
    heard?: () => Heard,
  ): Promise<{ readonly result: Result; readonly lines: readonly LedgerLine[] }>;

  /**
   * Takes the child's edits out of the tree and into its own worktree. Paths that cannot be told apart from others'
   * work stay and are named. End the child's open shell calls first, so that the ledger is whole. Every step is noted before the next begins; `repair` ends what a crash cut.
   */
  quarantine(request: QuarantineRequest): Promise<QuarantineOutcome>;
  /** The same in two parts: when it resolves the tree is free of the edits, and `give` brings them into the worktree. */
  takeOut(request: QuarantineRequest): Promise<TakenOut>;
  /** Ends a noted plan: compares bytes, does what is not done, leaves what somebody changed since. */
  repair(plan: QuarantinePlan): Promise<QuarantineOutcome>;
  /** Puts a quarantined child's edits back into the tree (a person's wish); overlaps stay out and are named. */
  giveBack(plan: QuarantinePlan): Promise<GivenBack>;

  /** The tree as it is, without the edits of `half`: what a check of one child may see while others are at work. */
  compositeTree(
    half: readonly ChildEdits[],
    others: readonly ChildEdits[],
  ): Promise<{ readonly tree: string; readonly left: readonly LeftPath[] }>;
  /** Runs the check on the composite tree, in the scratch folder. */
  checkComposite(request: CompositeCheck): Promise<CheckOutcome & { readonly left: readonly LeftPath[] }>;

  /**
   * Where a check may run so that it sees nobody's half-written files: on the tree itself where there are none, else
   * on a composite tree in a scratch folder, which is the caller's until its `user` is gone.
   */
  placeCheck(request: PlaceRequest): Promise<CheckSpot | Refusal>;

  close(): Promise<void>;
}

export interface Writer {
  readonly child: string;
  readonly attempt: number;
  /** The tool's name, e.g. `Edit` or `shell`. */
  readonly tool: string;
  /** What a shell was told; a file that only one of several commands names is that one's. */
  readonly command?: string;
}

/** What has been heard of those who work in the tree; asked after a look, so that nothing is missing. */
export interface Heard {
  /** Whose commands may have been at work at that time (epoch ms; null: it is not known when the path was changed). */
  writersAt(time: number | null, path: string): readonly Writer[];
  /** Whose tool has said that it writes the path, unless it was changed long before. */
  claimAt(time: number | null, path: string): Writer | null;
  /** What was changed just now and nobody's command names may be left for the next look: its writer is perhaps not heard yet. */
  readonly mayWait: boolean;
}

export interface PlaceRequest {
  /** The scratch folder; one beside it is taken while it is in use. */
  readonly folder: string;
  readonly half: readonly ChildEdits[];
  readonly others: readonly ChildEdits[];
  /** Who works in it: a process, or a file that is there as long as it is needed. */
  readonly user: { readonly pid: number } | { readonly file: string };
}

/** `folder`, `tree`: null where the check runs on the tree itself. */
export interface CheckSpot {
  readonly ok: true;
  readonly folder: string | null;
  readonly tree: string | null;
  readonly left: readonly LeftPath[];
}

/** What is at a path: git's mode (`100644`, `100755`, `120000`) and the id of the bytes as they are on disk. */
export interface Entry {
  readonly mode: string;
  readonly id: string;
}

/** One line of `edits.jsonl`. */
export interface Edit {
  readonly path: string;
  /** Blob ids of the bytes on disk; null: not there. */
  readonly before: string | null;
  readonly after: string | null;
  readonly beforeMode: string | null;
  readonly afterMode: string | null;
  readonly tool: string;
  readonly attempt: number;
  readonly at: number;
  /** `exact`: a tool named the path. `exclusive`: only this child's command was open. `ambiguous`: others' were too. */
  readonly confidence: 'exact' | 'exclusive' | 'ambiguous';
  /** Who else may have written it. */
  readonly others: readonly string[];
}

/** An edit and whose it is; `you` where no child wrote it. */
export interface LedgerLine {
  readonly child: string;
  readonly edit: Edit;
}

export interface ChildEdits {
  readonly child: string;
  readonly edits: readonly Edit[];
}

export interface QuarantineRequest extends ChildEdits {
  /** Where the child's own worktree is, or will be made. */
  readonly worktree: WorktreeRequest;
  /** A ref of the capture's own, e.g. `refs/swarm/<batch>/<child>/q1`. */
  readonly ref: string;
  readonly others: readonly ChildEdits[];
  /** Paths to move as they are, with what others wrote into them: a person wants it so. */
  readonly whole?: readonly string[];
  /** Resolves when the step is durably noted. */
  readonly noteStep: (step: QuarantineStep) => Promise<void>;
}

export type QuarantineStep =
  /** Nothing is done yet; the plan says what will be. */
  | { readonly step: 'intent'; readonly plan: QuarantinePlan }
  /** The child's files are in a commit under the plan's ref, verified and on disk. */
  | { readonly step: 'captured'; readonly commit: string }
  /** The tree is without them. */
  | { readonly step: 'restored'; readonly moved: readonly string[] }
  /** The child's worktree has them. */
  | { readonly step: 'given' };

export interface QuarantinePlan {
  readonly child: string;
  readonly ref: string;
  readonly worktree: WorktreeRequest;
  readonly moves: readonly Move[];
  readonly left: readonly LeftPath[];
}

/** One path of a quarantine. Null: no file there. */
export interface Move {
  readonly path: string;
  /** In the tree, when the plan was made. */
  readonly found: Entry | null;
  /** In the tree, without the child's edits. */
  readonly restored: Entry | null;
  /** In the child's worktree, before and with its edits. */
  readonly base: Entry | null;
  readonly own: Entry | null;
}

/** A path that stayed in the tree. */
export interface LeftPath {
  readonly path: string;
  /** Whose work it cannot be told from; `you` for a person's. */
  readonly who: readonly string[];
  readonly why: 'overlap' | 'ambiguous' | 'changed';
}

export interface QuarantineOutcome {
  readonly moved: readonly string[];
  readonly left: readonly LeftPath[];
  /** The capture; null where there was nothing to move. */
  readonly commit: string | null;
  /** The child's worktree, or why it could not be made (its work is then safe in the commit). */
  readonly worktree: Worktree | Refusal | null;
  /** Lines for the child's ledger: with these, its moved edits are no longer in the tree. */
  readonly lines: readonly Edit[];
}

export interface TakenOut extends Omit<QuarantineOutcome, 'worktree'> {
  readonly give: () => Promise<QuarantineOutcome['worktree']>;
}

export interface GivenBack {
  readonly moved: readonly string[];
  readonly left: readonly LeftPath[];
  /** Lines for the child's ledger: its edits are in the tree again. */
  readonly lines: readonly Edit[];
}

export interface CompositeCheck {
  readonly check: CheckCommand;
  readonly folder: string;
  readonly half: readonly ChildEdits[];
  readonly others: readonly ChildEdits[];
  readonly onOutput: CheckRequest['onOutput'];
}
