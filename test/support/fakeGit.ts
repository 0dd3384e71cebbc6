import type {
  ApplyOutcome,
  ApplyRequest,
  ChildWork,
  Forecast,
  Git,
  Repository,
  Refusal,
  Snapshot,
  SnapshotRequest,
  Worktree,
  WorktreeRequest,
} from '../../src/supervisor/ports.js';

/** Git that remembers what was asked of it; files do not exist. A worktree has edits when a test says so. */
export class FakeGit implements Git {
  refusal: Refusal | null = null;
  head = 'a'.repeat(40);
  readonly worktrees = new Map<string, Worktree>();
  /** Number of edits per worktree path; a change of it makes a new snapshot. */
  readonly edits = new Map<string, number>();
  private readonly captured = new Map<string, number>();
  readonly refs = new Map<string, string>();
  /** Ids of children in the order in which they reached the user's tree. */
  readonly applied: string[] = [];
  readonly finished: (readonly string[])[] = [];
  /** Ids that conflict with the user's tree. */
  readonly conflicting = new Set<string>();
  /** Thrown once by the next apply after its plan was noted. */
  failAfterNote: Error | null = null;
  /** The user's tree as one text, and how often it was looked at. */
  mark = 'as it was';
  looks = 0;
  /** Who was compared, each time; and what a forecast finds, by child. */
  readonly forecasts: (readonly string[])[] = [];
  readonly overlaps = new Map<string, Forecast['conflicts']>();
  private commits = 0;

  inspect(): Promise<Repository | Refusal> {
    return Promise.resolve(
      this.refusal ?? {
        ok: true,
        topLevel: '/repo',
        commonDir: '/repo/.git',
        gitDir: '/repo/.git',
        head: this.head,
        objectFormat: 'sha1',
        gitVersion: '2.45.0',
        sparse: false,
        submodules: [],
        filters: [],
        midOperation: null,
      },
    );
  }

  tracks(): Promise<boolean> {
    return Promise.resolve(false);
  }

  launchProblem(): Promise<null> {
    return Promise.resolve(null);
  }

  baseCommit(): Promise<string> {
    return Promise.resolve(this.head);
  }

  ensureWorktree(_: Repository, request: WorktreeRequest): Promise<Worktree | Refusal> {
    const made = this.worktrees.get(request.path) ?? {
      ok: true,
      path: request.path,
      base: request.base,
      inputs: [],
    };
    this.worktrees.set(request.path, made);
    return Promise.resolve(made);
  }

  worktreeState(_: Repository, path: string): Promise<'present' | 'missing' | 'foreign'> {
    return Promise.resolve(this.worktrees.has(path) ? 'present' : 'missing');
  }

  restoreWorktree(repository: Repository, request: WorktreeRequest): Promise<Worktree | Refusal> {
    return this.ensureWorktree(repository, request);
  }

  snapshot(request: SnapshotRequest): Promise<Snapshot | null> {
    const { path } = request.worktree;
    const edits = this.edits.get(path) ?? 0;
    const known = this.refs.get(request.ref);
    if (known !== undefined)
      return Promise.resolve({ ref: request.ref, commit: known, tree: known, changes: [] });
    if (edits === (this.captured.get(path) ?? 0)) return Promise.resolve(null);
    this.captured.set(path, edits);
    const commit = (++this.commits).toString(16).padStart(40, '0');
    this.refs.set(request.ref, commit);
    return Promise.resolve({ ref: request.ref, commit, tree: commit, changes: [] });
  }

  changes = () => Promise.resolve([]);
  changesBetween = () => Promise.resolve([]);
  diff = () => Promise.resolve('');
  fileAt = () => Promise.resolve(null);

  treeMark(): Promise<string> {
    this.looks += 1;
    return Promise.resolve(this.mark);
  }

  forecast(_: Repository, children: readonly ChildWork[]): Promise<readonly Forecast[]> {
    this.forecasts.push(children.map(({ id }) => id));
    return Promise.resolve(
      children.map(({ id }) => {
        const conflicts = this.overlaps.get(id) ?? [];
        return { id, clean: conflicts.length === 0, conflicts };
      }),
    );
  }

  async apply(_: Repository, request: ApplyRequest): Promise<ApplyOutcome> {
    const merging = request.children.filter(({ id }) => !this.conflicting.has(id));
    const conflicts = request.children
      .filter(({ id }) => this.conflicting.has(id))
      .map(({ id }) => ({ id, with: [{ who: 'you', path: 'README.md' }] }));
    const applied = merging.map(({ id }) => id);
    if (applied.length > 0) {
      await request.beforeWrite({ children: applied, from: 'from', to: 'to', paths: ['x'] });
      const failure = this.failAfterNote;
      this.failAfterNote = null;
      if (failure !== null) throw failure;
      this.applied.push(...applied);
    }
    return { applied, conflicts, red: [], check: null, refusal: null };
  }

  finishApply: Git['finishApply'] = (_, plan) => {
    this.finished.push(plan.children);
    this.applied.push(...plan.children.filter((id) => !this.applied.includes(id)));
    return Promise.resolve({ written: plan.paths, left: [] });
  };

  check: Git['check'] = () =>
    Promise.resolve({ exitCode: 0, output: '', tree: 'tree', errors: [], milliseconds: 1 });

  diskUse = () => Promise.resolve(1000);

  removeWorktree: Git['removeWorktree'] = (_, worktree) => {
    this.worktrees.delete(worktree.path);
    return Promise.resolve({ ok: true });
  };

  staleLocks(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  clearStaleLocks(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  removeRefs(_: Repository, prefix: string): Promise<void> {
    for (const ref of this.refs.keys()) if (ref.startsWith(prefix)) this.refs.delete(ref);
    return Promise.resolve();
  }

  leftovers = () => Promise.resolve([]);
  removeLeftover: Git['removeLeftover'] = () => Promise.resolve({ ok: true });
}
