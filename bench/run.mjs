// Bundles a bench and runs it: `node bench/run.mjs verdict`, `node bench/run.mjs verdictReport [files]`.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const [name = '', ...args] = process.argv.slice(2);
const source = path.join(root, 'bench', `${name}.ts`);
if (!/^\w+$/.test(name) || !existsSync(source)) {
  process.stderr.write(`There is no bench "${name}".\n`);
  process.exit(2);
}
const folder = mkdtempSync(path.join(os.tmpdir(), 'swarm-bench-'));
try {
  const outfile = path.join(folder, `${name}.mjs`);
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    // Bundled packages that are CommonJS ask for Node's own modules.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
  });
  const { status } = spawnSync(process.execPath, [outfile, ...args], { cwd: root, stdio: 'inherit' });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
