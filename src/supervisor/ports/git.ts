/**
 * What the supervisor needs of git. Every operation may run twice with no harm: it looks first at what is there.
 * Expected failure is a value; a thrown error is a bug or the machine's (no space, no permission), with its `code`.
 */
export interface Git {
  /** What the repository around `folder` is, or why it cannot be used. Writes nothing. */
  inspect(folder: string): Promise<Repository | Refusal>;
  /** Whether this path of the tree, or something below it, belongs to the repository: it came with it. */
  tracks(repository: Repository, path: string): Promise<boolean>;

  /** Why worktrees of it would not hold its files, before anything is launched; null: nothing is in the way. */
  launchProblem(repository: Repository, options: { readonly setup: boolean }): Promise<Refusal | null>;

  /** The commit that a batch starts from: HEAD, or a commit of HEAD plus the user's uncommitted changes under `ref`. */
  baseCommit(
    repository: Repository,
    options: { readonly uncommitted: boolean; readonly ref: string },
  ): Promise<string>;

  /**
   * A child's worktree, made or found again: detached at `base`, locked, never inside the repository.
   * Its linked or copied inputs are listed, so that no snapshot takes them in.
   */
  ensureWorktree(repository: Repository, request: WorktreeRequest): Promise<Worktree | Refusal>;

  /** Whether the worktree is still there and still ours. */
  worktreeState(repository: Repository, path: string): Promise<'present' | 'missing' | 'foreign'>;

  /** Puts a missing worktree back: its base, then the files of its last snapshot. */
  restoreWorktree(
    repository: Repository,
    request: WorktreeRequest,
    snapshot: string | null,
  ): Promise<Worktree | Refusal>;

  /**
   * A commit of everything that differs between the worktree and `base`, under `ref`, verified and synced.
   * Null where nothing differs from `previous` (or from base). HEAD, index, stash and status stay as they are.
   */
  snapshot(request: SnapshotRequest): Promise<Snapshot | null>;

  /** What differs between base and the worktree as it is now. */
  changes(worktree: Worktree): Promise<readonly Change[]>;
  /** What differs between two commits. */
  changesBetween(repository: Repository, from: string, to: string): Promise<readonly Change[]>;
  /** A unified diff between two commits, for people. */
  diff(repository: Repository, from: string, to: string): Promise<string>;
  /** A file's bytes at a commit; null where it does not exist. */
  fileAt(repository: Repository, commit: string, path: string): Promise<Uint8Array | null>;

  /** Is another after any edit in the user's tree, and after HEAD has moved. One call of git. */
  treeMark(repository: Repository): Promise<string>;
  /** Would these children's snapshots merge into the user's tree (HEAD + uncommitted) and with each other? Writes no ref. */
  forecast(repository: Repository, children: readonly ChildWork[]): Promise<readonly Forecast[]>;

  /**
   * Brings finished children into the user's tree: merged one after the other on a scratch tree, checked there,
   * and only then written to the user's tree; all or nothing per child. What conflicts or makes the check red stays out.
   */
  apply(repository: Repository, request: ApplyRequest): Promise<ApplyOutcome>;
  /**
   * Ends an apply whose plan was noted but whose end was not: writes what is not written yet. Paths that somebody
   * changed since are left and named. Does nothing where all is done.
   */
  finishApply(
    repository: Repository,
    plan: ApplyPlan,
  ): Promise<{ readonly written: readonly string[]; readonly left: readonly string[] }>;

  /** Runs the check on the user's tree as it is, or on a scratch tree of base + children. */
  check(repository: Repository, request: CheckRequest): Promise<CheckOutcome>;

  /** Bytes on disk of a worktree, linked inputs not counted. */
  diskUse(path: string): Promise<number>;
  /** Removes a worktree whose edits are in `snapshot` (compared first), else refuses and says what is unsaved. */
  removeWorktree(
    repository: Repository,
    worktree: Worktree,
    snapshot: string | null,
  ): Promise<{ readonly ok: true } | Refusal>;
  /** Removes refs of a batch. */
  removeRefs(repository: Repository, prefix: string): Promise<void>;
  /**
   * Removes lock files that a killed git has left in places that are ours alone, and its marks on packs of ours; waits
   * for one that lives.
   */
  clearStaleLocks(repository: Repository): Promise<readonly string[]>;
  /** The same files, without touching them. */
  staleLocks(repository: Repository): Promise<readonly string[]>;
  /** Worktrees under our folder that no known batch names, and stale scratch trees. */
  leftovers(
    repository: Repository,
    known: readonly string[],
  ): Promise<readonly { readonly path: string; readonly bytes: number; readonly unsaved: boolean }[]>;
  /** Removes one of these, unless something in it is saved nowhere. */
  removeLeftover(repository: Repository, folder: string): Promise<{ readonly ok: true } | Refusal>;
}

export interface Repository {
  readonly ok: true;
  /** Absolute, real path of the user's tree (may itself be a worktree). */
  readonly topLevel: string;
  /** Shared git directory. */
  readonly commonDir: string;
  readonly gitDir: string;
  readonly head: string;
  readonly objectFormat: 'sha1' | 'sha256';
  readonly gitVersion: string;
  readonly sparse: boolean;
  readonly submodules: readonly string[];
  /** LFS or another required filter is used. */
  readonly filters: readonly string[];
  /** A merge, rebase, cherry-pick, ... that is under way in the user's tree. */
  readonly midOperation: string | null;
}

