import fs from 'node:fs/promises';
import path from 'node:path';

/** Bytes that a folder takes on the disk; links are not followed, what cannot be read counts nothing. */
export async function diskUse(folder: string): Promise<number> {
  let bytes = 0;
  const entries = await fs.readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) bytes += await diskUse(file);
    else bytes += await fs.lstat(file).then(onDisk, () => 0);
  }
  return bytes;
}

/** Blocks, not length: the middle of a long log may have been given back to the disk. */
function onDisk(stats: { readonly size: number; readonly blocks: number }): number {
  return process.platform === 'win32' ? stats.size : stats.blocks * 512;
}
