// Makes a fresh clone ready: installs the pinned packages and builds, each only when something has changed.
// Runs before `npm start` and `npm test`, so it uses nothing but Node.js.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

export function setUp({ build = true } = {}) {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < 20) fail(`Node.js ${process.versions.node} is too old. Install Node.js 20 or newer.`);
  if (spawnSync('git', ['--version']).error) fail('git was not found. Install git 2.38 or newer.');
  install();
  if (build) buildIfOlder();
}

function install() {
  const wanted = hash(['package-lock.json']);
  const stamp = path.join(root, 'node_modules', '.swarm-installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  step('Installing packages');
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stamp, wanted);
}

function buildIfOlder() {
  const files = [
    ...list(path.join(root, 'src')),
    ...list(path.join(root, 'media')),
    'esbuild.mjs',
    'package-lock.json',
  ].map((file) => path.resolve(root, file));
  const wanted = hash(files);
  const stamp = path.join(root, 'dist', '.built');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  step('Building');
  run(process.execPath, ['esbuild.mjs']);
  mkdirSync(path.dirname(stamp), { recursive: true });
  writeFileSync(stamp, wanted);
}

function list(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
}

function hash(files) {
  const sum = createHash('sha256');
  for (const file of [...files].sort())
    sum
      .update(path.relative(root, path.resolve(root, file)))
      .update('\0')
      .update(readFileSync(path.resolve(root, file)));
  return sum.digest('hex');
}

function run(program, args) {
  const ended = spawnSync(program, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (ended.status !== 0) fail(`${program} ${args.join(' ')} failed.`);
}

function step(text) {
  process.stderr.write(`${text} ...\n`);
}

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  setUp({ build: !process.argv.includes('--no-build') });