/** Why something was not done, in words for people: what is, and what to do. */
export interface Refusal {
  readonly ok: false;
  readonly code:
    | 'gitMissing'
    | 'gitTooOld'
    | 'noRepository'
    | 'bareRepository'
    | 'noCommit'
    | 'noSpace'
    | 'readOnly'
    | 'pathTaken'
    | 'pathTooLong'
    | 'unsaved'
    | 'filterMissing'
    | 'submodules'
    | 'midOperation'
    | 'setupFailed'
    | 'other';
  readonly message: string;
  readonly fix: string;
}

export interface WorktreeRequest {
  /** Absolute; beside the repository. */
  readonly path: string;
  readonly base: string;
  /** Globs of the files the task needs: a sparse checkout; null for all. */
  readonly files: readonly string[] | null;
  readonly link: 'link' | 'copy' | 'none';
  /** A command run once in the new worktree, e.g. `npm ci`; empty for none. */
  readonly setup: readonly string[];
  /** Absolute path of a file that gets the output of checkout and setup. */
  readonly logFile: string;
}

export interface Worktree {
  readonly ok: true;
  readonly path: string;
  readonly base: string;
  /** Paths (relative, with `/`) that were linked or copied in and belong to nobody's work. */
  readonly inputs: readonly string[];
}

export interface SnapshotRequest {
  readonly repository: Repository;
  readonly worktree: Worktree;
  /** `refs/swarm/<batch>/<child>/<n>`. */
  readonly ref: string;
  readonly message: string;
  /** The last snapshot's commit, or null. */
  readonly previous: string | null;
  /**
   * Told of what could not be taken in, also where nothing else changed: clones of other repositories inside the
   * worktree, unreadable files. It stays in the worktree.
   */
  readonly onSkipped?: (skipped: readonly Skipped[]) => void;
}

export interface Snapshot {
  readonly ref: string;
  readonly commit: string;
  readonly tree: string;
  readonly changes: readonly Change[];
}

export interface Skipped {
  readonly path: string;
  readonly reason: string;
}

export interface Change {
  readonly path: string;
  readonly kind: 'M' | 'A' | 'D';
  /** Null for binary files. */
  readonly added: number | null;
  readonly removed: number | null;
}

/** A child's work as commits: what it started from and its last snapshot. */
export interface ChildWork {
  readonly id: string;
  readonly base: string;
  readonly commit: string;
}

export interface Forecast {
  readonly id: string;
  readonly clean: boolean;
  /** `you` is the user's tree, else another child as it was named. */
  readonly conflicts: readonly { readonly who: string; readonly path: string }[];
}

export interface CheckCommand {
  /** Program and arguments; never a shell line. */
  readonly command: readonly string[];
  /** Folder relative to the top level. */
  readonly folder: string;
}

export interface ApplyRequest {
  /** In the wanted order; the one that merges cleanest is taken. */
  readonly children: readonly ChildWork[];
  readonly check: CheckCommand | null;
  readonly mode: 'uncommitted' | 'commit' | 'branch';
  /** Branch name for `branch`; commit subject for `commit`. */
  readonly label: string;
  /** Absolute folder for the scratch tree, kept warm between calls. */
  readonly scratch: string;
  /** Called before the user's tree is touched, with what will be written; resolves when that is durably noted. */
  readonly beforeWrite: (plan: ApplyPlan) => Promise<void>;
}

/** What an apply is about to do to the user's tree, so that a crash in the middle can be mended. */
export interface ApplyPlan {
  readonly children: readonly string[];
  /** Tree before and after, with `HEAD` and the user's changes in it. */
  readonly from: string;
  readonly to: string;
  readonly paths: readonly string[];
  /** Where HEAD goes from and to, in the mode `commit`. */
  readonly commit?: { readonly from: string; readonly to: string };
}

export interface ApplyOutcome {
  readonly applied: readonly string[];
  readonly conflicts: readonly {
    readonly id: string;
    readonly with: readonly { readonly who: string; readonly path: string }[];
  }[];
  /** Children whose work makes the check red, with the tree on which it was. */
  readonly red: readonly {
    readonly id: string;
    readonly errors: number;
    readonly output: string;
    readonly tree: string;
  }[];
  readonly check: CheckOutcome | null;
  readonly refusal: Refusal | null;
}

export interface CheckRequest {
  readonly check: CheckCommand;
  /** `tree`: the user's tree as it is. `scratch`: base + these children, in the scratch folder. */
  readonly on:
    | { readonly kind: 'tree' }
    | { readonly kind: 'scratch'; readonly folder: string; readonly children: readonly ChildWork[] };
  /** Gets the output as it comes; null to collect only. */
  readonly onOutput: ((stream: 'stdout' | 'stderr', chunk: Uint8Array) => void) | null;
}

export interface CheckOutcome {
  readonly exitCode: number;
  /** Bounded tail of the output. */
  readonly output: string;
  readonly tree: string;
  readonly errors: readonly {
    readonly path: string;
    readonly line: number;
    readonly column: number;
    readonly message: string;
  }[];
  readonly milliseconds: number;
  /** Why the check could not run at all; its exit code is then 125. */
  readonly notRun?: string;
}
