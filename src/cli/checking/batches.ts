import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Whether children of any batch may work in the user's tree; told from the batches as launched, without the journal. */
export async function hasSharedBatch(swarm: string): Promise<boolean> {
  const folder = join(swarm, 'batches');
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const text = await readFile(join(folder, name, 'batch.json'), 'utf8').catch(() => null);
    try {
      const batch = text === null ? null : (JSON.parse(text) as { readonly isolation?: unknown } | null);
      if (batch?.isolation === 'shared') return true;
    } catch {
      // Whoever owns the folder says what is wrong with it.
      return true;
    }
  }
  return false;
}
