import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';

/** Whoever reads what we print. */
export interface Reader {
  /** Aborted as soon as nobody reads any more, as after `| head -1`. */
  readonly gone: AbortSignal;
  /** From now on that is noticed also while nothing is printed, where the system can tell. */
  watch(): void;
}

export function readerOf(stdout: NodeJS.WriteStream & { readonly fd: number }): Reader {
  const left = new AbortController();
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isGone(error)) left.abort();
  });
  let watched = false;
  return {
    gone: left.signal,
    watch() {
      if (watched || process.platform !== 'linux' || !isPipe(stdout.fd)) return;
      watched = true;
      // Nothing in Node asks a pipe for its reader. GNU tail does, and ends by SIGPIPE; any other end tells nothing.
      const tail = spawn('tail', [`--pid=${process.pid}`, '-f', '/dev/null'], {
        stdio: ['ignore', stdout.fd, 'ignore'],
      });
      tail.on('error', () => undefined);
      tail.on('exit', (_, signal) => {
        if (signal === 'SIGPIPE') left.abort();
      });
      tail.unref();
      process.once('exit', () => tail.kill());
    },
  };
}

/** Whether an error of stdout says that its reader has left: a closed pipe, or a terminal that is no more. */
export function isGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'EIO' || code === 'ECONNRESET';
}

function isPipe(fd: number): boolean {
  try {
    return fstatSync(fd).isFIFO();
  } catch {
    return false;
  }
}
