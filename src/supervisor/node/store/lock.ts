import { constants, existsSync, readdirSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { StoreError } from '../../ports.js';
import * as calls from '../fsCalls.js';
import { bootId, machine, startTimeOf } from '../processes/identity.js';
import { parseObject } from './record.js';

/** Who holds an epoch, as its file and `owner.json` say. */
export interface Holder {
  readonly epoch: number;
  readonly pid: number;
  readonly startTime: string;
  readonly host: string;
  /** Where the pid means something. */
  readonly machine: string;
  readonly bootId: string;
  /** A secret of this folder's readers: whoever can name it may speak to the owner. */
  readonly nonce: string;
  /** Path of the socket or pipe. */
  readonly socket: string;
  readonly version: string;
}

const holderSchema = z.object({
  epoch: z.number().int().nonnegative(),
  pid: z.number().int().positive(),
  startTime: z.string().max(200),
  host: z.string().max(300),
  machine: z.string().max(1000),
  bootId: z.string().max(200),
  nonce: z.string().max(200),
  socket: z.string().max(1000),
  version: z.string().max(100),
});

export type LockState =
  /** Nobody holds it. `forced` is false: who held it last writes no more, for it is gone or has given it up. */
  | { readonly kind: 'free'; readonly epoch: number }
  | { readonly kind: 'held'; readonly epoch: number; readonly holder: Holder };

/** How often the owner shows that it lives, and how long a silent one on another machine is watched. */
const beatEvery = 3_000;
const watchFor = 8_000;
/** An epoch file without content may be one that is being written right now. */
const emptyFor = 2_000;

/** Whether someone holds the folder. Waits, where only waiting can tell. */
export async function readLock(lockFolder: string): Promise<LockState> {
  for (;;) {
    const top = highest(await fs.readdir(lockFolder).catch(() => []));
    if (top === null || top.closed) return { kind: 'free', epoch: top?.epoch ?? 0 };
    const file = path.join(lockFolder, epochName(top.epoch));
    const stats = await calls.entry(file);
    if (stats === null) continue;
    const holder = (await readHolder(file)) ?? (await readHolder(path.join(lockFolder, 'owner.json')));
    if (holder === null || holder.epoch !== top.epoch) {
      if (Date.now() - stats.mtimeMs > emptyFor) return { kind: 'free', epoch: top.epoch };
      await delay(50);
      continue;
    }
    return (await isAlive(holder, file))
      ? { kind: 'held', epoch: top.epoch, holder }
      : { kind: 'free', epoch: top.epoch };
  }
}

/** Makes the next epoch this process's own; null if another was faster. */
export async function claim(
  lockFolder: string,
  after: number,
  holder: Omit<Holder, 'epoch'>,
): Promise<Claim | null> {
  const mine: Holder = { ...holder, epoch: after + 1 };
  const file = path.join(lockFolder, epochName(mine.epoch));
  if (!(await createExclusively(file, JSON.stringify(mine)))) return null;
  // Someone with an older look at the folder may come too late: the highest epoch has it.
  const names = await fs.readdir(lockFolder);
  const top = highest(names);
  if (top === null || top.epoch > mine.epoch || top.closed) {
    await calls.unlink(file).catch(() => undefined);
    return null;
  }
  for (const name of names) {
    const other = parseEpoch(name);
    if (other !== null && other.epoch < mine.epoch)
      await calls.unlink(path.join(lockFolder, name)).catch(() => undefined);
    if (name.endsWith('.tmp') && !name.includes(`.${process.pid}.`))
      await removeOld(path.join(lockFolder, name));
  }
  await calls.syncFolder(lockFolder);
  return new Claim(lockFolder, mine);
}

/** One epoch of ownership. */
export class Claim {
  private readonly timer: NodeJS.Timeout;
  private readonly listeners = new Set<(reason: string) => void>();
  private over = false;
  private reason = 'Another process has taken over this folder.';

  constructor(
    private readonly lockFolder: string,
    readonly holder: Holder,
  ) {
    this.timer = setInterval(() => this.beat(), beatEvery);
    this.timer.unref();
  }

  /** Throws once another owner has taken over, or the folder is gone. */
  check(): void {
    if (!this.over && !this.isHighest()) {
      this.over = true;
      if (!existsSync(this.lockFolder))
        this.reason = `${path.dirname(this.lockFolder)} was removed or moved away.`;
      clearInterval(this.timer);
      for (const listener of this.listeners) queueMicrotask(() => listener(this.reason));
    }
    if (this.over) throw new StoreError('superseded', this.reason);
  }

  onSuperseded(listener: (reason: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** For people and tools; the epoch file is what counts. */
  async announce(): Promise<void> {
    await calls.writeWhole(path.join(this.lockFolder, 'owner.json'), JSON.stringify(this.holder));
  }

  async release(): Promise<void> {
    clearInterval(this.timer);
    if (this.over) return;
    this.over = true;
    await fs.unlink(path.join(this.lockFolder, 'owner.json')).catch(() => undefined);
    const file = path.join(this.lockFolder, epochName(this.holder.epoch));
    // The number stays used: a later owner's must be higher.
    await fs.rename(file, `${file}.closed`).catch(() => undefined);
  }

  private isHighest(): boolean {
    try {
      const names = readdirSync(this.lockFolder);
      const top = highest(names);
      return top !== null && top.epoch === this.holder.epoch && !top.closed;
    } catch {
      return false;
    }
  }

  private beat(): void {
    try {
      this.check();
    } catch {
      return;
    }
    const now = new Date();
    void fs.utimes(path.join(this.lockFolder, epochName(this.holder.epoch)), now, now).catch(() => undefined);
  }
}

export async function readHolder(file: string): Promise<Holder | null> {
  const stats = await calls.entry(file).catch(() => null);
  if (stats === null || !stats.isFile() || stats.size > 64 * 1024) return null;
  const parsed = holderSchema.safeParse(parseObject(await fs.readFile(file, 'utf8').catch(() => '')));
  return parsed.success ? parsed.data : null;
}

export function thisHolder(
  nonce: string,
  socket: string,
  version: string,
  startTime: string,
): Omit<Holder, 'epoch'> {
  return { pid: process.pid, startTime, host: os.hostname(), machine, bootId, nonce, socket, version };
}

/** Whether its process is there. On this machine the process table says so; elsewhere only its beat. */
async function isAlive(holder: Holder, file: string): Promise<boolean> {
  if (holder.machine === machine) return (await startTimeOf(holder.pid)) === holder.startTime;
  if (holder.host === os.hostname() && holder.bootId !== bootId) return false;
  const before = (await calls.entry(file))?.mtimeMs;
  for (let waited = 0; waited < watchFor; waited += 250) {
    await delay(250);
    if ((await calls.entry(file))?.mtimeMs !== before) return true;
  }
  return false;
}

/** The whole file appears at once, or not at all if its name is taken. */
async function createExclusively(file: string, text: string): Promise<boolean> {
  const temporary = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`;
  try {
    await writeNew(temporary, text);
    await calls.link(temporary, file);
    return true;
  } catch (error) {
    const code = calls.errorCode(error);
    if (code === 'EEXIST') return false;
    // File systems without hard links: the name is taken first, the content follows.
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP' && code !== 'ENOSYS') throw error;
    return await writeNew(file, text).then(
      () => true,
      (second: unknown) => {
        if (calls.errorCode(second) === 'EEXIST') return false;
        throw second;
      },
    );
  } finally {
    await fs.unlink(temporary).catch(() => undefined);
  }
}

async function writeNew(file: string, text: string): Promise<void> {
  const handle = await calls.open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
  try {
    await calls.writeAt(handle, Buffer.from(text), 0);
    await calls.sync(handle);
  } finally {
    await handle.close();
  }
}

async function removeOld(file: string): Promise<void> {
  const stats = await calls.entry(file).catch(() => null);
  if (stats !== null && Date.now() - stats.mtimeMs > 60_000) await fs.unlink(file).catch(() => undefined);
}

interface Epoch {
  readonly epoch: number;
  readonly closed: boolean;
}

function highest(names: readonly string[]): Epoch | null {
  let top: Epoch | null = null;
  for (const name of names) {
    const next = parseEpoch(name);
    if (
      next !== null &&
      (top === null || next.epoch > top.epoch || (next.epoch === top.epoch && next.closed))
    )
      top = next;
  }
  return top;
}

function parseEpoch(name: string): Epoch | null {
  const match = /^(\d{6,12})(\.closed)?$/.exec(name);
  return match === null ? null : { epoch: Number(match[1]), closed: match[2] !== undefined };
}

function epochName(epoch: number): string {
  return String(epoch).padStart(6, '0');
}
