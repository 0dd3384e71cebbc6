import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { View } from '../../../protocol/view.js';
import type { Stamped } from '../../core/event.js';
import type { Owner, State } from '../../core/state.js';
import { StoreError, type Disposable, type Store } from '../../ports.js';
import { diskUse } from '../diskUse.js';
import * as calls from '../fsCalls.js';
import type { Journal } from './journal.js';
import { attemptPath, childPath, makeFolders, pathBelow, placeBelow } from './layout.js';
import type { Claim } from './lock.js';
import { LatestOnly } from './latestOnly.js';
import { pruneSegments } from './prune.js';
import type { ViewerServer } from './server.js';
import { encodeSnapshot, readRegular, snapshotFiles } from './snapshots.js';

/** Kept free for the last records on a full disk. */
const reserveSize = 256 * 1024;
const longestFile = 64 * 1024 * 1024;

/** A state and the segment that was written to when it was the newest: the ones before hold nothing that it lacks. */
interface Covering {
  readonly state: State;
  readonly segment: number;
}

/** The folder, for as long as this process is its owner. */
export class SwarmStore implements Store {
  private readonly states: LatestOnly<Covering>;
  private readonly views: LatestOnly<View>;
  private readonly appends = new Map<string, Promise<void>>();
  private over: StoreError | null = null;

  constructor(
    readonly folder: string,
    readonly owner: Owner,
    readonly loaded: Store['loaded'],
    private readonly claim: Claim,
    private readonly journal: Journal,
    private readonly server: ViewerServer,
    /** `state.json` can be read: it is kept beside the next one. */
    private newestIsSound: boolean,
  ) {
    this.states = new LatestOnly((covering) => this.guarded(() => this.writeState(covering)));
    this.views = new LatestOnly((view) =>
      this.guarded(() => calls.writeWhole(this.at('view.json'), JSON.stringify(view), { durable: false })),
    );
    claim.onSuperseded((reason) => void this.end(new StoreError('superseded', reason)));
  }

  append(events: readonly Stamped[], synced: boolean): Promise<void> {
    return this.over === null ? this.journal.append(events, synced) : Promise.reject(this.over);
  }

  saveState(state: State): Promise<void> {
    return this.states.put({ state, segment: this.journal.currentSegment });
  }

  saveView(view: View): Promise<void> {
    return this.views.put(view);
  }

  attemptFolder(batch: string, child: string, attempt: number): Promise<string> {
    return this.guarded(() => makeFolders(this.folder, attemptPath(batch, child, attempt)));
  }

  childFolder(batch: string, child: string): string {
    return path.join(this.folder, childPath(batch, child));
  }

  write(relative: string, text: string): Promise<void> {
    return this.guarded(async () => {
      const file = await placeBelow(this.folder, relative);
      await calls.writeWhole(file, text);
    });
  }

  async read(relative: string): Promise<string | null> {
    return readRegular(pathBelow(this.folder, relative), longestFile, []);
  }

  appendLines(relative: string, lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return Promise.resolve();
    const before = this.appends.get(relative) ?? Promise.resolve();
    const next = before
      .catch(() => undefined)
      .then(() => this.guarded(async () => appendTo(await placeBelow(this.folder, relative), lines)));
    this.appends.set(relative, next);
    const forget = (): void => {
      if (this.appends.get(relative) === next) this.appends.delete(relative);
    };
    next.then(forget, forget);
    return next;
  }

  size(): Promise<number> {
    return diskUse(this.folder);
  }

  /** There is space again when the reserve can be taken and something more. */
  async probe(): Promise<boolean> {
    const reserve = this.at('reserve');
    let spent = false;
    try {
      this.claim.check();
      spent = (await calls.entry(reserve)) === null;
      if (spent) await this.makeReserve();
      await calls.writeWhole(this.at('probe'), randomBytes(4096));
      await calls.unlink(this.at('probe'));
      return true;
    } catch {
      // What is left of the space is for the last records.
      if (spent) await fs.unlink(reserve).catch(() => undefined);
      return false;
    }
  }

  onSuperseded(listener: (reason: string) => void): Disposable {
    return { dispose: this.claim.onSuperseded(listener) };
  }

  serve(handler: (request: unknown) => Promise<unknown>): Disposable {
    return this.server.serve(handler);
  }

  publish(view: View): void {
    this.server.publish(view);
  }

  async close(): Promise<void> {
    if (this.over !== null) return;
    await Promise.all([this.states.idle(), this.views.idle(), ...this.appends.values()].map(settled));
    await this.end(new StoreError('closed', 'The folder was given up.'));
    await this.claim.release();
  }

  /** Takes the space that pays for the last records; best effort. */
  async makeReserve(): Promise<void> {
    await calls.writeWhole(this.at('reserve'), randomBytes(reserveSize));
  }

  private async end(reason: StoreError): Promise<void> {
    if (this.over !== null) return;
    this.over = reason;
    if (reason.kind === 'superseded') this.journal.end(reason);
    await this.journal.close();
    await this.server.close();
  }

  private async writeState({ state, segment }: Covering): Promise<void> {
    // A snapshot must not know more than the journal.
    await this.journal.flush();
    const newest = this.at(snapshotFiles.newest);
    // Until the next one is there, the one before serves.
    if (this.newestIsSound)
      await calls.rename(newest, this.at(snapshotFiles.previous)).catch((error: unknown) => {
        if (!calls.isMissing(error)) throw error;
      });
    this.newestIsSound = false;
    await calls.writeWhole(newest, encodeSnapshot(state, this.owner.epoch));
    this.newestIsSound = true;
    await pruneSegments(this.folder, state, this.owner.epoch, segment);
  }

  /** Only the owner writes, and what the disk refuses is said as such. */
  private async guarded<T>(work: () => Promise<T>): Promise<T> {
    if (this.over !== null) throw this.over;
    this.claim.check();
    try {
      return await work();
    } catch (error) {
      if (error instanceof StoreError || calls.errorCode(error) === '') throw error;
      await freeReserve(this.folder, error);
      throw new StoreError('disk', calls.messageOf(error));
    }
  }

  private at(name: string): string {
    return path.join(this.folder, name);
  }
}

/** On a full disk the reserve makes room for what must still be said. */
export async function freeReserve(swarm: string, error: unknown): Promise<void> {
  const code = error instanceof StoreError ? '' : calls.errorCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT')
    await fs.unlink(path.join(swarm, 'reserve')).catch(() => undefined);
}

async function appendTo(file: string, lines: readonly string[]): Promise<void> {
  const handle = await calls.open(file, constants.O_RDWR | constants.O_CREAT);
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
    const torn = size > 0 && bytesRead === 1 && buffer[0] !== 10;
    const text = lines.map((line) => `${line.replaceAll('\n', ' ')}\n`).join('');
    try {
      await calls.writeAt(handle, Buffer.from((torn ? '\n' : '') + text), size);
      await calls.sync(handle);
    } catch (error) {
      await handle.truncate(size).catch(() => undefined);
      throw error;
    }
  } finally {
    await handle.close();
  }
}

async function settled(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}
