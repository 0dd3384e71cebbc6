import path from 'node:path';
import { build } from 'esbuild';
import type { SupervisorOptions } from '../../../src/supervisor/api.js';
import { helperPrograms } from '../../../src/supervisor/helpers.js';

/** Bundles the helpers as they are in `src` into a folder. */
export async function buildHelpers(folder: string): Promise<NonNullable<SupervisorOptions['helpers']>> {
  const source = path.resolve(import.meta.dirname, '../../../src/supervisor');
  await build({
    entryPoints: { acp: path.join(source, 'acp/main.ts'), local: path.join(source, 'local/main.ts') },
    outdir: folder,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
  });
  return helperPrograms(folder);
}
