import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { View } from '../../src/protocol/view.js';
import { commitFiles, git, swarm, temporaryFolder } from './stage.js';

let folder: string;
let clean: () => void;
beforeEach(() => {
  ({ folder, clean } = temporaryFolder());
});
afterEach(() => clean());

/** `one` makes a repository of its own and clones another, `two` only clones. */
const worker = `
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
const git = (...args) => execFileSync('git', args, { stdio: 'ignore' });
if (process.env.SWARM_CHILD === 'one') {
  mkdirSync('app');
  writeFileSync('app/main.txt', 'main\\n');
  git('init', '-q', 'app');
}
git('clone', '-q', process.env.TEST_OTHER, 'vendor');
console.log(JSON.stringify({ type: 'done', result: 'made it' }));
`;

it('what a child made as a repository is its work; what it cloned is named everywhere and never removed', async () => {
  commitFiles(folder, { 'README.md': '# here\n', 'worker.mjs': worker });
  const manifest = path.join(path.dirname(folder), 'two.json');
  const command = [process.execPath, path.join(folder, 'worker.mjs')];
  const tasks = ['one', 'two'].map((id) => ({ id, prompt: `make ${id}` }));
  const executors = { mine: { adapter: 'command', command, env: { TEST_OTHER: folder } } };
  writeFileSync(manifest, JSON.stringify({ version: 1, executor: 'mine', executors, tasks }));
  expect((await swarm(folder, ['run', manifest])).code).toBe(0);
  const status = await swarm(folder, ['status']);
  expect(status.stdout).toMatch(/two\s+Done\s.*not all of it was captured/);
  const view = JSON.parse((await swarm(folder, ['status', '--json'])).stdout) as View;
  const [one, two] = view.batches[0]?.children ?? [];
  const clone = { path: 'vendor/', reason: 'a clone of another repository' };
  expect([one?.uncaptured, two?.uncaptured]).toEqual([[clone], [clone]]);

  const diff = await swarm(folder, ['diff', 'one']);
  expect(diff.stdout).toContain('+++ b/app/main.txt');
  expect(diff.stderr).toContain('one: vendor/ is only in its worktree: a clone of another repository');

  const apply = await swarm(folder, ['apply', '--all']);
  expect(apply.stdout).toContain('one: in your tree; only in its worktree, which is kept: vendor/ (a clone');
  expect(apply.stdout).toContain('two: not applied');
  expect(apply.code).toBe(1);
  expect(readFileSync(path.join(folder, 'app/main.txt'), 'utf8')).toBe('main\n');

  for (const round of [1, 2]) {
    const cleaned = await swarm(folder, ['clean', '--yes']);
    expect([round, cleaned.stdout.match(/^keep .*vendor\/\.$/gm)?.length]).toEqual([round, 2]);
  }
  for (const child of [one, two])
    expect(existsSync(path.join(child?.worktree ?? '', 'vendor/README.md'))).toBe(true);
  expect(git(folder, 'status', '--porcelain', '-uall')).toBe('?? app/main.txt\n');
});
