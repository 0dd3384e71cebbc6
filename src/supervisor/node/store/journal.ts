import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { Stamped } from '../../core/event.js';
import { StoreError } from '../../ports.js';
import { messageOf, open, sync, syncFolder, truncate, writeAt } from '../fsCalls.js';
import { encodeRecord } from './record.js';

/** Where the next record goes. */
export interface JournalEnd {
  /** Number of the segment. */
  readonly segment: number;
  /** Its valid length in bytes. */
  readonly length: number;
  /** Number of the last record; 0: none. */
  readonly last: number;
}

export interface JournalOptions {
  readonly folder: string;
  readonly epoch: number;
  readonly end: JournalEnd;
  /** Bytes of a segment. */
  readonly segmentSize: number;
  /** Milliseconds until what was not asked to be synced is synced. */
  readonly syncWithin: number;
  /** Throws a StoreError once another owner has taken over. Called before and after each write. */
  readonly fence: () => void;
  /** A write was refused; may make room for the next. */
  readonly onRefused: (error: unknown) => Promise<void>;
}

interface Job {
  readonly events: readonly Stamped[];
  readonly synced: boolean;
  readonly resolve: () => void;
  readonly reject: (error: StoreError) => void;
}

/**
 * The one writer of the journal. What arrives while a write is under way goes out with the next one, with one sync.
 *
 * Failure: a refused write is cut off again, and everything that waits is refused with it, so that no record follows a
 * hole. After a failed sync the handle is given up; the next append opens the file anew, cuts it to what was synced
 * for certain, and writes what had been acknowledged since from memory.
 */
