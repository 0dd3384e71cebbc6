import type { ProcessId } from '../../src/supervisor/core/state.js';
import type {
  FollowRequest,
  Follower,
  FollowedLine,
  Found,
  Processes,
  StartOutcome,
  StartRequest,
} from '../../src/supervisor/ports.js';

type End = Extract<Found, { readonly kind: 'ended' | 'lost' }>;

/** One attempt's process, as a test plays it. */
export class FakeProcess {
  readonly lines: FollowedLine[] = [];
  readonly asked: string[] = [];
  end: End | null = null;
  private readonly ends = { stdout: 0, stderr: 0 };
  private readonly watchers = new Set<() => void>();

  constructor(
    readonly request: StartRequest,
    readonly id: ProcessId,
  ) {}

  /** One line on stdout; an object is printed as JSON. */
  print(line: string | object): void {
    this.add('stdout', typeof line === 'string' ? line : JSON.stringify(line));
  }

  printError(line: string): void {
    this.add('stderr', line);
  }

  exit(code: number): void {
    this.finish({ kind: 'ended', code, signal: null });
  }

  dieOf(signal: string): void {
    this.finish({ kind: 'ended', code: null, signal });
  }

  /** Gone without a status, as after a power cut. */
  vanish(): void {
    this.finish({ kind: 'lost' });
  }

  /** @internal */
  watch(changed: () => void): () => void {
    this.watchers.add(changed);
    return () => this.watchers.delete(changed);
  }

  private add(stream: 'stdout' | 'stderr', text: string): void {
    if (this.end !== null) throw new Error('a process that has ended prints nothing');
    this.ends[stream] += Buffer.byteLength(text) + 1;
    this.lines.push({ stream, text, end: this.ends[stream], cut: false });
    for (const changed of [...this.watchers]) changed();
  }

  private finish(end: End): void {
    if (this.end !== null) return;
    this.end = end;
    for (const changed of [...this.watchers]) changed();
  }
}

/** Processes that exist in the test only. They outlive the supervisor that started them, as detached ones do. */
export class FakeProcesses implements Processes {
  readonly started: FakeProcess[] = [];
  /** Requests that were refused because the attempt had been started before. */
  readonly startedTwice: StartRequest[] = [];
  /** Set it to make the next starts fail. */
  failStart: { readonly message: string; readonly disk: boolean } | null = null;
  /** Called with each new process, to play it. */
  onStart: (process: FakeProcess) => void = () => undefined;
  /** What a process does when it is asked to stop; as given, it exits with 143. */
  onAsk: (process: FakeProcess, signal: 'SIGTERM' | 'SIGINT') => void = (process) => process.exit(143);
  /** Programs that are not there. */
  readonly missing = new Set<string>();
  private pid = 5000;

  /** The last process started for a folder that ends with this. */
  byFolder(end: string): FakeProcess {
    const found = this.started.findLast((process) => process.request.folder.endsWith(end));
    if (found === undefined) throw new Error(`nothing was started in ${end}`);
    return found;
  }

  get running(): readonly FakeProcess[] {
    return this.started.filter((process) => process.end === null);
  }

  async start(request: StartRequest): Promise<StartOutcome> {
    await Promise.resolve();
    const before = this.at(request.folder);
    if (before !== undefined) {
      this.startedTwice.push(request);
      return { kind: 'startedBefore', found: this.state(before) };
    }
    if (this.failStart !== null) return { kind: 'failed', ...this.failStart };
    const id = { pid: ++this.pid, startTime: `t${this.pid}`, nonce: request.nonce };
    const process = new FakeProcess(request, id);
    this.started.push(process);
    // What it prints comes after its start is known, as with a real one.
    setImmediate(() => this.onStart(process));
    return { kind: 'started', process: id };
  }

  async find(folder: string): Promise<Found> {
    await Promise.resolve();
    const process = this.at(folder);
    return process === undefined ? { kind: 'never' } : this.state(process);
  }

  follow(request: FollowRequest): Follower {
    const process = this.at(request.folder);
    if (process === undefined)
      return {
        exited: Promise.resolve({ kind: 'never' }),
        catchUp: () => undefined,
        dispose: () => undefined,
      };
    const from = { stdout: request.stdout, stderr: request.stderr };
    let next = 0;
    let stop = (): void => undefined;
    let disposed = false;
    const exited = new Promise<End>((resolve) => {
      const look = (): void => {
        if (disposed) return;
        const fresh = process.lines.slice(next).filter((line) => line.end > from[line.stream]);
        next = process.lines.length;
        if (fresh.length > 0) request.onLines(fresh, 0);
        if (process.end === null || disposed) return;
        stop();
        resolve(process.end);
      };
      stop = process.watch(look);
      setImmediate(look);
    });
    return {
      exited,
      catchUp: () => undefined,
      dispose: () => {
        disposed = true;
        stop();
      },
    };
  }

  async ask(id: ProcessId, signal: 'SIGTERM' | 'SIGINT'): Promise<boolean> {
    await Promise.resolve();
    const process = this.same(id);
    if (process === undefined) return false;
    process.asked.push(signal);
    this.onAsk(process, signal);
    return true;
  }

  async kill(id: ProcessId): Promise<number> {
    await Promise.resolve();
    const process = this.same(id);
    if (process === undefined) return 0;
    process.asked.push('SIGKILL');
    process.dieOf('SIGKILL');
    return 1;
  }

  async survivors(nonces: readonly string[]): Promise<readonly { pid: number; nonce: string }[]> {
    await Promise.resolve();
    return this.running
      .filter((process) => nonces.includes(process.id.nonce))
      .map((process) => ({ pid: process.id.pid, nonce: process.id.nonce }));
  }

  async resolve(program: string): ReturnType<Processes['resolve']> {
    await Promise.resolve();
    if (this.missing.has(program))
      return { ok: false, message: `${program} was not found on PATH`, fix: `Install ${program}.` };
    return { ok: true, file: program.includes('/') ? program : `/usr/bin/${program}` };
  }

  private at(folder: string): FakeProcess | undefined {
    return this.started.find((process) => process.request.folder === folder);
  }

  private same(id: ProcessId): FakeProcess | undefined {
    return this.running.find(
      (process) =>
        process.id.pid === id.pid && process.id.startTime === id.startTime && process.id.nonce === id.nonce,
    );
  }

  private state(process: FakeProcess): Found {
    return process.end ?? { kind: 'alive', process: process.id };
  }
}
