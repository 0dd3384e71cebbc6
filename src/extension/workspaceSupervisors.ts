import type { HostState } from '../protocol/messages.js';
import type { Answer, Request } from '../protocol/request.js';
import type { View } from '../protocol/view.js';
import type { OpenSupervisor, Supervisor } from '../supervisor/api.js';
import type { Notice } from '../supervisor/core/effect.js';
import type { Log } from '../supervisor/ports.js';
import { Lifetime, Signal } from './lifetime.js';
import { emptyView, mergeViews } from './mergedView.js';
import { findTopLevels, hasSwarmFolder, writerOf } from './repositories.js';

export type Opened = Awaited<ReturnType<OpenSupervisor>>;
export type OpenError = Extract<Opened, { readonly ok: false }>;

export interface SupervisorsOptions {
  /** Folders of the workspace that are on this machine's disk. */
  readonly folders: () => readonly string[];
  readonly trusted: () => boolean;
  /** Opens the supervisor of a repository; it makes no `.swarm` before something is launched. */
  readonly open: (topLevel: string) => Promise<Opened>;
  /** A folder that was to be supervised and cannot be. */
  readonly onRefused: (refusal: OpenError, topLevel: string) => void;
  readonly log: Log;
}

/**
 * One supervisor per repository of the workspace, opened when the folder is trusted and something was launched in it
 * before, or at the first launch.
 */
export class WorkspaceSupervisors {
  /** Something that the panel or the status bar shows may have changed. */
  readonly changed = new Signal<void>();
  readonly noticed = new Signal<{ readonly notice: Notice; readonly supervisor: Supervisor }>();
  readonly #options: SupervisorsOptions;
  #repositories: readonly Repository[] = [];
  #merged: { readonly of: readonly View[]; readonly view: View } = { of: [], view: emptyView };
  #ahead = 0;
  #closed = false;
  readonly #told = new Set<string>();
  #refreshing: Promise<void> = Promise.resolve();

  constructor(options: SupervisorsOptions) {
    this.#options = options;
  }

