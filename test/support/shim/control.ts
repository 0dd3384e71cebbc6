import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { temporary } from '../storeFixtures.js';

/** What the preloaded shim is to do; its layout is that of `faults.c`. */
export interface Fault {
  /** `kill`: before the call. `torn`: after half of a write. `refuse`: with an error code. */
  readonly what: 'kill' | 'torn' | 'refuse';
  readonly code?: 'ENOSPC' | 'EIO';
  /** Until the disk is freed, not once. */
  readonly stays?: boolean;
  /** The git that makes the call dies with its owner. */
  readonly killCaller?: boolean;
  /** Which call, as the shim names it, and the how manieth of these. */
  readonly key: string;
  readonly occurrence: number;
}

const errors = { ENOSPC: 28, EIO: 5 } as const;
const size = 2104;

/** The file through which a test and the shim in other processes speak. */
export class Control {
  constructor(
    readonly file: string,
    root: string,
  ) {
    this.write(0, Buffer.alloc(size));
    this.text(56, 512, root);
  }

  /** Writes the name of every call to a file. */
  count(log: string): void {
    this.text(56 + 512 + 1024, 512, log);
    this.numbers(0, [1]);
  }

  inject(fault: Fault): void {
    this.text(56 + 512, 1024, fault.key);
    const counters = Buffer.alloc(24);
    counters.writeBigInt64LE(BigInt(fault.occurrence), 0);
    this.write(32, counters);
    const what = { kill: 1, torn: 2, refuse: 3 }[fault.what];
    const error = errors[fault.code ?? 'EIO'];
    this.numbers(0, [2, what, error, fault.stays ? 1 : 0, 0, fault.killCaller ? 1 : 0, 0]);
  }

  /** For a process that is started after another was killed: nothing happens any more. */
  off(): void {
    this.numbers(0, [0]);
  }

  free(): void {
    this.numbers(24, [1]);
  }

  get hits(): number {
    return Number(this.read(48, 8).readBigInt64LE());
  }

  private numbers(at: number, values: readonly number[]): void {
    const bytes = Buffer.alloc(4 * values.length);
    values.forEach((value, index) => bytes.writeInt32LE(value, 4 * index));
    this.write(at, bytes);
  }

  private text(at: number, length: number, text: string): void {
    const bytes = Buffer.alloc(length);
    bytes.write(text, 0, length - 1, 'utf8');
    this.write(at, bytes);
  }

  private write(at: number, bytes: Buffer): void {
    const fd = fs.openSync(this.file, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600);
    fs.writeSync(fd, bytes, 0, bytes.length, at);
    fs.closeSync(fd);
  }

  private read(at: number, length: number): Buffer {
    const fd = fs.openSync(this.file, 'r');
    const bytes = Buffer.alloc(length);
    fs.readSync(fd, bytes, 0, length, at);
    fs.closeSync(fd);
    return bytes;
  }
}

/** The shim, compiled; null where there is no compiler or the system is not Linux. */
export function buildShim(): string | null {
  if (process.platform !== 'linux') return null;
  const outfile = path.join(temporary(), 'faults.so');
  const source = path.join(import.meta.dirname, 'faults.c');
  for (const compiler of ['cc', 'gcc', 'clang'])
    try {
      execFileSync(compiler, ['-shared', '-fPIC', '-O1', '-o', outfile, source, '-ldl'], { stdio: 'pipe' });
      return outfile;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') continue;
      throw error;
    }
  return null;
}
