// Bundles the tests: those of the extension host as the CommonJS file that VS Code loads, those of the window for Node.
import { build } from 'esbuild';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.join(here, '..', '..', 'out', 'vscode');

/** @returns {Promise<{ host: string, ui: string }>} */
export async function buildTests() {
  const shared = { bundle: true, platform: 'node', sourcemap: 'inline', logLevel: 'warning', outdir: out };
  await Promise.all([
    build({
      ...shared,
      entryPoints: { host: path.join(here, 'host', 'index.ts') },
      outExtension: { '.js': '.cjs' },
      format: 'cjs',
      target: 'node20',
      external: ['vscode', 'mocha'],
    }),
    build({
      ...shared,
      entryPoints: { ui: path.join(here, 'ui', 'index.ts') },
      outExtension: { '.js': '.mjs' },
      format: 'esm',
      target: 'node20',
      packages: 'external',
      plugins: [scriptsStay],
    }),
  ]);
  return { host: path.join(out, 'host.cjs'), ui: path.join(out, 'ui.mjs') };
}

/** Scripts find their files from where they are, so they stay there. */
const scriptsStay = {
  name: 'scripts-stay',
  setup(bundle) {
    bundle.onResolve({ filter: /^\..*\.mjs$/ }, ({ path: name, resolveDir }) => ({
      path: pathToFileURL(path.resolve(resolveDir, name)).href,
      external: true,
    }));
  },
};
