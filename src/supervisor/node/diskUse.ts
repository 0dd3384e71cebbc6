import fs from 'node:fs/promises';
import path from 'node:path';

/** Bytes that a folder takes on the disk; links are not followed, what cannot be read counts nothing. */
export async function sizeOf(folder: string): Promise<number> {
  let sum = 0;
  for (const name of await fs.readdir(folder).catch(() => [])) {
    const stats = await fs.lstat(path.join(folder, name)).catch(() => null);
    if (stats === null) continue;
    // Blocks, not length: the middle of a long log may have been given back to the disk.
    sum += stats.isDirectory() ? await sizeOf(path.join(folder, name)) : (stats.blocks ?? 0) * 512;
  }
  return sum;
}
