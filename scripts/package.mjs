// Builds the VSIX and looks at what is in it: the exact list of files, their size, no sources, no secrets.
import { execFile } from 'node:child_process';
import { readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inflateRawSync } from 'node:zlib';
import { buildAll } from '../esbuild.mjs';

const run = promisify(execFile);
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** Everything that ships, and nothing else. */
const wanted = [
  '[Content_Types].xml',
  'extension.vsixmanifest',
  'extension/LICENSE.txt',
  'extension/changelog.md',
  'extension/dist/acp.js',
  'extension/dist/cli.js',
  'extension/dist/codicon.css',
  'extension/dist/codicon.ttf',
  'extension/dist/demo.js',
  'extension/dist/engine.js',
  'extension/dist/extension.cjs',
  'extension/dist/local.js',
  'extension/dist/webview.css',
  'extension/dist/webview.js',
  'extension/l10n/bundle.l10n.json',
  'extension/media/icon.png',
  'extension/media/swarm.svg',
  'extension/package.json',
  'extension/package.nls.json',
  'extension/readme.md',
];

/** What cli.js, engine.js and the helpers share; named by its content. */
const shared = /^extension\/dist\/chunk-[A-Z0-9]{8}\.js$/;

const largest = 1_000_000;

/** Shapes of secrets and of this machine's paths that must not be in a package. */
const forbidden = [
  /sk-ant-[A-Za-z0-9-]{20,}/,
  /\bsk-[A-Za-z0-9]{32,}/,
  /\bgh[pousr]_[A-Za-z0-9]{36}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\bAKIA[0-9A-Z]{16}\b/,
];

/**
 * Builds and packs the extension into `file` (default: in the repository's root) and looks at what is in it.
 * @param {string} [target]
 * @returns {Promise<string>} path of the package
 */
export async function packageExtension(target) {
  await buildAll();
  const { name, version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  const file = path.resolve(target ?? path.join(root, `${name}-${version}.vsix`));
  await rm(file, { force: true });
  const vsce = path.join(root, 'node_modules', '@vscode', 'vsce', 'vsce');
  // With a fixed time the package is the same, byte for byte, wherever it is built from one commit.
  const env = { ...process.env, SOURCE_DATE_EPOCH: process.env.SOURCE_DATE_EPOCH ?? (await commitTime()) };
  const options = ['--no-dependencies', '--allow-missing-repository', '--no-rewrite-relative-links'];
  await run(process.execPath, [vsce, 'package', ...options, '-o', file], { cwd: root, env });
  const problems = await problemsOf(file);
  if (problems.length > 0) throw new Error(`The package is not as it should be:\n- ${problems.join('\n- ')}`);
  return file;
}

async function problemsOf(file) {
  const { size } = await stat(file);
  const entries = zipEntries(await readFile(file));
  const names = entries.map(({ name }) => name);
  return [
    ...names
      .filter((name) => !wanted.includes(name) && !shared.test(name))
      .map((name) => `${name} does not belong in it`),
    ...wanted.filter((name) => !names.includes(name)).map((name) => `${name} is missing`),
    ...(size > largest ? [`it has ${size} bytes, more than ${largest}`] : []),
    ...entries.flatMap(({ name, text }) => [
      ...forbidden
        .filter((shape) => shape.test(text))
        .map((shape) => `${name} holds something like ${shape}`),
      ...(text.includes('sourceMappingURL=') ? [`${name} refers to a source map`] : []),
      ...(text.includes(root + path.sep) ? [`${name} holds a path of this machine`] : []),
    ]),
  ];
}

/** Time of the last commit in seconds; without git a fixed day. */
async function commitTime() {
  try {
    return (await run('git', ['log', '-1', '--format=%ct'], { cwd: root })).stdout.trim();
  } catch {
    return '1767225600';
  }
}

/** Names and texts of a zip file, by its central directory. */
function zipEntries(bytes) {
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  return Array.from({ length: count }, () => {
    const [method, packed] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20)];
    const lengths = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset));
    const local = bytes.readUInt32LE(at + 42);
    const name = bytes.toString('utf8', at + 46, at + 46 + lengths[0]);
    at += 46 + lengths[0] + lengths[1] + lengths[2];
    const from = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const data = bytes.subarray(from, from + packed);
    return { name, text: (method === 0 ? data : inflateRawSync(data)).toString('latin1') };
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = await packageExtension(process.argv[2]);
  process.stdout.write(
    `${path.relative(process.cwd(), file)} (${Math.ceil((await stat(file)).size / 1024)} kB)\n`,
  );
}
