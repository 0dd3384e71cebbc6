import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runDemoAgent } from './agent.js';
import { serveProvider } from './daemon.js';
import { createDemoWorkspace } from './workspace.js';

/** `agent`: the pretend agent. `provider`: its account, in the foreground. `daemon`: starts the provider and ends. `workspace`: makes one. */
const main = fileURLToPath(import.meta.url);
switch (process.argv[2]) {
  case 'agent':
    process.exitCode = await runDemoAgent(main, process.env).catch((error: unknown) => {
      process.stdout.write(JSON.stringify({ type: 'error', message: String(error) }) + '\n');
      return 1;
    });
    break;
  case 'workspace':
    process.stdout.write(JSON.stringify(await createDemoWorkspace(process.argv.slice(3))) + '\n');
    break;
  case 'provider':
    await serveProvider();
    break;
  case 'daemon':
    spawn(process.execPath, [main, 'provider'], { detached: true, stdio: 'ignore' }).unref();
    break;
  default:
    process.stderr.write('usage: demo agent | provider | daemon | workspace TYPESCRIPT...\n');
    process.exitCode = 2;
}
