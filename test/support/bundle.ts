import { build } from 'esbuild';

/** Bundles programs as they are in `src` or in the tests into files of these names that plain Node runs. */
export async function bundle(
  entryPoints: Readonly<Record<string, string>>,
  folder: string,
  extension: '.js' | '.mjs' = '.mjs',
): Promise<void> {
  await build({
    entryPoints: { ...entryPoints },
    outdir: folder,
    outExtension: { '.js': extension },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    // Bundled packages that are CommonJS ask for Node's own modules.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
  });
}
