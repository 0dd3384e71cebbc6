import { spawn, type ChildProcess } from 'node:child_process';
import type { StartRequest } from '../../ports.js';

/**
 * The runner for Windows: the same steps as the shell script, run by this program's own Node. Agents do not outlive a
 * log-off there, and their start time comes from the system by PowerShell.
 */
const script = `
const fs = require('node:fs'), path = require('node:path'), cp = require('node:child_process');
const [folder, input, file, ...args] = process.argv.slice(1);
const born = cp.execFileSync('powershell', ['-NoProfile', '-Command', '(Get-Process -Id ' + process.pid + ').StartTime.Ticks'], { encoding: 'utf8' }).trim();
try {
  fs.writeFileSync(path.join(folder, 'claim'), [process.pid, process.env.SWARM_NONCE, '', 'R ' + born, 'end', ''].join('\\n'), { flag: 'wx', mode: 0o600 });
} catch (error) { process.exit(error.code === 'EEXIST' ? 97 : 98); }
const out = fs.openSync(path.join(folder, 'stdout.log'), 'a', 0o600), err = fs.openSync(path.join(folder, 'stderr.log'), 'a', 0o600);
const stdin = input === '' ? 'ignore' : fs.openSync(input, 'r');
const env = { ...process.env };
delete env.ELECTRON_RUN_AS_NODE;
const child = cp.spawn(file, args, { stdio: [stdin, out, err], env, windowsHide: true });
const end = (code, signal) => {
  fs.writeFileSync(path.join(folder, 'exit.tmp'), JSON.stringify({ code, signal }), { mode: 0o600 });
  fs.renameSync(path.join(folder, 'exit.tmp'), path.join(folder, 'exit.json'));
  process.exit(0);
};
child.once('error', () => end(127, null));
child.once('exit', end);
process.send('claimed', () => process.disconnect());
`;

export function windowsRunner(request: StartRequest, env: Readonly<Record<string, string>>): ChildProcess {
  return spawn(
    process.execPath,
    ['-e', script, request.folder, request.stdin ?? '', request.file, ...request.args],
    {
      cwd: request.cwd,
      env: { ...env, ELECTRON_RUN_AS_NODE: '1' },
      detached: true,
      windowsHide: true,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    },
  );
}
