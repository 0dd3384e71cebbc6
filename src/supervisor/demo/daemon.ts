import { spawn } from 'node:child_process';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { createDemoProvider } from './provider.js';

/** The provider ends by itself when nobody has asked for this long. */
const idleMs = 10 * 60_000;

const address = z.object({ url: z.string().url() });

/** Where the running provider says how it is reached; one for each person of the machine. */
function addressFile(): string {
  return join(tmpdir(), `swarm-demo-${userInfo().uid}`, 'provider.json');
}

/** Runs the provider in this process until it has been idle; resolves when it listens. */
export async function serveProvider(): Promise<string> {
  let idle = setTimeout(() => process.exit(0), idleMs);
  const server = createDemoProvider(() => {
    clearTimeout(idle);
    idle = setTimeout(() => process.exit(0), idleMs);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the demo provider has no port');
  const url = `http://127.0.0.1:${bound.port}/`;
  const file = addressFile();
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, JSON.stringify({ url }), { mode: 0o600 });
  await rename(temporary, file);
  await rm(`${file}.starting`, { force: true });
  return url;
}

/**
 * The address of a provider that answers, started if there is none. It is started through a process that ends at
 * once, so that it is nobody's descendant: stopping an agent must not stop the account of the others.
 */
export async function findProvider(main: string): Promise<string> {
  const end = Date.now() + 20_000;
  while (Date.now() < end) {
    const known = await answering();
    if (known !== null) return known;
    if (await mayStart()) {
      const env = Object.fromEntries(
        Object.entries(process.env).filter(([name]) => !name.startsWith('SWARM_')),
      );
      spawn(process.execPath, [main, 'daemon'], { detached: true, stdio: 'ignore', env }).unref();
    }
    await new Promise((soon) => setTimeout(soon, 100));
  }
  throw new Error('The demo provider did not start within 20 s.');
}

/** One of several agents that look at the same moment starts it; a start that came to nothing may be tried again. */
async function mayStart(): Promise<boolean> {
  const lock = `${addressFile()}.starting`;
  await mkdir(dirname(lock), { recursive: true, mode: 0o700 });
  const since = await stat(lock).then(
    (found) => found.mtimeMs,
    () => null,
  );
  if (since !== null && Date.now() - since < 10_000) return false;
  if (since !== null) await rm(lock, { force: true });
  return writeFile(lock, '', { flag: 'wx' }).then(
    () => true,
    () => false,
  );
}

async function answering(): Promise<string | null> {
  try {
    const { url } = address.parse(JSON.parse(await readFile(addressFile(), 'utf8')));
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    return response.ok ? url : null;
  } catch {
    return null;
  }
}
