import { createHash } from 'node:crypto';
import { open, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { FileState } from '../research/research.js';

/** Above this a file's content says little for a brief and costs much to hash. */
const largest = 8 * 1024 * 1024;

/** A file as it is now; null where it is missing, no plain file, too large or unreadable. Never throws. */
export async function fileState(
  folder: string,
  name: string,
  objectFormat: 'sha1' | 'sha256',
): Promise<FileState | null> {
  try {
    const handle = await open(path.resolve(folder, name), 'r');
    try {
      const stat = await handle.stat();
      if (!stat.isFile() || stat.size > largest) return null;
      const content = await handle.readFile();
      return {
        sha256: createHash('sha256').update(content).digest('hex'),
        blob: createHash(objectFormat).update(`blob ${content.length}\0`).update(content).digest('hex'),
        modifiedAt: stat.mtimeMs,
      };
    } finally {
      await handle.close();
    }
  } catch {
    return null;
  }
}

/** Text of a file, bounded; null where there is none. Never throws. */
export async function readText(file: string, most: number): Promise<string | null> {
  try {
    const handle = await open(file, 'r');
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) return null;
      // The end of a growing file is what is new in it.
      const start = Math.max(0, stat.size - most);
      const buffer = Buffer.alloc(Math.min(stat.size, most));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch {
    return null;
  }
}

const mostFolders = 2000;

/** A file below a folder whose path fulfils the condition, newest names first; null where there is none. Never throws. */
export async function findFile(folder: string, matches: (file: string) => boolean): Promise<string | null> {
  const open = [folder];
  for (let looked = 0; open.length > 0 && looked < mostFolders; looked++) {
    const current = open.pop() ?? folder;
    const entries = await readdir(current, { withFileTypes: true }).catch(() => []);
    const found = entries.find((entry) => entry.isFile() && matches(path.join(current, entry.name)));
    if (found !== undefined) return path.join(current, found.name);
    // Agents sort their sessions by date, so the last name is the newest and is looked at first.
    const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
    open.push(...folders.sort().map((name) => path.join(current, name)));
  }
  return null;
}
