import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';

export { emptyView, event, events, state } from './storeValues.js';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true, force: true });
});

/** A folder of its own that goes when the file's tests are over. */
export function temporary(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'swarm-test-'));
  folders.push(folder);
  return folder;
}
