import { lstat, readFile, readdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { Repository } from '../../ports/git.js';
import { importMark, readBlobs } from './blobs.js';
import type { GitRunner } from './runner.js';
import { ourIdentity } from './snapshot.js';

/** An import takes no longer from its pack to its refs, by far. */
const oldEnough = 10 * 60_000;

/**
 * Packs that a `git fast-import` of ours, killed on its way, has left marked to be kept for ever: no clean-up of git's
 * would ever touch them. What they hold stays, as far as anything refers to it. Those of the user's imports and marks
 * of the user's own are none of ours.
 */
export async function ourKeptPacks(
  runner: GitRunner,
  repository: Repository,
  now: number,
): Promise<readonly string[]> {
  const folder = path.join(repository.commonDir, 'objects', 'pack');
  const marks = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.keep'));
  const found: string[] = [];
  for (const name of marks) {
    const file = path.join(folder, name);
    const stats = await lstat(file).catch(() => null);
    if (stats?.isFile() !== true || now - stats.mtimeMs < oldEnough) continue;
    const said = await readFile(file, 'utf8').catch(() => '');
    if (said.trim() === 'fast-import' && (await isOurs(runner, repository, file))) found.push(file);
  }
  return found;
}

export async function clearKeptPacks(
  runner: GitRunner,
  repository: Repository,
  now = Date.now(),
): Promise<readonly string[]> {
  const found = await ourKeptPacks(runner, repository, now);
  for (const file of found) await unlink(file).catch(() => undefined);
  return found;
}

/** Whether all commits in the pack are by us, or, where there is none, a blob in it says so. */
async function isOurs(runner: GitRunner, repository: Repository, keep: string): Promise<boolean> {
  const top = repository.topLevel;
  const listed = await runner.run(top, ['verify-pack', '-v', keep.replace(/\.keep$/, '.idx')], {
    expect: [0, 1, 128],
  });
  if (listed.exitCode !== 0) return false;
  const objects = listed.stdout
    .toString()
    .split('\n')
    .flatMap((line) => {
      const match = /^([0-9a-f]{40,64}) (commit|blob) +(\d+) /.exec(line);
      return match === null ? [] : [{ id: match[1] ?? '', type: match[2], size: Number(match[3]) }];
    });
  const commits = objects.filter(({ type }) => type === 'commit').map(({ id }) => id);
  if (commits.length > 0) {
    const shown = await runner.run(top, ['log', '--no-walk', '--format=%ce', '--stdin'], {
      input: `${commits.join('\n')}\n`,
    });
    const by = shown.stdout.toString().trim().split('\n');
    return by.every((email) => email === ourIdentity['GIT_COMMITTER_EMAIL']);
  }
  const small = objects.filter(({ type, size }) => type === 'blob' && size === importMark().length);
  const blobs = await readBlobs(
    runner,
    top,
    small.map(({ id }) => id),
  );
  return [...blobs.values()].some((bytes) => bytes.toString('latin1').startsWith(importMark('')));
}
