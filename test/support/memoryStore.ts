import type { Problem, View } from '../../src/protocol/view.js';
import { type Stamped } from '../../src/supervisor/core/event.js';
import type { Owner, State } from '../../src/supervisor/core/state.js';
import type { Connection, Disposable, OpenedStore, Store } from '../../src/supervisor/ports.js';
import { StoreError } from '../../src/supervisor/ports.js';

/**
 * A `.swarm` that lives in memory and outlives its owners: `open` gives the first comer the store and later ones a
 * connection to it; `crash` takes the owner away as SIGKILL would.
 */
export class MemoryDisk {
  readonly journal: Stamped[] = [];
  readonly files = new Map<string, string>();
  state: State | null = null;
  view: View | null = null;
  problems: Problem[] = [];
  /** No write succeeds while this is set. */
  full = false;
  /** The n-th next append fails with a disk error, once; 0: none. */
  failAppendIn = 0;
  /** How many events at the end are not synced yet; a crash with `loseUnsynced` forgets them. */
  private unsynced = 0;
  private epoch = 0;
  private current: MemoryStore | null = null;

  constructor(readonly folder = '/repo/.swarm') {}

  readonly openStore = (swarmFolder: string, options: { readonly create: boolean }): Promise<OpenedStore> => {
    void swarmFolder;
    void options;
    return Promise.resolve(this.open());
  };

  open(pid = 4000 + this.epoch): OpenedStore {
    if (this.current !== null) return { kind: 'viewer', connection: this.current.connect() };
    this.epoch += 1;
    const after = this.state?.seq ?? 0;
    const store = new MemoryStore(
      this,
      { pid, epoch: this.epoch, host: 'test' },
      {
        state: this.state,
        events: this.journal.filter((stamped) => stamped.seq > after),
        problems: this.problems,
        lastSeq: Math.max(after, this.journal.at(-1)?.seq ?? 0),
      },
    );
    this.current = store;
    return { kind: 'owner', store };
  }

  /** The owner is gone without a word. Its object rejects every further write. */
  crash(options: { readonly loseUnsynced: boolean } = { loseUnsynced: false }): void {
    if (options.loseUnsynced) this.journal.splice(this.journal.length - this.unsynced);
    this.unsynced = 0;
    this.current?.end('closed');
    this.current = null;
  }

  /** Another owner takes over while the first believes it is still there. */
  supersede(): OpenedStore {
    this.current?.end('superseded');
    this.current = null;
    return this.open();
  }

  /** @internal */
  release(store: MemoryStore): void {
    if (this.current === store) this.current = null;
  }

  /** @internal */
  push(events: readonly Stamped[], synced: boolean): void {
    if (this.failAppendIn > 0 && --this.failAppendIn === 0) throw new StoreError('disk', 'no space left');
    if (this.full) throw new StoreError('disk', 'no space left');
    // What is kept is what JSON keeps, as on a real disk.
    for (const stamped of events) this.journal.push(JSON.parse(JSON.stringify(stamped)) as Stamped);
    this.unsynced = synced ? 0 : this.unsynced + events.length;
  }
}

class MemoryStore implements Store {
  readonly folder: string;
  private ended: 'superseded' | 'closed' | null = null;
  private handler: ((request: unknown) => Promise<unknown>) | null = null;
  private lastView: View | null = null;
  private readonly superseded = new Set<(reason: string) => void>();
  private readonly viewers = new Set<{ view: (view: View) => void; close: () => void }>();

  constructor(
    private readonly disk: MemoryDisk,
    readonly owner: Owner,
    readonly loaded: Store['loaded'],
  ) {
    this.folder = disk.folder;
  }

  async append(events: readonly Stamped[], synced: boolean): Promise<void> {
    await Promise.resolve();
    this.check();
    this.disk.push(events, synced);
  }

  async saveState(state: State): Promise<void> {
    await this.put();
    this.disk.state = structuredClone(state);
  }

  async saveView(view: View): Promise<void> {
    await this.put();
    this.disk.view = structuredClone(view);
  }

  async attemptFolder(batch: string, child: string, attempt: number): Promise<string> {
    await Promise.resolve();
    return `${this.childFolder(batch, child)}/attempts/${attempt}`;
  }

  childFolder(batch: string, child: string): string {
    return `${this.folder}/batches/${batch}/children/${child}`;
  }

  async write(path: string, text: string): Promise<void> {
    await this.put();
    this.disk.files.set(path, text);
  }

  async read(path: string): Promise<string | null> {
    await Promise.resolve();
    return this.disk.files.get(path) ?? null;
  }

  async appendLines(path: string, lines: readonly string[]): Promise<void> {
    await this.put();
    this.disk.files.set(path, (this.disk.files.get(path) ?? '') + lines.map((line) => `${line}\n`).join(''));
  }

  async size(): Promise<number> {
    await Promise.resolve();
    return [...this.disk.files.values()].reduce((sum, text) => sum + text.length, 0);
  }

  async probe(): Promise<boolean> {
    await Promise.resolve();
    return !this.disk.full && this.ended === null;
  }

  onSuperseded(listener: (reason: string) => void): Disposable {
    this.superseded.add(listener);
    return { dispose: () => void this.superseded.delete(listener) };
  }

  serve(handler: (request: unknown) => Promise<unknown>): Disposable {
    this.handler = handler;
    return { dispose: () => void (this.handler = null) };
  }

  publish(view: View): void {
    this.lastView = view;
    for (const viewer of this.viewers) viewer.view(view);
  }

  async close(): Promise<void> {
    await Promise.resolve();
    this.disk.release(this);
    this.end('closed');
  }

  connect(): Connection {
    const listeners = new Set<(view: View) => void>();
    let closedNow = (): void => undefined;
    const closed = new Promise<void>((resolve) => (closedNow = resolve));
    const viewer = {
      view: (view: View) => listeners.forEach((listener) => listener(view)),
      close: () => closedNow(),
    };
    this.viewers.add(viewer);
    return {
      owner: this.owner,
      request: async (request) => {
        await Promise.resolve();
        if (this.handler === null || this.ended !== null)
          throw new StoreError('closed', 'the owner has gone');
        return this.handler(JSON.parse(JSON.stringify(request)));
      },
      onView: (listener) => {
        listeners.add(listener);
        if (this.lastView !== null) listener(this.lastView);
        return { dispose: () => void listeners.delete(listener) };
      },
      closed,
      close: () => {
        this.viewers.delete(viewer);
        closedNow();
      },
    };
  }

  end(how: 'superseded' | 'closed'): void {
    if (this.ended !== null) return;
    this.ended = how;
    if (how === 'superseded') for (const listener of this.superseded) listener('superseded');
    for (const viewer of this.viewers) viewer.close();
    this.viewers.clear();
  }

  private check(): void {
    if (this.ended !== null) throw new StoreError(this.ended, `the folder is ${this.ended}`);
  }

  private async put(): Promise<void> {
    await Promise.resolve();
    this.check();
    if (this.disk.full) throw new StoreError('disk', 'no space left');
  }
}
