import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { writeBlobs } from '../../src/supervisor/node/git/blobs.js';
import { createRunner } from '../../src/supervisor/node/git/runner.js';
import { createRepo, testEnvironment, type TestRepo } from './repo.js';
import { share } from './shared.js';

const marks = (repo: TestRepo): readonly string[] =>
  readdirSync(path.join(repo.top, '.git', 'objects', 'pack'))
    .filter((name) => name.endsWith('.keep'))
    .sort();

const packs = (repo: TestRepo): readonly string[] =>
  readdirSync(path.join(repo.top, '.git', 'objects', 'pack')).filter((name) => name.endsWith('.pack'));

/** As an import that was killed would leave it. */
function mark(repo: TestRepo, pack: string, said = 'fast-import'): string {
  const file = path.join(repo.top, '.git', 'objects', 'pack', pack.replace(/pack$/, 'keep'));
  writeFileSync(file, said, { mode: 0o600 });
  utimesSync(file, 1, 1);
  return file;
}

/** An import that is killed when its pack is written and its ref is not. */
function killedImport(repo: TestRepo, email: string): string {
  const before = marks(repo);
  repo.write('.git/hooks/reference-transaction', '#!/bin/sh\nkill -9 $PPID\n', 0o755);
  const input = `commit refs/x/${email}\ncommitter Somebody <${email}> now\ndata 1\nm\nM 100644 inline a\ndata 1\nz\n\n`;
  const args = ['-c', 'fastimport.unpackLimit=0', 'fast-import', '--quiet', '--date-format=now'];
  const killed = spawnSync('git', args, { cwd: repo.top, env: testEnvironment(repo.home), input });
  repo.remove('.git/hooks/reference-transaction');
  expect(killed.signal).toBe('SIGKILL');
  const [made = ''] = marks(repo).filter((name) => !before.includes(name));
  const file = path.join(repo.top, '.git', 'objects', 'pack', made);
  expect(readFileSync(file, 'utf8')).toBe('fast-import');
  return file;
}

test('the mark that a killed import of ours left on its pack is found and removed, others stay', async () => {
  const repo = await createRepo({ 'a.ts': 'a\n' });
  const ours = killedImport(repo, 'swarm-panel@localhost');
  const theirs = killedImport(repo, 'user@example.com');
  // It may be one that is just on its way.
  expect(await repo.git.staleLocks(repo.repository)).toEqual([]);
  expect(await repo.git.clearStaleLocks(repo.repository)).toEqual([]);
  for (const file of [ours, theirs]) utimesSync(file, 1, 1);
  expect(await repo.git.staleLocks(repo.repository)).toEqual([ours]);
  expect(existsSync(ours)).toBe(true);
  expect(await repo.git.clearStaleLocks(repo.repository)).toEqual([ours]);
  expect([existsSync(ours), existsSync(theirs)]).toEqual([false, true]);
  expect(await repo.git.clearStaleLocks(repo.repository)).toEqual([]);
});

test('packs of a quarantine and of many blobs are known for ours, and what refers to them holds', async () => {
  const repo = await createRepo({ 'a.ts': 'a\n' });
  const shared = await share(repo);
  await shared.act('child', (at) => at.write('a.ts', 'child\n'));
  const { commit } = await shared.quarantine('child');
  const [quarantine = ''] = packs(repo);
  const runner = createRunner('git', testEnvironment(repo.home));
  const blobs = Array.from({ length: 150 }, (_, at) => Buffer.from(`blob ${at}\n`));
  await writeBlobs(runner, repo.top, blobs);
  const many = packs(repo).find((name) => name !== quarantine) ?? '';
  expect(many).not.toBe('');
  // A person wants to keep a pack: whatever is in it.
  const wanted = mark(repo, quarantine, 'because I say so\n');
  expect(await repo.git.clearStaleLocks(repo.repository)).toEqual([]);
  expect(existsSync(wanted)).toBe(true);
  const files = [mark(repo, quarantine), mark(repo, many)];
  expect([...(await repo.git.clearStaleLocks(repo.repository))].sort()).toEqual([...files].sort());
  repo.run('gc', '-q', '--prune=now');
  expect(repo.run('show', `${commit}:a.ts`)).toBe('child\n');
});

test('a pack of blobs that somebody else imported is left', async () => {
  const repo = await createRepo({ 'a.ts': 'a\n' });
  const input = Array.from({ length: 150 }, (_, at) => `blob\ndata 4\n${1000 + at}\n`).join('');
  execFileSync('git', ['fast-import', '--quiet'], {
    cwd: repo.top,
    env: testEnvironment(repo.home),
    input,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const file = mark(repo, packs(repo)[0] ?? '');
  expect(await repo.git.clearStaleLocks(repo.repository)).toEqual([]);
  expect(existsSync(file)).toBe(true);
});
