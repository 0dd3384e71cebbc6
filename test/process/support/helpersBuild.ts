import path from 'node:path';
import type { SupervisorOptions } from '../../../src/supervisor/api.js';
import { helperPrograms } from '../../../src/supervisor/helpers.js';
import { bundle } from '../../support/bundle.js';

/** Bundles the helpers as they are in `src` into a folder. */
export async function buildHelpers(folder: string): Promise<NonNullable<SupervisorOptions['helpers']>> {
  const source = path.resolve(import.meta.dirname, '../../../src/supervisor');
  const programs = { acp: path.join(source, 'acp/main.ts'), local: path.join(source, 'local/main.ts') };
  await bundle(programs, folder, '.js');
  return helperPrograms(folder);
}
