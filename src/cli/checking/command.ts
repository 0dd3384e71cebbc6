import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { withTools } from '../../supervisor/node/git/tools.js';

/** The check itself could not run; as in `env` and `nice`. */
export const couldNotRun = 125;

const keptOutput = 1024 * 1024;

export interface CommandEndState {
  readonly exitCode: number;
  /** The end of what it has said. */
  readonly output: string;
  /** Why it could not be started; null if it ran. */
  readonly notRun: string | null;
}

/**
 * Runs a command and passes its bytes through as they come, stdin included. Its environment is the caller's, with
 * the tree's own tools in front. What ends us ends the command, and its end is ours.
 */
export function runThrough(
  command: readonly string[],
  top: string,
  folder: string,
): Promise<CommandEndState> {
  const [program = '', ...args] = command;
  return new Promise((resolve) => {
    let kept: Buffer[] = [];
    let size = 0;
    const child = spawn(program, args, {
      cwd: folder,
      env: withTools(process.env, top, folder),
      stdio: ['inherit', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const pass = (to: NodeJS.WriteStream) => (chunk: Buffer) => {
      to.write(chunk);
      kept.push(chunk);
      size += chunk.length;
      if (size <= 2 * keptOutput) return;
      kept = [Buffer.concat(kept).subarray(-keptOutput)];
      size = keptOutput;
    };
    // A terminal sends Ctrl-C to both; we stay until the command has said its last.
    const stay = (): void => undefined;
    const forward = (signal: NodeJS.Signals) => void child.kill(signal);
    process.on('SIGINT', stay);
    process.on('SIGTERM', forward);
    process.on('SIGHUP', forward);
    const end = (state: CommandEndState): void => {
      process.off('SIGINT', stay);
      process.off('SIGTERM', forward);
      process.off('SIGHUP', forward);
      resolve(state);
    };
    // Where nobody reads ours, the command finds its own closed, as if it were there in our place.
    process.stdout.on('error', () => child.stdout.destroy());
    process.stderr.on('error', () => child.stderr.destroy());
    child.stdout.on('data', pass(process.stdout));
    child.stderr.on('data', pass(process.stderr));
    child.on('error', (error) =>
      end({
        exitCode: couldNotRun,
        output: '',
        notRun: `${program} could not be started: ${error.message}`,
      }),
    );
    child.on('close', (code, signal) =>
      end({
        exitCode: code ?? (signal === null ? couldNotRun : 128 + constants.signals[signal]),
        output: Buffer.concat(kept).toString('utf8'),
        notRun: null,
      }),
    );
  });
}
