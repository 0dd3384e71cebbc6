import path from 'node:path';
import type { Refusal, Repository, Worktree } from '../../ports/git.js';
import { diskUse } from '../diskUse.js';
import { exists, refuse } from './inspect.js';
import { keepHistory } from './embedded.js';
import { GitError, splitNul, type GitRunner } from './runner.js';
import { captureWorktree, treeOf } from './snapshot.js';
import { treeDifferences } from './changes.js';
import { isInUse } from './composite.js';
import { inTurn } from './turns.js';
import { asideOf, dropWorktree, refusalOf, worktreeState } from './worktree.js';
import { readMark } from './worktreeFiles.js';
import { replacedRepositories, tieWorktree } from './worktreeLink.js';

/** Removes a worktree whose edits are in `snapshot`, else refuses and says what is unsaved. */
export async function removeWorktree(
  runner: GitRunner,
  repository: Repository,
  worktree: Worktree,
  snapshot: string | null,
): Promise<{ readonly ok: true } | Refusal> {
  const state = await worktreeState(repository, worktree.path);
  if (state === 'foreign')
    return refuse(
      'pathTaken',
      `${worktree.path} is not a worktree of ours.`,
      'Remove it by hand if it is not needed.',
    );
  if (state === 'missing') {
    if (await isRegistered(runner, repository, worktree.path))
      await dropWorktree(runner, repository, worktree.path);
    return { ok: true };
  }
  const gitDir = await tieWorktree(repository, worktree.path);
  const { tree, skipped, repositories } = await captureWorktree(runner, worktree);
  const saved = await treeOf(runner, repository.topLevel, snapshot ?? worktree.base);
  if (tree !== saved) {
    const unsaved = await treeDifferences(runner, repository.topLevel, saved, tree, 'pathsOnly');
    return unsavedRefusal(
      worktree.path,
      unsaved.map(({ path: file }) => file),
    );
  }
  if (skipped.length > 0)
    return unsavedRefusal(
      worktree.path,
      skipped.map(({ path: file }) => file),
    );
  await keepCommits(runner, repository, worktree);
  const replaced = gitDir === null ? [] : await replacedRepositories(gitDir);
  for (const inner of [...repositories.map((folder) => path.join(worktree.path, folder)), ...replaced])
    try {
      await keepHistory(runner, repository, worktree.path, inner);
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      return unsavedRefusal(worktree.path, [`${path.join(inner, '.git')} (its commits could not be kept)`]);
    }
  try {
    await dropWorktree(runner, repository, worktree.path);
    return { ok: true };
  } catch (error) {
    // All that is in it is in the snapshot.
    const refusal = refusalOf(error, worktree.path);
    if (refusal === null) throw error;
    return { ...refusal, fix: `Remove ${worktree.path} by hand: its work is captured.` };
  }
}

/** Worktrees of ours that nobody knows any more, and folders where ours would be. */
export async function findLeftovers(
  runner: GitRunner,
  repository: Repository,
  known: readonly string[],
): Promise<readonly { readonly path: string; readonly bytes: number; readonly unsaved: boolean }[]> {
  const wanted = new Set(known.map((folder) => path.resolve(folder)));
  const found: { path: string; bytes: number; unsaved: boolean }[] = [];
  for (const folder of await registeredWorktrees(runner, repository)) {
    if (wanted.has(folder)) continue;
    const state = await worktreeState(repository, folder);
    if (state === 'missing' && (await exists(asideOf(folder))))
      // Its removal was cut.
      found.push({ path: folder, bytes: await diskUse(asideOf(folder)), unsaved: false });
    if (state !== 'present') continue;
    // Somebody's check runs there at this moment.
    if (await isInUse(folder)) continue;
    found.push({
      path: folder,
      bytes: await diskUse(folder),
      unsaved: await isUnsaved(runner, repository, folder),
    });
  }
  return found;
}