export class Journal {
  private handle: FileHandle | null = null;
  private segment: number;
  private position: number;
  private last: number;
  /** Length that is on the disk for certain. */
  private safe: number;
  /** Acknowledged bytes after `safe`. */
  private unsynced: Buffer[] = [];
  private broken = false;
  private ended: StoreError | null = null;
  private jobs: Job[] = [];
  private draining: Promise<void> | null = null;
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly options: JournalOptions) {
    this.segment = options.end.segment;
    this.position = options.end.length;
    this.safe = options.end.length;
    this.last = options.end.last;
  }

  /** Number of the last record that is written. */
  get lastNumber(): number {
    return this.last;
  }

  get currentSegment(): number {
    return this.segment;
  }

  append(events: readonly Stamped[], synced: boolean): Promise<void> {
    if (this.ended !== null) return Promise.reject(this.ended);
    return new Promise((resolve, reject) => {
      this.jobs.push({ events, synced, resolve, reject });
      this.draining ??= this.drain();
    });
  }

  /** Resolves when everything appended so far is on the disk. */
  flush(): Promise<void> {
    return this.append([], true);
  }

  /** Nothing is written from here on; what waits is refused. */
  end(error: StoreError): void {
    if (this.ended !== null) return;
    this.ended = error;
    if (this.timer !== null) clearTimeout(this.timer);
    this.refuse(error);
  }

  async close(): Promise<void> {
    const flushed = this.ended === null ? this.flush() : Promise.resolve();
    await flushed.catch(() => undefined);
    this.end(new StoreError('closed', 'The folder was given up.'));
    await this.draining;
    await this.handle?.close().catch(() => undefined);
    this.handle = null;
  }

  private async drain(): Promise<void> {
    // One turn's appends go out together.
    await Promise.resolve();
    while (this.jobs.length > 0 && this.ended === null) {
      const group = this.jobs;
      this.jobs = [];
      try {
        await this.write(group);
        for (const job of group) job.resolve();
      } catch (error) {
        const refusal = asStoreError(error);
        // Room is made before anyone hears of it, so that what they write about it finds some.
        if (refusal.kind === 'disk') await this.options.onRefused(error).catch(() => undefined);
        for (const job of group) job.reject(refusal);
        this.refuse(refusal);
        if (refusal.kind === 'superseded') this.end(refusal);
      }
    }
    this.draining = null;
  }

  private async write(group: readonly Job[]): Promise<void> {
    this.options.fence();
    const handle = await this.ready();
    const { bytes, last } = this.encode(group);
    if (bytes.length > 0) {
      try {
        await writeAt(handle, bytes, this.position);
      } catch (error) {
        await truncate(handle, this.position).catch(() => this.giveUp());
        throw error;
      }
    }
    if (group.some((job) => job.synced)) {
      await sync(handle).catch((error: unknown) => {
        this.giveUp();
        throw error;
      });
      this.unsynced = [];
      this.safe = this.position + bytes.length;
    } else if (bytes.length > 0) {
      this.unsynced.push(bytes);
      this.syncSoon();
    }
    this.position += bytes.length;
    this.last = last;
    // Who was superseded meanwhile has acknowledged nothing: the new owner does not count on this record.
    this.options.fence();
  }

  private encode(group: readonly Job[]): { readonly bytes: Buffer; readonly last: number } {
    let text = '';
    let last = this.last;
    for (const { events } of group)
      for (const stamped of events) {
        if (stamped.seq <= last) throw new Error(`Event ${stamped.seq} comes after ${last} in the journal.`);
        text += encodeRecord(stamped, this.options.epoch, last);
        last = stamped.seq;
      }
    return { bytes: Buffer.from(text), last };
  }

  /** The handle of the segment that the next record goes to. */
  private async ready(): Promise<FileHandle> {
    if (this.broken) await this.mend();
    if (this.position >= this.options.segmentSize) await this.nextSegment();
    this.handle ??= await this.openSegment();
    return this.handle;
  }

  private async openSegment(): Promise<FileHandle> {
    const file = path.join(this.options.folder, segmentName(this.segment));
    const handle = await open(file, constants.O_RDWR | constants.O_CREAT);
    if (this.position === 0) {
      try {
        await syncFolder(this.options.folder);
      } catch (error) {
        await handle.close().catch(() => undefined);
        throw error;
      }
    }
    return handle;
  }

  private async nextSegment(): Promise<void> {
    if (this.handle !== null) {
      await sync(this.handle).catch((error: unknown) => {
        this.giveUp();
        throw error;
      });
      await this.handle.close().catch(() => undefined);
    }
    this.handle = null;
    this.segment += 1;
    this.position = 0;
    this.safe = 0;
    this.unsynced = [];
  }

  /** Opens the file anew after a failed sync or cut, and puts back what was acknowledged. */
  private async mend(): Promise<void> {
    const handle = await this.openSegment();
    try {
      const kept = Buffer.concat(this.unsynced);
      await truncate(handle, this.safe);
      await writeAt(handle, kept, this.safe);
      await sync(handle);
      this.position = this.safe + kept.length;
      const { size } = await handle.stat();
      if (size !== this.position)
        throw new Error(`The journal has ${size} bytes instead of ${this.position}.`);
    } catch (error) {
      await handle.close().catch(() => undefined);
      throw error;
    }
    this.safe = this.position;
    this.unsynced = [];
    this.handle = handle;
    this.broken = false;
  }

  private giveUp(): void {
    this.broken = true;
    void this.handle?.close().catch(() => undefined);
    this.handle = null;
  }

  private refuse(error: StoreError): void {
    const waiting = this.jobs;
    this.jobs = [];
    for (const job of waiting) job.reject(error);
  }

  private syncSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      // A failure shows at the next append, which mends or is refused.
      if (this.unsynced.length > 0 && this.ended === null) void this.flush().catch(() => undefined);
    }, this.options.syncWithin);
  }
}

export function segmentName(segment: number): string {
  return `${String(segment).padStart(6, '0')}.jsonl`;
}

function asStoreError(error: unknown): StoreError {
  return error instanceof StoreError
    ? error
    : new StoreError('disk', `The journal could not be written: ${messageOf(error)}`);
}
