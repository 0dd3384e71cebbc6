import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { View } from '../../src/protocol/view.js';
import { commitFiles, swarm, temporaryFolder } from './stage.js';

/** `.swarm` removed by hand, or by `git clean -xdf`, while its agents run. */

let folder: string;
let clean: () => void;
let go: string;
let manifest: string;

beforeEach(() => {
  ({ folder, clean } = temporaryFolder());
  const parent = path.dirname(folder);
  go = path.join(parent, 'go');
  const worker = path.join(parent, 'worker.mjs');
  writeFileSync(
    worker,
    `import { existsSync, writeFileSync } from 'node:fs';
     writeFileSync('note.txt', 'half');
     console.log(JSON.stringify({ type: 'text', text: 'at work' }));
     setInterval(() => {
       if (!existsSync(${JSON.stringify(go)})) return;
       writeFileSync('note.txt', 'whole');
       process.exit(0);
     }, 50);`,
  );
  commitFiles(folder, { 'README.md': '# here\n' });
  manifest = path.join(parent, 'one.json');
  writeFileSync(
    manifest,
    JSON.stringify({
      version: 1,
      executor: 'mine',
      executors: { mine: { adapter: 'command', command: [process.execPath, worker] } },
      tasks: [{ id: 'one', prompt: 'Write one' }],
    }),
  );
});
afterEach(() => {
  writeFileSync(go, '');
  clean();
});

async function view(): Promise<View> {
  return JSON.parse((await swarm(folder, ['status', '--json'])).stdout) as View;
}

it.each(['removed', 'replaced by an empty one'])(
  'is %s: the run says so and ends with 3; put back, all goes on',
  async (how) => {
    const state = path.join(folder, '.swarm');
    const away = path.join(path.dirname(folder), 'away');
    const run = swarm(folder, ['run', manifest]);
    await vi.waitUntil(async () => (await view()).batches[0]?.children[0]?.lastLine === 'at work', {
      timeout: 60_000,
      interval: 200,
    });
    const worktree = (await view()).batches[0]?.children[0]?.worktree ?? '';
    renameSync(state, away);
    if (how !== 'removed') mkdirSync(state, { mode: 0o700 });
    const ended = await run;
    expect([ended.code, ended.stderr]).toEqual([3, expect.stringMatching(/cannot be followed any more/)]);
    if (how === 'removed') expect(ended.stderr).toMatch(/\.swarm: It was removed or moved away/);
    if (existsSync(state)) renameSync(state, `${away}-new`);
    renameSync(away, state);
    writeFileSync(go, '');
    expect((await swarm(folder, ['supervise'])).code).toBe(0);
    expect(readFileSync(path.join(worktree, 'note.txt'), 'utf8')).toBe('whole');
    expect((await view()).batches[0]?.children[0]?.status).toBe('done');
  },
);
