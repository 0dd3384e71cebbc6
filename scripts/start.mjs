// `npm start`: the demo in VS Code. `npm start -- --headless`: the same story in the terminal.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setUp } from './setup.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
setUp();

if (process.argv.includes('--headless')) {
  const demo = spawn(process.execPath, [path.join(root, 'dist', 'cli.js'), 'demo'], { stdio: 'inherit' });
  // Ctrl-C reaches the demo too, which knows what to do with it.
  process.on('SIGINT', () => undefined);
  demo.on('exit', (code) => process.exit(code ?? 1));
} else {
  await openVsCode();
}

async function openVsCode() {
  const made = spawnSync(
    process.execPath,
    [path.join(root, 'dist', 'demo.js'), 'workspace', path.join(root, 'node_modules', 'typescript')],
    { encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`The demo workspace could not be made: ${made.stderr}`);
  const { folder, manifest } = JSON.parse(made.stdout);
  // Read by the extension when it starts: shows the panel and launches this manifest, once.
  const env = { SWARM_START: manifest };
  const profile = await mkdtemp(path.join(os.tmpdir(), 'swarm-panel-'));
  if (hasDesktop()) {
    process.stdout.write(`Opening VS Code on ${folder}\n`);
    spawn(
      'code',
      [
        '--new-window',
        '--extensionDevelopmentPath=' + root,
        '--user-data-dir',
        path.join(profile, 'user'),
        '--disable-workspace-trust',
        folder,
      ],
      {
        detached: true,
        stdio: 'ignore',
        env: { ...process.env, ...env },
      },
    ).unref();
    return;
  }
  const { startServer } = await import('./vscodeServer.mjs');
  const { packageExtension } = await import('./package.mjs');
  const password = randomBytes(12).toString('hex');
  const server = await startServer({
    profile,
    password,
    env,
    settings: { 'workbench.colorTheme': 'Dark Modern' },
  });
  await server.installExtension(await packageExtension(path.join(profile, 'swarm-panel.vsix')));
  process.stdout.write(
    `\nVS Code runs in the browser. Open\n\n    ${server.windowAddress(folder)}\n\nPassword: ${password}\nCtrl-C ends it; the demo's agents go on for their minute.\n`,
  );
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.on(signal, () => void server.stop().then(() => process.exit(0)));
}

/** A desktop VS Code on the path, and a screen to show it on. */
function hasDesktop() {
  if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return false;
  return (
    spawnSync('code', ['--version'], { shell: process.platform === 'win32', stdio: 'ignore' }).status === 0
  );
}
