import path from 'node:path';
import { bundle } from '../../support/bundle.js';

/** Bundles the command line as it is in `src` into a folder, for tests that need it beside a supervisor of their own. */
export async function buildCli(folder: string): Promise<string> {
  const out = path.join(folder, 'cli');
  await bundle({ cli: path.resolve(import.meta.dirname, '../../../src/cli/main.ts') }, out);
  return path.join(out, 'cli.mjs');
}
