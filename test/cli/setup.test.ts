import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { View } from '../../src/protocol/view.js';
import { commitFiles, swarm, temporaryFolder } from './stage.js';

let folder: string;
let clean: () => void;
beforeEach(() => {
  ({ folder, clean } = temporaryFolder());
});
afterEach(() => clean());

const agent = `
import { existsSync } from 'node:fs';
console.log(JSON.stringify({ type: 'done', result: existsSync('installed') ? 'was set up' : 'was not' }));
`;

/** Fails as long as a file is there. */
const setup = `
const fs = require('node:fs');
console.log('installing many packages');
console.error('one of them is old');
if (fs.existsSync(process.env.TEST_HOLD)) process.exit(7);
fs.writeFileSync('installed', '');
`;

it('a setup command’s output is in the child’s folder, and its failure names that log and what to do', async () => {
  commitFiles(folder, { 'README.md': '# here\n', 'agent.mjs': agent });
  const own = path.join(path.dirname(folder), 'own');
  const hold = path.join(path.dirname(folder), 'hold');
  mkdirSync(path.join(own, 'swarm'), { recursive: true });
  writeFileSync(
    path.join(own, 'swarm', 'settings.json'),
    JSON.stringify({ 'swarm.worktrees.setup': [process.execPath, '-e', setup] }),
  );
  writeFileSync(hold, '');
  const manifest = path.join(path.dirname(folder), 'one.json');
  writeFileSync(
    manifest,
    JSON.stringify({
      version: 1,
      executor: 'mine',
      executors: {
        mine: { adapter: 'command', command: [process.execPath, path.join(folder, 'agent.mjs')] },
      },
      tasks: [{ id: 'one', prompt: 'look' }],
    }),
  );
  const env = { XDG_CONFIG_HOME: own, TEST_HOLD: hold };
  const refused = await swarm(folder, ['run', manifest, '--no-wait'], { env });
  expect(refused.code).toBe(75);
  const status = async () =>
    (JSON.parse((await swarm(folder, ['status', '--json'], { env })).stdout) as View).batches[0];
  const batch = await status();
  const child = batch?.children[0];
  expect(child).toMatchObject({ status: 'paused', attempts: 0 });
  const log = path.join(folder, '.swarm', 'batches', batch?.id ?? '', 'children', 'one', 'setup.log');
  const message = child?.reason?.message ?? '';
  expect(message).toContain('it ended with 7');
  expect(message).toContain('one of them is old');
  expect(message).toContain(`The whole output is in ${log}`);
  expect(message).toContain('swarm.worktrees.setup');
  expect(readFileSync(log, 'utf8')).toMatch(/^\$ .*\n[^]*installing many packages\none of them is old\n/);
  expect(refused.stdout + refused.stderr).toContain(log);

  rmSync(hold);
  expect((await swarm(folder, ['resume', 'one'], { env })).code).toBe(0);
  expect(await status()).toMatchObject({ status: 'succeeded' });
});
