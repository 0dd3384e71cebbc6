import { build } from 'esbuild';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');

/**
 * Builds the panel: `webview.js`, `webview.css`, `codicon.css` and `codicon.ttf` in `outdir`.
 * Of the icon font's style sheet only what the panel names is kept.
 */
export async function buildWebview({ outdir, minify, metafile = false }) {
  await mkdir(outdir, { recursive: true });
  const result = await build({
    entryPoints: { webview: path.join(root, 'src/webview/main.ts') },
    outdir,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    tsconfig: path.join(root, 'tsconfig.webview.json'),
    minify,
    sourcemap: minify ? false : 'linked',
    legalComments: 'none',
    logLevel: 'warning',
    metafile,
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const codicons = path.dirname(createRequire(import.meta.url).resolve('@vscode/codicons/dist/codicon.css'));
  await copyFile(path.join(codicons, 'codicon.ttf'), path.join(outdir, 'codicon.ttf'));
  await writeFile(
    path.join(outdir, 'codicon.css'),
    codiconRules(await readFile(path.join(codicons, 'codicon.css'), 'utf8'), await namedInSources()),
  );
  return result;
}

/** The rules for the font itself and for each named icon. */
export function codiconRules(css, names) {
  const base = css.slice(0, css.search(/\.codicon-[a-z0-9-]+:before/));
  const rules = [...css.matchAll(/\.codicon-([a-z0-9-]+):before\s*\{[^}]*\}/g)];
  const kept = rules.filter(([, name]) => names.has(name)).map(([rule]) => rule);
  return base.replaceAll(/url\("[^"]*codicon\.ttf[^"]*"\)/g, 'url("codicon.ttf")') + kept.join('\n') + '\n';
}

/** Every quoted lower-case word of the panel's sources: a superset of the icons it names. */
async function namedInSources() {
  const folder = path.join(root, 'src/webview');
  const names = new Set();
  for (const file of await readdir(folder)) {
    if (!file.endsWith('.ts')) continue;
    const text = await readFile(path.join(folder, file), 'utf8');
    for (const [, word] of text.matchAll(/['"]([a-z][a-z0-9-]+)['"]/g)) names.add(word);
  }
  return names;
}

if (process.argv[1] === import.meta.filename)
  await buildWebview({
    outdir: path.resolve(process.argv[2] ?? 'dist'),
    minify: process.argv.includes('--minify'),
  });
