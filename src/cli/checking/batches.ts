import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Whether children of any batch may work in the user's tree; told from the batches as launched, without the journal. */
export async function hasSharedBatch(swarm: string): Promise<boolean> {
  const folder = join(swarm, 'batches');
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const text = await readFile(join(folder, name, 'batch.json'), 'utf8').catch(() => null);
    try {
      if (text !== null && isShared(JSON.parse(text))) return true;
    } catch {
      // Whoever owns the folder says what is wrong with it.
      return true;
    }
  }
  return false;
}

function isShared(value: unknown): boolean {
  return JSON.stringify(value).includes('"isolation":"shared"');
}
