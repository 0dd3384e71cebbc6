import { execFile } from 'node:child_process';

/** What is kept of the beginning, and at least of the end, of what was read. */
const headKept = 1024 * 1024;
const tailKept = 16 * 1024 * 1024;
/** Space is given back in pieces of this size. */
const piece = 32 * 1024 * 1024;

/**
 * Bounds what a log takes on the disk, without a pipe that would have to outlive us and without moving an offset: what
 * was read and lies between head and tail is given back as a hole (`fallocate --punch-hole`, Linux). The log's length
 * stays; its middle reads as zeros. Where that is not possible the log grows, and the folder's soft cap warns.
 */
export class LogKeeper {
  private given: number;
  private running = false;
  private impossible = process.platform !== 'linux';

  constructor(
    private readonly file: string,
    from: number,
  ) {
    this.given = Math.max(headKept, alignDown(from - tailKept - piece));
  }

  /** Everything up to this offset has been passed on. */
  passed(offset: number): void {
    const until = alignDown(offset - tailKept);
    if (this.impossible || this.running || until - this.given < piece) return;
    this.running = true;
    const range = ['--offset', String(this.given), '--length', String(until - this.given)];
    execFile('fallocate', ['--punch-hole', ...range, this.file], (error) => {
      this.running = false;
      if (error === null) this.given = until;
      else this.impossible = true;
    });
  }
}

function alignDown(offset: number): number {
  return Math.max(0, Math.floor(offset / 4096) * 4096);
}
