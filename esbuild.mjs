// Builds everything that ships into dist/: the extension, the command line, the demo and the panel.
import { build } from 'esbuild';
import { existsSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

const minify = !process.argv.includes('--debug');

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  minify,
  sourcemap: minify ? false : 'linked',
  legalComments: 'none',
  logLevel: 'warning',
};

// CommonJS packages inside an ES module bundle still ask for `require`.
const requireBanner =
  "import { createRequire as swarmCreateRequire } from 'node:module'; const require = swarmCreateRequire(import.meta.url);";

/**
 * The extension loads the supervisor when it is needed: its own bundle stays small, so that a window starts fast,
 * and the supervisor is in the package once, for the editor and the command line.
 */
const laterEngine = {
  name: 'later-engine',
  setup(build) {
    build.onResolve({ filter: /^\.\/engine\.js$/ }, () => ({ path: './engine.js', external: true }));
  },
};

export async function buildAll() {
  await rm('dist', { recursive: true, force: true });
  await Promise.all([
    build({
      ...shared,
      entryPoints: { extension: 'src/extension/extension.ts' },
      outdir: 'dist',
      outExtension: { '.js': '.cjs' },
      format: 'cjs',
      external: ['vscode'],
      plugins: [laterEngine],
    }),
    build({
      ...shared,
      entryPoints: {
        cli: 'src/cli/start.ts',
        acp: 'src/supervisor/acp/main.ts',
        local: 'src/supervisor/local/main.ts',
        demo: 'src/supervisor/demo/main.ts',
        engine: 'src/extension/engine.ts',
      },
      outdir: 'dist',
      format: 'esm',
      splitting: true,
      chunkNames: 'chunk-[hash]',
      banner: { js: `#!/usr/bin/env node\n${requireBanner}` },
    }),
    existsSync('scripts/buildWebview.mjs')
      ? import(pathToFileURL('scripts/buildWebview.mjs').href).then((m) =>
          m.buildWebview({ outdir: 'dist', minify }),
        )
      : undefined,
  ]);
  await Promise.all(
    ['dist/cli.js', 'dist/demo.js', 'dist/acp.js', 'dist/local.js'].map((file) => chmod(file, 0o755)),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildAll();
