import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { entry, privateFolder } from '../fsCalls.js';

/** The shortest limit among the systems, with room for the closing zero. */
const longestSocketPath = 100;

/**
 * A name for the owner's socket: in a folder that only this user can enter, for a path inside the repository may be
 * longer than a socket's can be, and on file systems without sockets. On Windows a pipe.
 */
export async function socketPath(swarm: string, nonce: string): Promise<string> {
  const name = `${createHash('sha256').update(swarm).digest('hex').slice(0, 8)}-${nonce.slice(0, 8)}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\swarm-${name}`;
  const user = typeof process.getuid === 'function' ? process.getuid() : 0;
  for (const parent of [process.env['XDG_RUNTIME_DIR'], os.tmpdir(), '/tmp']) {
    if (parent === undefined || !path.isAbsolute(parent)) continue;
    const folder = path.join(parent, `swarm-${user}`);
    const file = path.join(folder, name);
    if (Buffer.byteLength(file) <= longestSocketPath && (await ownFolder(folder, user))) return file;
  }
  throw new Error('There is no folder for a socket that only you can enter; set XDG_RUNTIME_DIR.');
}

/** Makes the folder if it is missing; false where it is someone else's or open to others. */
async function ownFolder(folder: string, user: number): Promise<boolean> {
  await fs.mkdir(folder, { mode: privateFolder }).catch(() => undefined);
  const stats = await entry(folder).catch(() => null);
  return stats !== null && stats.isDirectory() && stats.uid === user && (stats.mode & 0o077) === 0;
}
