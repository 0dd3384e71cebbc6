// The extension's tests in a desktop VS Code, which is downloaded once (or named in SWARM_VSCODE, a path, or
// SWARM_VSCODE_VERSION, such as 1.100.0 or insiders). The last line says how many passed and failed.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { downloadAndUnzipVSCode, runTests } from '@vscode/test-electron';
import { setUp } from '../../scripts/setup.mjs';
import { plainSettings } from '../../scripts/vscodeServer.mjs';
import { buildTests } from '../vscode/build.mjs';
import { makeWorkspace, testSettings } from '../vscode/workspace.mjs';

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const artifacts = path.join(root, 'artifacts', 'desktop');

setUp();
process.exitCode = await main();

async function main() {
  if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY)
    return refuse('There is no screen. Run it as: xvfb-run -a npm run test:desktop');
  const vscodeExecutablePath = await executable();
  if (vscodeExecutablePath === null) return 1;
  rmSync(artifacts, { recursive: true, force: true });
  mkdirSync(artifacts, { recursive: true });
  const { host } = await buildTests();
  const file = path.join(artifacts, 'host.json');
  const code = await runTests({
    vscodeExecutablePath,
    extensionDevelopmentPath: root,
    extensionTestsPath: host,
    extensionTestsEnv: { SWARM_TEST_RESULTS: file },
    launchArgs: [
      makeWorkspace(),
      ...['--user-data-dir', profile()],
      ...['--disable-extensions', '--disable-workspace-trust', '--disable-gpu', '--skip-welcome'],
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  }).catch(() => 1);
  return report(file, code);
}

async function executable() {
  if (process.env.SWARM_VSCODE) return process.env.SWARM_VSCODE;
  try {
    return await downloadAndUnzipVSCode({ version: process.env.SWARM_VSCODE_VERSION ?? 'stable' });
  } catch (error) {
    refuse(
      `VS Code could not be downloaded (${error instanceof Error ? error.message : String(error)}). ` +
        'Name one that is installed in SWARM_VSCODE, or use npm run test:vscode, which needs no desktop.',
    );
    return null;
  }
}

/** A short path: the editor's socket lies in it, and sockets have short names. */
function profile() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'swd-'));
  mkdirSync(path.join(folder, 'User'), { recursive: true });
  writeFileSync(
    path.join(folder, 'User', 'settings.json'),
    JSON.stringify({ ...plainSettings, ...testSettings() }),
  );
  return folder;
}

function report(file, code) {
  try {
    const { passes, pending, failures } = JSON.parse(readFileSync(file, 'utf8'));
    for (const { title, message } of failures) process.stdout.write(`\nFAILED ${title}\n${message}\n`);
    // A test that was left out holds nothing.
    const failed = failures.length + pending;
    process.stdout.write(`\n${passes} passed, ${failed} failed\n`);
    return failed === 0 && passes > 0 ? 0 : 1;
  } catch {
    return refuse(`No results were written (ended with ${code}).`);
  }
}

function refuse(why) {
  process.stdout.write(`${why}\n\n0 passed, 1 failed\n`);
  return 1;
}
