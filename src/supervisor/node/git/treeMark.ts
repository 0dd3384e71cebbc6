import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import type { Repository } from '../../ports/git.js';
import { splitNul, type GitRunner } from './runner.js';

/**
 * Is another after any edit in the user's tree, and after HEAD has moved: what git says of it, and of each path that
 * differs how the file is. What no capture takes is not looked at.
 */
export async function treeMark(runner: GitRunner, { topLevel }: Repository): Promise<string> {
  const status = await runner.run(topLevel, [
    '-c',
    'core.ignorecase=false',
    'status',
    '--porcelain=v2',
    '--branch',
    '--no-ahead-behind',
    '--no-renames',
    '--untracked-files=all',
    '--ignore-submodules=dirty',
    '-z',
    '--',
    ':(top)',
    ':(top,exclude).swarm',
    ':(top,exclude,glob)**/node_modules/**',
  ]);
  const hash = createHash('sha256').update(status.stdout);
  const paths = splitNul(status.stdout).flatMap((line) => pathIn(line) ?? []);
  for (const state of await Promise.all(paths.map((file) => stateOf(path.join(topLevel, file)))))
    hash.update(`${state}\0`);
  return hash.digest('hex');
}

/** Fields before the path, by the kind of line. */
const fields: Readonly<Record<string, number>> = { '1': 8, u: 10, '?': 1 };

function pathIn(line: string): string | null {
  const before = fields[line[0] ?? ''];
  return before === undefined ? null : line.split(' ').slice(before).join(' ');
}

async function stateOf(file: string): Promise<string> {
  try {
    const { mtimeNs, ctimeNs, size, ino, mode } = await lstat(file, { bigint: true });
    return `${mtimeNs} ${ctimeNs} ${size} ${ino} ${mode}`;
  } catch {
    return '';
  }
}
