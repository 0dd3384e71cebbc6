import { lstatSync, type Stats } from 'node:fs';
import path from 'node:path';
import { attemptPlace, childPlace } from '../../../protocol/places.js';
import { StoreError } from '../../ports.js';
import { isMissing, mkdir } from '../fsCalls.js';

/** Folders of `.swarm` that must be folders, not links to elsewhere. */
export const ownFolders = ['lock', 'journal', 'batches', 'corrupt'] as const;

/** A name that may be part of a path: ids of batches and children. */
const idPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

export function childPath(batch: string, child: string): string {
  refuseOtherNames(batch, child);
  return path.normalize(childPlace(batch, child));
}

export function attemptPath(batch: string, child: string, attempt: number): string {
  refuseOtherNames(batch, child);
  return path.normalize(attemptPlace(batch, child, Math.trunc(attempt)));
}

function refuseOtherNames(...ids: readonly string[]): void {
  for (const id of ids) if (!idPattern.test(id)) throw new Error(`${JSON.stringify(id)} is no id.`);
}

/**
 * The absolute path of something below the folder. Refused: paths that leave it, and any part on the way that is a
 * symbolic link.
 */
export function pathBelow(folder: string, relative: string): string {
  const parts = partsOf(relative);
  let at = folder;
  for (const part of parts) {
    at = path.join(at, part);
    const stats = look(at);
    if (stats === null) break;
    refuseLink(at, stats);
  }
  return path.join(folder, ...parts);
}

/** Makes the folders on the way to a path below the folder. */
export async function makeFolders(folder: string, relative: string): Promise<string> {
  let at = folder;
  for (const part of partsOf(relative)) {
    at = path.join(at, part);
    let stats = look(at);
    if (stats === null) {
      await mkdir(at);
      stats = look(at);
    }
    if (stats !== null && !isOwnFolder(stats))
      throw new StoreError('disk', `${at} is not a folder of its own. Nothing is written through it.`);
  }
  return at;
}

/** The absolute path of a file below the folder whose folders are made; refused as above. */
export async function placeBelow(folder: string, relative: string): Promise<string> {
  const parts = partsOf(relative);
  const parent = parts.length === 1 ? folder : await makeFolders(folder, parts.slice(0, -1).join('/'));
  const file = path.join(parent, parts.at(-1) ?? '');
  const stats = look(file);
  if (stats !== null) refuseLink(file, stats);
  return file;
}

/** Every file that is written is looked for on its whole way: at once, for a turn of the event loop costs more. */
function look(file: string): Stats | null {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function refuseLink(file: string, stats: Stats): void {
  if (stats.isSymbolicLink())
    throw new StoreError('disk', `${file} is a symbolic link. Nothing is written through it.`);
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
