// Runs the checks one after the other and says in one line how many passed and failed.
// `node scripts/test.mjs` all of `npm test`; `node scripts/test.mjs NAME ...` only these.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setUp } from './setup.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const results = path.join(root, 'artifacts', 'results');

/** Every check: what runs, and how its tests are counted (`one`: the command itself is one test). */
const checks = {
  types: {
    commands: [
      ['tsc', '-p', 'tsconfig.pure.json'],
      ['tsc', '-p', 'tsconfig.webview.json'],
      ['tsc', '-p', 'tsconfig.json'],
    ],
    count: 'one',
  },
  lint: { commands: [['eslint', '--max-warnings', '0', 'src', 'test', 'bench']], count: 'one' },
  format: { commands: [['prettier', '--check', '--log-level', 'warn', '.']], count: 'one' },
  unit: { vitest: 'unit' },
  // The same tests with every case, seed and cut; the inner loop takes a part of them.
  long: { vitest: 'unit', env: { SWARM_LONG: '1' } },
  process: { vitest: 'process' },
  panel: { prepare: browser, vitest: 'panel' },
  package: { commands: [['node', 'scripts/package.mjs']], count: 'one' },
  vscode: { prepare: browser, commands: [['node', 'test/vscode/run.mjs', 'host', 'folders']], count: 'line' },
  window: { prepare: browser, commands: [['node', 'test/vscode/run.mjs', 'ui']], count: 'line' },
  agents: { vitest: 'agents' },
  // The one part of the campaign that is quick; it needs `faketime`.
  clock: { vitest: 'faults', file: 'test/faults/clockJump.test.ts' },
  faults: { vitest: 'faults' },
};
const standard = ['types', 'lint', 'format', 'long', 'process', 'panel', 'package', 'vscode', 'window'];

setUp();
const names = process.argv.slice(2).filter((name) => !name.startsWith('-'));
const unknown = names.filter((name) => !(name in checks));
if (unknown.length > 0) {
  process.stderr.write(
    `There is no check ${unknown.join(', ')}. There are: ${Object.keys(checks).join(', ')}.\n`,
  );
  process.exit(2);
}
mkdirSync(results, { recursive: true });

let passed = 0;
let failed = 0;
for (const name of names.length > 0 ? names : standard) {
  const started = Date.now();
  process.stdout.write(`\n=== ${name}\n`);
  const result = await runCheck(name, checks[name]);
  passed += result.passed;
  failed += result.failed;
  process.stdout.write(
    `--- ${name}: ${result.passed} passed, ${result.failed} failed (${Math.round((Date.now() - started) / 1000)} s)\n`,
  );
}
writeFileSync(
  path.join(results, `${names.length > 0 ? names.join('-') : 'all'}.json`),
  JSON.stringify({ passed, failed }),
);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

async function runCheck(name, check) {
  try {
    await check.prepare?.();
  } catch (error) {
    process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return { passed: 0, failed: 1 };
  }
  return check.vitest ? runVitest(check.vitest, check.env, check.file) : runCommands(check);
}

async function runVitest(project, env, only) {
  const file = path.join(results, `vitest-${project}.json`);
  rmSync(file, { force: true });
  const { code } = await run(
    [
      'vitest',
      'run',
      '--project',
      project,
      ...(only === undefined ? [] : [only]),
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${file}`,
    ],
    env,
  );
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTotalTests } = JSON.parse(
      readFileSync(file, 'utf8'),
    );
    // A skipped test is a rule that nothing holds; a failed file without tests, or none at all, is a failure too.
    const wrong = numFailedTests + numPendingTests;
    return {
      passed: numPassedTests,
      failed: wrong + (wrong === 0 && (code !== 0 || numTotalTests === 0) ? 1 : 0),
    };
  } catch {
    return { passed: 0, failed: 1 };
  }
}

async function runCommands({ commands, count }) {
  let sum = { passed: 0, failed: 0 };
  for (const command of commands) {
    const { code, output } = await run(command);
    const line = count === 'line' ? /^(\d+) passed, (\d+) failed/m.exec(lastLines(output)) : null;
    const here = line
      ? { passed: Number(line[1]), failed: Number(line[2]) }
      : { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1 };
    if (code !== 0 && here.failed === 0) here.failed = 1;
    sum = { passed: sum.passed + here.passed, failed: sum.failed + here.failed };
  }
  return sum;
}

function lastLines(text) {
  return text.split('\n').slice(-20).join('\n');
}

function run([program, ...args], env = {}) {
  return new Promise((done) => {
    const local = program === 'node' ? [] : [path.join(root, 'node_modules', '.bin', program)];
    const file =
      program === 'node' ? process.execPath : process.platform === 'win32' ? `${local[0]}.cmd` : local[0];
    const child = spawn(file, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...env, FORCE_COLOR: '0' },
    });
    let output = '';
    child.stdout.on('data', (chunk) => {
      process.stdout.write(chunk);
      output = (output + chunk).slice(-100_000);
    });
    child.on('error', () => done({ code: 1, output }));
    child.on('close', (code) => done({ code: code ?? 1, output }));
  });
}

async function browser() {
  const { chromium } = await import('./vscodeServer.mjs');
  await chromium();
}