  /** Which welcome the panel shows. */
  workspace(): HostState['workspace'] {
    if (this.#options.folders().length === 0) return 'noFolder';
    if (!this.#options.trusted()) return 'untrusted';
    return this.#repositories.length === 0 ? 'noGit' : 'ready';
  }

  /** The state that asks most of the reader, over all repositories. */
  role(): HostState['supervisor'] {
    const roles = this.#repositories.map((repository) => repository.role);
    const order = ['gone', 'readOnly', 'viewer', 'starting'] as const;
    return order.find((role) => roles.includes(role)) ?? 'owner';
  }

  topLevels(): readonly string[] {
    return this.#repositories.map((repository) => repository.topLevel);
  }

  /** The same value until one of the folders' views changes; its `seq` never goes back, also where a folder is removed. */
  view(): View {
    const views = this.#repositories.flatMap((repository) => repository.view ?? []);
    const last = this.#merged;
    if (views.length === last.of.length && views.every((view, index) => view === last.of[index]))
      return last.view;
    const view = mergeViews(views);
    this.#ahead = Math.max(this.#ahead, last.view.seq - view.seq);
    this.#merged = { of: views, view: this.#ahead <= 0 ? view : { ...view, seq: view.seq + this.#ahead } };
    return this.#merged.view;
  }

  /** Looks at the folders anew: what was added is opened if it was used before, what was removed is given up. */
  refresh(): Promise<void> {
    this.#refreshing = this.#refreshing.then(() => this.#refresh());
    return this.#refreshing;
  }

  /** The repository that holds a batch, its top level and its supervisor. */
  holder(batch: string): { readonly topLevel: string; readonly supervisor: Supervisor } | null {
    for (const { topLevel, supervisor, view } of this.#repositories)
      if (supervisor !== null && view?.batches.some((other) => other.id === batch))
        return { topLevel, supervisor };
    return null;
  }

  /** Every open supervisor, for what concerns an account and not a folder. */
  open(): readonly Supervisor[] {
    return this.#repositories.flatMap((repository) => repository.supervisor ?? []);
  }

  /** Top levels of the repositories that this window owns and that still have work. */
  unfinished(): readonly string[] {
    const has = (view: View | null): boolean =>
      view?.batches.some(({ status }) => ['queued', 'running', 'paused'].includes(status)) ?? false;
    return this.#repositories
      .filter(({ role, supervisor, view }) => supervisor !== null && role === 'owner' && has(view))
      .map(({ topLevel }) => topLevel);
  }

  /** The version that wrote a folder which can only be read. */
  writtenBy(): string | null {
    return this.#repositories.find(({ role }) => role === 'readOnly')?.writtenBy ?? null;
  }

  /** Launches in a repository and opens its supervisor first if need be. */
  async launch(topLevel: string, request: Request): Promise<Answer> {
    const repository = this.#repositories.find((other) => other.topLevel === topLevel);
    if (repository === undefined)
      return refused(3, 'This folder is not open any more.', 'Open it and try again.');
    await repository.open();
    const { supervisor, refusal } = repository;
    if (supervisor === null)
      return refused(refusal?.code ?? 3, refusal?.message ?? 'Swarm could not start.', refusal?.fix ?? '');
    const answer = await supervisor.request(request);
    // Nothing was made: another window or the command line may be the first to launch.
    if (!answer.ok && !(await hasSwarmFolder(topLevel))) await repository.release();
    return answer;
  }

  /** Gives the folders up. Agents go on. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#refreshing;
    await Promise.all(this.#repositories.map((repository) => repository.close()));
    this.#repositories = [];
  }

  /** A refusal that nobody asked for is told once. */
  #tell(refusal: OpenError, topLevel: string): void {
    const key = `${topLevel} ${refusal.message}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#options.onRefused(refusal, topLevel);
  }

  async #refresh(): Promise<void> {
    if (this.#closed) return;
    const topLevels = this.#options.trusted() ? await findTopLevels(this.#options.folders()) : [];
    const removed = this.#repositories.filter((repository) => !topLevels.includes(repository.topLevel));
    this.#repositories = topLevels.map(
      (topLevel) =>
        this.#repositories.find((repository) => repository.topLevel === topLevel) ??
        new Repository(topLevel, this.#options, {
          changed: () => this.changed.fire(),
          noticed: (notice, supervisor) => this.noticed.fire({ notice, supervisor }),
        }),
    );
    await Promise.all(removed.map((repository) => repository.close()));
    this.changed.fire();
    await Promise.all(
      this.#repositories.map(async (repository) => {
        if (!(await hasSwarmFolder(repository.topLevel))) return;
        await repository.open();
        if (repository.refusal !== null) this.#tell(repository.refusal, repository.topLevel);
      }),
    );
  }
}

/** What a repository tells its workspace. */
interface RepositoryListener {
  changed(): void;
  noticed(notice: Notice, supervisor: Supervisor): void;
}

/** One repository and its supervisor, if it has been opened. */
class Repository {
  role: HostState['supervisor'] = 'owner';
  supervisor: Supervisor | null = null;
  view: View | null = null;
  refusal: OpenError | null = null;
  writtenBy: string | null = null;
  #opening: Promise<void> | null = null;
  #life = new Lifetime();
  #closed = false;

  constructor(
    readonly topLevel: string,
    private readonly options: SupervisorsOptions,
    private readonly listener: RepositoryListener,
  ) {}

  open(): Promise<void> {
    if (this.supervisor !== null || this.#closed) return Promise.resolve();
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#opening;
    await this.release();
  }

  /** Closes the supervisor until it is needed again. */
  async release(): Promise<void> {
    const supervisor = this.supervisor;
    this.supervisor = null;
    this.view = null;
    this.#life.dispose();
    await supervisor?.close({ stopAgents: false });
  }

  async #open(): Promise<void> {
    this.#become('starting');
    let opened: Opened;
    try {
      opened = await this.options.open(this.topLevel);
    } catch (error) {
      this.options.log.error(
        `Could not open ${this.topLevel}: ${String(error instanceof Error ? error.stack : error)}`,
      );
      opened = {
        ok: false,
        code: 3,
        message: `Swarm could not start: ${String(error)}`,
        fix: 'See the output channel Swarm.',
      };
    }
    if (!opened.ok) {
      this.refusal = opened;
      this.options.log.error(`${this.topLevel}: ${opened.message} ${opened.fix}`);
      this.#become('owner');
      return;
    }
    const { supervisor } = opened;
    if (this.#closed) {
      await supervisor.close({ stopAgents: false });
      return;
    }
    this.refusal = null;
    this.writtenBy = supervisor.role === 'readOnly' ? await writerOf(this.topLevel) : null;
    this.supervisor = supervisor;
    this.#life = new Lifetime();
    this.#life.add(
      supervisor.onView((view) => {
        this.view = view;
        this.listener.changed();
      }),
    );
    this.#life.add(supervisor.onNotice((notice) => this.listener.noticed(notice, supervisor)));
    // `gone` passes: the supervisor looks for its place again by itself, and the last view stays meanwhile.
    this.#life.add(
      supervisor.onRole((role) => {
        this.#become(role);
        if (role === 'viewer') this.#takeOver(supervisor);
      }),
    );
    this.#become(supervisor.role);
    if (supervisor.role === 'viewer') this.#takeOver(supervisor);
    this.options.log.info(`${this.topLevel}: ${supervisor.role}`);
  }

  /** What supervised while no window was open gives the folder up; another window or a person's command does not. */
  #takeOver(supervisor: Supervisor): void {
    supervisor.request({ type: 'handOver' }).catch((error: unknown) => {
      this.options.log.warn(`${this.topLevel}: ${String(error)}`);
    });
  }

  #become(role: HostState['supervisor']): void {
    this.role = role;
    this.listener.changed();
  }
}

function refused(code: 1 | 2 | 3, message: string, fix: string): Answer {
  return { ok: false, code, errors: [{ line: null, message, fix }] };
}
