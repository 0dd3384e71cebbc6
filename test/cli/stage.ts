import { execFileSync, spawn } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../..');
export const cli = path.join(root, 'dist', 'cli.js');

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built command line to its end. */
export async function swarm(
  folder: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly input?: string } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [cli, '-C', folder, ...args], {
    env: { ...quietEnv(folder), ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.end(options.input ?? '');
  const code = await new Promise<number | null>((done) => child.on('close', done));
  return { code, stdout, stderr };
}

/** The surroundings without the person's own settings. */
function quietEnv(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, XDG_CONFIG_HOME: path.join(path.dirname(folder), 'no-config'), NO_COLOR: '1' };
}

/** An empty folder of its own; `parent` is removed by `clean`. */
export function temporaryFolder(): { readonly folder: string; readonly clean: () => void } {
  const parent = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'swarm-cli-')));
  const folder = path.join(parent, 'repository');
  mkdirSync(folder);
  return { folder, clean: () => rmSync(parent, { recursive: true, force: true, maxRetries: 5 }) };
}

export function git(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.invalid', ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
}

export function commitFiles(folder: string, files: Readonly<Record<string, string>>): void {
  git(folder, 'init', '-q');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  git(folder, 'add', '-A');
  git(folder, 'commit', '-q', '-m', 'start');
}

/** Every path below the folder with its kind and bytes: two listings are equal only if nothing was touched. */
export function everything(folder: string): readonly string[] {
  return (readdirSync(folder, { recursive: true }) as string[]).sort().map((name) => {
    const file = path.join(folder, name);
    const stat = lstatSync(file);
    if (stat.isSymbolicLink()) return `${name} -> ${readlinkSync(file)}`;
    return stat.isDirectory() ? `${name}/` : `${name} ${readFileSync(file).toString('base64')}`;
  });
}

/** A child that writes a file and is done, as a program for the `command` executor. */
export const worker = `
import { mkdirSync, writeFileSync } from 'node:fs';
const name = process.env.SWARM_CHILD;
mkdirSync('out', { recursive: true });
console.log(JSON.stringify({ type: 'session', id: 'session-' + name }));
writeFileSync('out/' + name + '.txt', name + '\\n');
console.log(JSON.stringify({ type: 'write', path: 'out/' + name + '.txt' }));
console.log(JSON.stringify({ type: 'done', result: 'wrote ' + name }));
`;
