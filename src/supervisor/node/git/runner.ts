import { spawn } from 'node:child_process';
import { devNull } from 'node:os';
import { clearOurLock } from './locks.js';

/**
 * Runs git with nothing of the caller's in the way: no hooks, no fsmonitor, no prompts, no `GIT_*`, no automatic
 * gc, plain English output. Output is bytes, and standard input may be any bytes.
 */
export interface GitRunner {
  readonly program: string;
  /** The environment without `GIT_*`. */
  readonly environment: Readonly<Record<string, string>>;
  /** Runs git in `folder`; throws `GitError` where the exit code is not among `expect` (default: 0). */
  run(folder: string, args: readonly string[], options?: RunOptions): Promise<RunResult>;
  /** Like `run`, but gives trimmed text. */
  text(folder: string, args: readonly string[], options?: RunOptions): Promise<string>;
}

export interface RunOptions {
  readonly input?: Uint8Array | string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly expect?: readonly number[];
}

export interface RunResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** git ended in a way that the caller did not expect. */
export class GitError extends Error {
  override readonly name = 'GitError';

  constructor(
    readonly args: readonly string[],
    readonly exitCode: number,
    readonly stderr: string,
    /** An errno name such as `ENOSPC`, where git's words tell one. */
    readonly code: string | undefined,
  ) {
    super(`git ${args.slice(0, 3).join(' ')} ended with ${exitCode}: ${stderr.trim().slice(0, 2000)}`);
  }
}

/** Settings given with every call, as `key=value`. */
export const safeSettings: readonly string[] = [
  `core.hooksPath=${devNull}`,
  'core.fsmonitor=false',
  // The temporary indexes of captures need no sync: they are thrown away. Objects and refs do.
  'core.fsync=all,-index',
  'core.fsyncMethod=batch',
  'core.quotePath=false',
  'core.safecrlf=false',
  'core.splitIndex=false',
  'core.untrackedCache=false',
  'core.preloadIndex=true',
  'gc.auto=0',
  'maintenance.auto=false',
  'commit.gpgSign=false',
  'advice.detachedHead=false',
  'merge.directoryRenames=false',
  'submodule.recurse=false',
  'diff.ignoreSubmodules=none',
  'checkout.workers=0',
];

export function createRunner(program: string, environment: NodeJS.ProcessEnv): GitRunner {
  const clean = cleanEnvironment(environment);
  const settings = safeSettings.flatMap((setting) => ['-c', setting]);

  async function run(folder: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    const once = (): Promise<RunResult> =>
      collect(program, [...settings, ...args], folder, { ...clean, ...options.environment }, options.input);
    let result = await once();
    // A git that could not write could not take its lock back either.
    const lock = /Unable to create '(.+\.lock)': File exists/.exec(result.stderr)?.[1];
    if (result.exitCode !== 0 && lock !== undefined && (await clearOurLock(lock))) result = await once();
    if (!(options.expect ?? [0]).includes(result.exitCode))
      throw new GitError(args, result.exitCode, result.stderr, errnoOf(result.stderr));
    return result;
  }

  return {
    program,
    environment: clean,
    run,
    async text(folder, args, options) {
      return (await run(folder, args, options)).stdout.toString('utf8').trim();
    },
  };
}

/** The caller's environment without `GIT_*`, and with what keeps git quiet and in English. */
export function cleanEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  const clean: Record<string, string> = {};
  for (const [key, value] of Object.entries(environment))
    if (value !== undefined && !key.toUpperCase().startsWith('GIT_')) clean[key] = value;
  return { ...clean, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' };
}

/** Splits NUL-ended output into its texts. */
export function splitNul(bytes: Uint8Array): readonly string[] {
  const texts = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8').split('\0');
  if (texts.at(-1) === '') texts.pop();
  return texts;
}

/** Joins texts so that `-z --stdin` reads them. */
export function joinNul(texts: Iterable<string>): string {
  let joined = '';
  for (const text of texts) joined += `${text}\0`;
  return joined;
}

function collect(
  program: string,
  args: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>>,
  input: Uint8Array | string | undefined,
): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: folder,
      env: environment,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve({
        exitCode: code ?? (signal === null ? -1 : 128),
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr).toString('utf8'),
      });
    });
    if (input !== undefined) {
      // git may end before it has read everything (EPIPE); its exit code then tells why.
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(input);
    }
  });
}

function errnoOf(stderr: string): string | undefined {
  if (/no space left on device/i.test(stderr)) return 'ENOSPC';
  if (/read-only file system/i.test(stderr)) return 'EROFS';
  if (/permission denied/i.test(stderr)) return 'EACCES';
  if (/input\/output error/i.test(stderr)) return 'EIO';
  if (/file ?name too long/i.test(stderr)) return 'ENAMETOOLONG';
  if (/disk quota exceeded/i.test(stderr)) return 'EDQUOT';
  return undefined;
}
