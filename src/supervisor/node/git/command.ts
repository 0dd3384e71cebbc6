import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** How much of a command's output is kept, from its end. */
const keptOutput = 256 * 1024;

export interface CommandResult {
  readonly exitCode: number;
  /** Bounded tail of both streams. */
  readonly output: string;
  /** Why the program could not be started; null if it ran. */
  readonly notRun: string | null;
  readonly milliseconds: number;
}

/** Runs a program with its arguments, without a shell. Its end is always a value. */
export function runCommand(
  command: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>>,
  onOutput: ((stream: 'stdout' | 'stderr', chunk: Uint8Array) => void) | null,
): Promise<CommandResult> {
  const started = performance.now();
  const [program, ...args] = command;
  const since = (): number => Math.round(performance.now() - started);
  if (program === undefined)
    return Promise.resolve({ exitCode: 125, output: '', notRun: 'the command is empty', milliseconds: 0 });
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let size = 0;
    const child = spawn(program, args, {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const take = (stream: 'stdout' | 'stderr') => (chunk: Buffer) => {
      onOutput?.(stream, chunk);
      chunks.push(chunk);
      size += chunk.length;
      if (size > 2 * keptOutput) {
        const tail = Buffer.concat(chunks).subarray(-keptOutput);
        chunks = [tail];
        size = tail.length;
      }
    };
    child.stdout.on('data', take('stdout'));
    child.stderr.on('data', take('stderr'));
    child.on('error', (error) => {
      const notRun = `${program} could not be started: ${error.message}`;
      resolve({ exitCode: 125, output: notRun, notRun, milliseconds: since() });
    });
    child.on('close', (code, signal) => {
      const output = Buffer.concat(chunks).subarray(-keptOutput).toString('utf8');
      resolve({
        exitCode: code ?? (signal === null ? 125 : 128 + constants.signals[signal]),
        output,
        notRun: null,
        milliseconds: since(),
      });
    });
  });
}
