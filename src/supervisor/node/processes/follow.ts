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
const busyEvery = 100;
const quietEvery = 200;
/** How often the end is looked for, and whether the process lives without one. */
const endEvery = 200;
const aliveEvery = 1_000;
/**
 * The same for whoever has talked without a pause for a while: what talks lives, as a rule. When it pauses, its end is
 * looked for at once.
 */
const talksFor = 1_000;
const endEveryWhileTalking = 1_000;
const aliveEveryWhileTalking = 5_000;

/** A look that would be due this soon, in ms, is taken now. */
const slack = 5;
const noLines: readonly FollowedLine[] = [];

/** One buffer for all reads: they are synchronous, and the splitter copies what it keeps. */
const chunk = Buffer.alloc(chunkSize);

/**
 * Follows the logs of attempts by looking at them: one read a look where nothing is new. It holds on every file system,
 * needs no watch per file, and for a hundred talkative children it is cheaper than an event per write. All are looked at
 * in the same turn, each stream as often as it talks.
 */
export class Followers {
  private readonly active = new Set<Following>();
  private timer: NodeJS.Timeout | null = null;
  private turning = false;
  /** Somebody need not wait for the next turn. */
  private soon = false;

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

  /** One turn at a time; who comes during one is looked at right after it. */
  private schedule(after: number): void {
    this.soon ||= after === 0;
    if (this.turning) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.turn(), after);
  }

  private async turn(): Promise<void> {
    this.timer = null;
    this.turning = true;
    this.soon = false;
    const now = performance.now();
    for (const following of [...this.active]) {
      if (!following.due(now)) continue;
      const again = following.look(now);
      this.soon = (typeof again === 'boolean' ? again : await again) || this.soon;
    }
    this.turning = false;
    if (this.active.size > 0) this.schedule(this.soon ? 0 : busyEvery);
  }
}

class Following {
  readonly exited: Promise<End>;
  private readonly stdout: Stream;
  private readonly stderr: Stream;
  private resolve: (end: End) => void = () => undefined;
  private lastEndLook = -Infinity;
  private lastAliveLook = -Infinity;
  /** When it was last found to say nothing. */
  private lastPause = performance.now();
  private process: ProcessId | null;
  private end: End | null = null;
  private over = false;

  constructor(
    private readonly request: FollowRequest,
    private readonly forget: () => void,
  ) {
    this.exited = new Promise((resolve) => (this.resolve = resolve));
    this.process = request.process;
    this.stdout = new Stream('stdout', request.folder, request.stdout);
    this.stderr = new Stream('stderr', request.folder, request.stderr);
  }

  due(now: number): boolean {
    return this.stdout.isDue(now) || this.stderr.isDue(now) || this.isEndDue(now);
  }

  /** Passes on what is new; true where it is to be looked at again at once. */
  look(now: number): boolean | Promise<boolean> {
    if (this.end !== null || !this.isEndDue(now)) return this.readOn(now);
    this.lastEndLook = now;
    this.end = readExit(this.request.folder);
    const every = this.talks(now) ? aliveEveryWhileTalking : aliveEvery;
    if (this.end !== null || now < this.lastAliveLook + every) return this.readOn(now);
    this.lastAliveLook = now;
    return this.gone().then((end) => {
      this.end = end;
      return this.readOn(now);
    });
  }

  catchUp(): void {
    const now = performance.now();
    const { stdout, stderr } = this;
    if (!this.over)
      this.read(now, stdout.isBusy(now) || stdout.isDue(now), stderr.isBusy(now) || stderr.isDue(now));
  }

  private isEndDue(now: number): boolean {
    return now >= this.lastEndLook + (this.talks(now) ? endEveryWhileTalking : endEvery) - slack;
  }

  private talks(now: number): boolean {
    return now - this.lastPause > talksFor;
  }

  /** The end was looked for before the logs are read, so that what was printed before it is passed on before it. */
  private readOn(now: number): boolean {
    if (this.over) return false;
    const { stdout, stderr, end } = this;
    this.read(now, end !== null || stdout.isDue(now), end !== null || stderr.isDue(now));
    if (this.over) return false;
    const more = stdout.hasMore || stderr.hasMore;
    if (end !== null && !more) {
      this.pass([...stdout.finish(), ...stderr.finish()], Math.min(stdout.lookedAt, stderr.lookedAt));
      this.dispose();
      this.resolve(end);
      return false;
    }
    if (now - Math.max(stdout.lastNews, stderr.lastNews) < busyEvery - slack) return more;
    const talked = this.talks(now);
    this.lastPause = now;
    return more || talked;
  }

  private read(now: number, out: boolean, err: boolean): void {
    const { stdout, stderr } = this;
    const since = Math.min(out ? stdout.lookedAt : Infinity, err ? stderr.lookedAt : Infinity);
    const said = out ? stdout.read(now) : noLines;
    const complained = err ? stderr.read(now) : noLines;
    this.pass(complained.length === 0 ? said : [...said, ...complained], since);
  }

  dispose(): void {
    if (this.over) return;
    this.over = true;
    this.forget();
    this.stdout.close();
    this.stderr.close();
  }

  private pass(lines: readonly FollowedLine[], since: number): void {
    if (lines.length === 0) return;
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
  private async gone(): Promise<End | null> {
    if (this.process !== null && (await isSame(this.process))) return null;
    const found = await findAttempt(this.request.folder);
    if (found.kind !== 'alive') return found;
    this.process = found.process;
    return null;
  }
}

class Stream {
  hasMore = false;
  /** By the monotonic clock, as `nextLook`. */
  lastNews = -Infinity;
  /** When all that was there had last been read, by the wall clock. */
  lookedAt = 0;
  private nextLook = 0;
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

  isDue(now: number): boolean {
    return now >= this.nextLook;
  }

  isBusy(now: number): boolean {
    return now - this.lastNews < busyFor;
  }

  read(now: number): readonly FollowedLine[] {
    const lines: SplitLine[] = [];
    const lookedAt = Date.now();
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
    if (!this.hasMore) this.lookedAt = lookedAt;
    if (lines.length > 0) this.lastNews = now;
    this.nextLook = this.hasMore ? 0 : now + (this.isBusy(now) ? busyEvery : quietEvery) - slack;
    if (lines.length === 0) return noLines;
    for (const line of lines) this.mask(line);
    this.keeper.passed(this.passed);
    return lines.map(({ text, end, cut }) => ({ stream: this.name, text, end, cut }));
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
