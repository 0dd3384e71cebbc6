import { copyFile, mkdir, rm, stat, utimes } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { GitRunner } from './runner.js';

/** An index of our own, so that the user's and the agent's stay as they are, even while theirs is locked. */
export interface TemporaryIndex {
  readonly file: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Where a temporary index begins: from another index (whose file times make later comparison cheap) or from a tree. */
export interface IndexStart {
  readonly index: string | null;
  readonly tree: string | null;
}

/**
 * Makes git see files that are there although the sparse checkout leaves their paths out; without it an edit outside
 * of the cone would be overlooked. Harmless in a full checkout.
 */
export const sparseEnvironment: Readonly<Record<string, string>> = {
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'core.sparseCheckout',
  GIT_CONFIG_VALUE_0: 'true',
};

/** Gives `use` a temporary index and removes it afterwards. */
export async function withTemporaryIndex<Result>(
  runner: GitRunner,
  folder: string,
  gitDir: string,
  start: IndexStart,
  use: (index: TemporaryIndex) => Promise<Result>,
): Promise<Result> {
  const home = path.join(gitDir, 'swarm-panel');
  await mkdir(home, { recursive: true });
  const file = path.join(home, `index-${process.pid}-${randomUUID()}`);
  const environment = { GIT_INDEX_FILE: file, ...sparseEnvironment };
  try {
    const copied = start.index !== null && (await copyIndex(start.index, file));
    if (!copied && start.tree !== null) await runner.run(folder, ['read-tree', start.tree], { environment });
    return await use({ file, environment });
  } finally {
    await Promise.all([rm(file, { force: true }), rm(`${file}.lock`, { force: true })]);
  }
}

/**
 * Copies an index with its time stamp: git takes an entry as unchanged only if it is older than the index file, so a
 * younger copy would hide an edit made in the same moment. Rounded down, which can only make git look closer.
 */
export async function copyIndex(from: string, to: string): Promise<boolean> {
  try {
    const before = await stat(from);
    await copyFile(from, to);
    const time = new Date(Math.floor(before.mtimeMs));
    await utimes(to, time, time);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