/** Removes a worktree that `findLeftovers` has found and in which nothing is unsaved. */
export async function removeLeftover(
  runner: GitRunner,
  repository: Repository,
  folder: string,
): Promise<{ readonly ok: true } | Refusal> {
  // In the turn of whoever uses a scratch tree.
  return inTurn(`scratch ${folder}`, async () => {
    const present = (await worktreeState(repository, folder)) === 'present';
    const gitDir = present ? await tieWorktree(repository, folder) : null;
    const mark = gitDir === null ? null : await readMark(gitDir);
    if (mark !== null && (mark.kind === 'scratch' || !mark.ready)) {
      if (await isInUse(folder)) return refuse('other', `${folder} is in use.`, 'Clean up again later.');
      await dropWorktree(runner, repository, folder);
      return { ok: true };
    }
    const { base, inputs } = mark ?? { base: repository.head, inputs: [] };
    const worktree: Worktree = { ok: true, path: folder, base, inputs };
    const saved = mark === null ? null : await savedAs(runner, repository, worktree);
    return removeWorktree(runner, repository, worktree, saved);
  });
}

/** Removes all refs below a prefix such as `refs/swarm/<batch>/`. */
export async function removeRefs(runner: GitRunner, repository: Repository, prefix: string): Promise<void> {
  if (!prefix.startsWith('refs/swarm/')) throw new Error(`${prefix} is not a ref of ours`);
  const listed = await runner.text(repository.topLevel, [
    'for-each-ref',
    '--format=delete %(refname) %(objectname)',
    prefix.replace(/\/$/, ''),
  ]);
  if (listed !== '')
    await runner.run(repository.topLevel, ['update-ref', '--no-deref', '--stdin'], { input: `${listed}\n` });
}

/** Commits that an agent made and that only its worktree's HEAD holds get a ref, so that no gc takes them. */
async function keepCommits(runner: GitRunner, repository: Repository, worktree: Worktree): Promise<void> {
  const head = await runner.run(worktree.path, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], {
    expect: [0, 1, 128],
  });
  const commit = head.stdout.toString().trim();
  if (head.exitCode !== 0 || commit === worktree.base) return;
  const held = await runner.text(repository.topLevel, [
    'for-each-ref',
    '--count=1',
    '--format=%(refname)',
    '--contains',
    commit,
  ]);
  if (held !== '') return;
  const name = path.basename(worktree.path).replace(/[^A-Za-z0-9_-]/g, '-');
  await runner.run(repository.topLevel, [
    'update-ref',
    `refs/swarm-kept/${name}-${commit.slice(0, 12)}`,
    commit,
  ]);
}

async function isUnsaved(runner: GitRunner, repository: Repository, folder: string): Promise<boolean> {
  const gitDir = await tieWorktree(repository, folder);
  const mark = gitDir === null ? null : await readMark(gitDir);
  if (mark === null) return true;
  if (mark.kind === 'scratch' || !mark.ready) return false;
  const { base, inputs } = mark;
  return (await savedAs(runner, repository, { ok: true, path: folder, base, inputs })) === null;
}

/** The commit that holds all that is in a worktree: what it started from, or a snapshot; null for none. */
async function savedAs(
  runner: GitRunner,
  repository: Repository,
  worktree: Worktree,
): Promise<string | null> {
  const { tree, skipped } = await captureWorktree(runner, worktree);
  if (skipped.length > 0) return null;
  if (tree === (await treeOf(runner, repository.topLevel, worktree.base))) return worktree.base;
  const format = '--format=%(tree) %(objectname)';
  const kept = await runner.text(repository.topLevel, ['for-each-ref', format, 'refs/swarm']);
  return (
    kept
      .split('\n')
      .find((line) => line.startsWith(`${tree} `))
      ?.slice(tree.length + 1) ?? null
  );
}

async function registeredWorktrees(runner: GitRunner, repository: Repository): Promise<readonly string[]> {
  const listed = await runner.run(repository.topLevel, ['worktree', 'list', '--porcelain', '-z']);
  return splitNul(listed.stdout)
    .filter((line) => line.startsWith('worktree '))
    .map((line) => path.resolve(line.slice('worktree '.length)));
}

async function isRegistered(runner: GitRunner, repository: Repository, folder: string): Promise<boolean> {
  return (
    (await registeredWorktrees(runner, repository)).includes(path.resolve(folder)) && !(await exists(folder))
  );
}

function unsavedRefusal(folder: string, files: readonly string[]): Refusal {
  const shown = files.slice(0, 10).join(', ') + (files.length > 10 ? `, and ${files.length - 10} more` : '');
  return refuse(
    'unsaved',
    `${folder} has work that is in no snapshot: ${shown}.`,
    'Take a snapshot or move these files away, then clean up again.',
  );
}
