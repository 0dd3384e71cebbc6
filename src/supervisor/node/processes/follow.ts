import fs from 'node:fs';
import path from 'node:path';
import type { ProcessId } from '../../core/state.js';
import type { FollowedLine, FollowRequest, Follower, Found } from '../../ports.js';
import { findAttempt, isSame, readExit } from './attemptFiles.js';
import { LineSplitter, type SplitLine } from './lines.js';
import { LogKeeper } from './logKeeper.js';
import { SecretMask } from './maskSecrets.js';

type End = Extract<Found, { readonly kind: 'ended' | 'lost' | 'never' }>;

const chunkSize = 64 * 1024;
/** Bytes of one stream that are read before others have their turn. */
const turnSize = 512 * 1024;
/** How long after its last line a stream counts as busy, and how often busy and quiet ones are looked at. */
const busyFor = 2_000;
const busyEvery = 50;
const quietEvery = 200;
const aliveEvery = 1_000;

/** One buffer for all reads: they are synchronous, and the splitter copies what it keeps. */
const chunk = Buffer.alloc(chunkSize);

/**
 * Follows the logs of attempts by looking at them: one read a look where nothing is new. It holds on every file system,
 * needs no watch per file, and for a hundred talkative children it is cheaper than an event per write.
 */
export class Followers {
  private readonly active = new Set<Following>();
  private timer: NodeJS.Timeout | null = null;

  follow(request: FollowRequest): Follower {
    const following = new Following(request, () => this.active.delete(following));
    this.active.add(following);
    this.schedule(0);
    return {
      exited: following.exited,
      catchUp: () => following.catchUp(),
      dispose: () => following.dispose(),
    };
  }

  private schedule(after: number): void {
    if (this.timer !== null && after > 0) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.turn(), after);
  }

  private async turn(): Promise<void> {
    const now = performance.now();
    let more = false;
    for (const following of [...this.active])
      if (following.due(now)) more = (await following.look(now)) || more;
    this.timer = null;
    if (this.active.size > 0) this.schedule(more ? 0 : busyEvery);
  }
}

class Following {
  readonly exited: Promise<End>;
  private readonly streams: readonly Stream[];
  private resolve: (end: End) => void = () => undefined;
  private nextLook = 0;
  private nextAliveLook = 0;
  private lastNews = -Infinity;
  /** When it was last looked, by the wall clock. */
  private lookedAt = 0;
  private process: ProcessId | null;
  private over = false;

  constructor(
    private readonly request: FollowRequest,
    private readonly forget: () => void,
  ) {
    this.exited = new Promise((resolve) => (this.resolve = resolve));
    this.process = request.process;
    this.streams = [
      new Stream('stdout', request.folder, request.stdout),
      new Stream('stderr', request.folder, request.stderr),
    ];
  }

  due(now: number): boolean {
    return now >= this.nextLook;
  }

  /** Passes on what is new; true where there is more already. */
  async look(now: number): Promise<boolean> {
    // The end is looked for before the logs are read, so that what was printed before it is passed on before it.
    const end = readExit(this.request.folder) ?? (await this.gone(now));
    if (this.over) return false;
    if (this.readOn()) this.lastNews = now;
    const more = this.streams.some((stream) => stream.hasMore);
    if (end !== null && !more && !this.over) {
      const rest = this.streams.flatMap((stream) => stream.finish());
      if (rest.length > 0) this.pass(rest, this.lookedAt);
      this.dispose();
      this.resolve(end);
    }
    this.nextLook = more ? 0 : now + (now - this.lastNews < busyFor ? busyEvery : quietEvery) - 5;
    return more && !this.over;
  }

  catchUp(): void {
    if (!this.over) this.readOn();
  }

  /** Whether there was anything new. */
  private readOn(): boolean {
    const since = this.lookedAt;
    const now = Date.now();
    const lines = this.streams.flatMap((stream) => stream.read());
    if (!this.streams.some((stream) => stream.hasMore)) this.lookedAt = now;
    if (lines.length > 0) this.pass(lines, since);
    return lines.length > 0;
  }

  dispose(): void {
    if (this.over) return;
    this.over = true;
    this.forget();
    for (const stream of this.streams) stream.close();
  }

  private pass(lines: readonly FollowedLine[], since: number): void {
    try {
      this.request.onLines(lines, since);
    } catch (error) {
      // A listener's error is a bug there; the other children must still be followed.
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  /** The end of an attempt without a status. */
  private async gone(now: number): Promise<End | null> {
    if (now < this.nextAliveLook) return null;
    this.nextAliveLook = now + aliveEvery;
    if (this.process !== null && (await isSame(this.process))) return null;
    const found = await findAttempt(this.request.folder);
    if (found.kind !== 'alive') return found;
    this.process = found.process;
    return null;
  }
}

class Stream {
  hasMore = false;
  private readonly splitter: LineSplitter;
  private readonly file: string;
  private readonly keeper: LogKeeper;
  private readonly secrets: SecretMask;
  /** Offset of the first byte after the lines that were passed on. */
  private passed: number;
  private fd: number | null = null;

  constructor(
    private readonly name: 'stdout' | 'stderr',
    folder: string,
    from: number,
  ) {
    this.file = path.join(folder, `${name}.log`);
    this.splitter = new LineSplitter(from);
    this.keeper = new LogKeeper(this.file, from);
    this.secrets = new SecretMask(this.file);
    this.passed = from;
  }

  read(): readonly FollowedLine[] {
    const lines: SplitLine[] = [];
    this.hasMore = false;
    try {
      this.fd ??= fs.openSync(this.file, fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0));
      for (let read = 0; ;) {
        const count = fs.readSync(this.fd, chunk, 0, chunkSize, this.splitter.position);
        if (count > 0) lines.push(...this.splitter.push(chunk.subarray(0, count)));
        read += count;
        this.hasMore = count === chunkSize;
        if (!this.hasMore || read >= turnSize) break;
      }
    } catch {
      // Not there yet, or not readable: there is nothing new.
      this.hasMore = false;
    }
    for (const line of lines) this.mask(line);
    if (lines.length > 0) this.keeper.passed(this.passed);
    return lines.map((line) => ({ stream: this.name, ...line }));
  }

  finish(): readonly FollowedLine[] {
    const rest = this.splitter.finish();
    if (rest === null) return [];
    this.mask(rest);
    return [{ stream: this.name, ...rest }];
  }

  private mask({ text, end }: SplitLine): void {
    this.secrets.line(text, this.passed, end);
    this.passed = end;
  }

  close(): void {
    if (this.fd !== null) fs.closeSync(this.fd);
    this.fd = null;
  }
}
