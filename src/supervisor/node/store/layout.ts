import type { Stats } from 'node:fs';
import path from 'node:path';
import { StoreError } from '../../ports.js';
import { entry, mkdir } from '../fsCalls.js';

/** Folders of `.swarm` that must be folders, not links to elsewhere. */
export const ownFolders = ['lock', 'journal', 'batches', 'corrupt'] as const;

/** A name that may be part of a path: ids of batches and children. */
const idPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

export function childPath(batch: string, child: string): string {
  for (const id of [batch, child])
    if (!idPattern.test(id)) throw new Error(`${JSON.stringify(id)} is no id.`);
  return path.join('batches', batch, 'children', child);
}

/**
 * The absolute path of something below the folder. Refused: paths that leave it, and any part on the way that is a
 * symbolic link.
 */
export async function pathBelow(folder: string, relative: string): Promise<string> {
  const parts = partsOf(relative);
  let at = folder;
  for (const part of parts) {
    at = path.join(at, part);
    const stats = await entry(at);
    if (stats === null) break;
    if (stats.isSymbolicLink())
      throw new StoreError('disk', `${at} is a symbolic link. Nothing is written through it.`);
  }
  return path.join(folder, ...parts);
}

/** Makes the folders on the way to a path below the folder. */
export async function makeFolders(folder: string, relative: string): Promise<string> {
  let at = folder;
  for (const part of partsOf(relative)) {
    at = path.join(at, part);
    let stats = await entry(at);
    if (stats === null) {
      await mkdir(at);
      stats = await entry(at);
    }
    if (stats !== null && !isOwnFolder(stats))
      throw new StoreError('disk', `${at} is not a folder of its own. Nothing is written through it.`);
  }
  return at;
}

export function isOwnFolder(stats: Stats): boolean {
  return stats.isDirectory() && !stats.isSymbolicLink();
}

function partsOf(relative: string): readonly string[] {
  const parts = relative.split(/[\\/]/).filter((part) => part !== '' && part !== '.');
  if (path.isAbsolute(relative) || parts.includes('..') || relative.includes('\0') || parts.length === 0)
    throw new Error(`${JSON.stringify(relative)} does not stay inside the folder.`);
  return parts;
}
