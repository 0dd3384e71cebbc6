// The extension in the real VS Code: its tests in the extension host, then the installed package in a window.
// `node test/vscode/run.mjs [host|folders|ui]`. The last line says how many passed and failed; screenshots are in artifacts/vscode.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { format } from 'node:util';
import { fileURLToPath } from 'node:url';
import { chromium as browser } from 'playwright-core';
import { packageExtension } from '../../scripts/package.mjs';
import { chromium, installServer, startServer } from '../../scripts/vscodeServer.mjs';
import { buildTests } from './build.mjs';
import { makeWorkspace, testSettings } from './workspace.mjs';

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const artifacts = path.join(root, 'artifacts', 'vscode');
const wanted = process.argv.slice(2);
const asked = (name) => wanted.length === 0 || wanted.includes(name);

rmSync(artifacts, { recursive: true, force: true });
mkdirSync(artifacts, { recursive: true });
const [, executable, tests] = await Promise.all([installServer(), chromium(), buildTests()]);
const results = [];
const vsix = await packageExtension(path.join(artifacts, 'swarm-panel.vsix'));
if (asked('host')) results.push(await extensionHostTests('host', [makeWorkspace()]));
if (asked('folders')) results.push(await severalFolders());
if (asked('ui')) results.push(await windowTests());
const passed = results.reduce((sum, result) => sum + result.passed, 0);
const failed = results.reduce((sum, result) => sum + result.failed, 0);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

/** The tests run inside the extension host; the file they write decides, since VS Code ends with 0 all the same. */
async function extensionHostTests(suite, repositories, opened = repositories[0]) {
  const profile = mkdtempSync(path.join(os.tmpdir(), 'swarm-host-'));
  const file = path.join(artifacts, `${suite}.json`);
  const server = await startServer({
    profile,
    privateHome: true,
    smokeTest: true,
    settings: testSettings(),
    env: { SWARM_TEST_RESULTS: file, SWARM_TEST_SUITE: suite },
  });
  const chrome = await browser.launch({
    executablePath: executable,
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const page = await chrome.newPage();
    let running = true;
    const ended = new Promise((resolve) => {
      const timer = setTimeout(() => resolve('the tests hung'), 900_000);
      void page.exposeFunction('codeAutomationExit', (code) => {
        clearTimeout(timer);
        running = false;
        resolve(code);
      });
    });
    await page.exposeFunction('codeAutomationLog', (_type, args) => {
      const text = format(...args);
      if (running && text.startsWith('[test] ')) process.stdout.write(`${text.slice(7)}\n`);
    });
    const remote = (target) => `vscode-remote://127.0.0.1:${server.port}${target}`;
    const payload = [
      ['extensionDevelopmentPath', remote(root)],
      ['extensionTestsPath', remote(tests.host)],
    ];
    await page.goto(server.windowAddress(opened, payload));
    const code = await ended;
    return read(file, code);
  } finally {
    await chrome.close();
    await server.stop();
    for (const folder of repositories) await sweep(folder);
  }
}

/** Two repositories in one window, one of them by two folders. */
function severalFolders() {
  const repositories = [makeWorkspace('shop'), makeWorkspace('depot')];
  const [shop, depot] = repositories;
  const file = path.join(path.dirname(shop), 'both.code-workspace');
  const folders = [shop, path.join(shop, 'src'), depot].map((folder) => ({ path: folder }));
  writeFileSync(file, JSON.stringify({ folders }));
  return extensionHostTests('folders', repositories, file);
}

async function windowTests() {
  const file = path.join(artifacts, 'ui.json');
  const child = spawn(process.execPath, [tests.ui], {
    stdio: 'inherit',
    env: {
      ...process.env,
      SWARM_VSIX: vsix,
      SWARM_CHROMIUM: executable,
      SWARM_ARTIFACTS: artifacts,
      SWARM_TEST_RESULTS: file,
    },
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  return read(file, code);
}

function read(file, code) {
  try {
    const { passes, pending, failures } = JSON.parse(readFileSync(file, 'utf8'));
    for (const { title, message } of failures) process.stdout.write(`\nFAILED ${title}\n${message}\n`);
    // A test that was left out holds nothing.
    const failed = failures.length + pending;
    return { passed: passes, failed: failed === 0 && (code !== 0 || passes === 0) ? 1 : failed };
  } catch {
    process.stdout.write(`\nNo results were written (ended with ${code}).\n`);
    return { passed: 0, failed: 1 };
  }
}

/** Agents outlive the window by design; those of a test do not outlive the test. */
function sweep(folder) {
  return new Promise((resolve) => {
    const cli = path.join(root, 'dist', 'cli.js');
    execFile(process.execPath, [cli, '-C', folder, 'stop', '--all'], { timeout: 20_000 }, () => resolve());
  });
}
