import path from 'node:path';
import { build } from 'esbuild';

/** Bundles the command line as it is in `src` into a folder, for tests that need it beside a supervisor of their own. */
export async function buildCli(folder: string): Promise<string> {
  const outfile = path.join(folder, 'cli', 'cli.mjs');
  await build({
    entryPoints: [path.resolve(import.meta.dirname, '../../../src/cli/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
  });
  return outfile;
}
