import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { userName } from '../../core/keys.js';
import type { CheckOutcome, Refusal, Repository } from '../../ports/git.js';
import type {
  ChildEdits,
  CheckSpot,
  CompositeCheck,
  Edit,
  Entry,
  LeftPath,
  PlaceRequest,
} from '../../ports/sharedTree.js';
import { rawFile, sameEntry } from './blobs.js';
import { captureUserTree, removeEntries } from './capture.js';
import { checkTree, runCheck } from './check.js';
import { liveEdits } from './edits.js';
import { behindLink, groupByPath, whoMayBe } from './quarantine.js';
import { joinNul, type GitRunner } from './runner.js';
import { withScratch } from './scratch.js';
import { withTemporaryIndex } from './temporaryIndex.js';
import { createBlobSource, takeOut } from './threeWay.js';
import { gitDirOf } from './worktreeFiles.js';

/** The tree as it is, without the edits of `half`, as a tree object; what cannot be told apart stays in and is named. */
export async function compositeTree(
  runner: GitRunner,
  repository: Repository,
  half: readonly ChildEdits[],
  others: readonly ChildEdits[],
): Promise<{ readonly tree: string; readonly left: readonly LeftPath[] }> {
  const { topLevel: top, gitDir, objectFormat } = repository;
  const blobs = createBlobSource(runner, repository);
  const left: LeftPath[] = [];
  const entries: { readonly path: string; readonly entry: Entry | null }[] = [];
  // All writers' edits of a path in their one order: the last one is taken out first.
  const edits = half.flatMap((child) => [...liveEdits(child.edits)]).sort((one, other) => one.at - other.at);
  for (const [file, group] of groupByPath(edits)) {
    const who = writersOf(file, others);
    if (group.some(({ confidence }) => confidence === 'ambiguous') || behindLink(top, file)) {
      left.push({ path: file, who: whoMayBe(group, who), why: 'ambiguous' });
      continue;
    }
    const raw = await rawFile(objectFormat, top, file);
    if (raw !== null) blobs.add(raw.bytes);
    const now = raw?.entry ?? null;
    const without = await takeOut(runner, blobs, now, group);
    if (without === 'overlap') left.push({ path: file, who, why: 'overlap' });
    else if (!sameEntry(now, without.entry)) entries.push({ path: file, entry: without.entry });
  }
  await blobs.flush();
  const { tree } = await captureUserTree(runner, repository);
  if (entries.length === 0) return { tree, left };
  const composed = await withTemporaryIndex(runner, top, gitDir, { index: null, tree }, async (index) => {
    const gone = entries.flatMap(({ path: file, entry }) => (entry === null ? [file] : []));
    await removeEntries(runner, top, index, gone);
    const lines = entries.flatMap(({ path: file, entry }) =>
      entry === null ? [] : [`${entry.mode} ${entry.id}\t${file}`],
    );
    if (lines.length > 0)
      await runner.run(top, ['update-index', '-z', '--add', '--replace', '--index-info'], {
        environment: index.environment,
        input: joinNul(lines),
      });
    return runner.text(top, ['write-tree'], { environment: index.environment });
  });
  return { tree: composed, left };
}

/** Runs the check so that nobody's half-written files are in its way: on the tree itself where there are none. */
export async function checkComposite(
  runner: GitRunner,
  repository: Repository,
  request: CompositeCheck,
): Promise<CheckOutcome & { readonly left: readonly LeftPath[] }> {
  const { check, folder, half, others, onOutput } = request;
  if (half.every(({ edits }) => netEdits(edits).length === 0))
    return { ...(await runCheck(runner, repository, { check, on: { kind: 'tree' }, onOutput })), left: [] };
  const { tree, left } = await compositeTree(runner, repository, half, others);
  return { ...(await checkTree(runner, repository, folder, tree, check, onOutput)), left };
}

/** A spot for a check that somebody else runs: prepared here, used there, and left alone until its user is gone. */
export async function placeCheck(
  runner: GitRunner,
  repository: Repository,
  request: PlaceRequest,
): Promise<CheckSpot | Refusal> {
  const { half, others, user } = request;
  if (half.every(({ edits }) => netEdits(edits).length === 0))
    return { ok: true, folder: null, tree: null, left: [] };
  const { tree, left } = await compositeTree(runner, repository, half, others);
  let folder = request.folder;
  for (let n = 2; await isInUse(folder); n++) folder = `${request.folder}-${n}`;
  const done = await withScratch(runner, repository, folder, async (moveTo) => {
    await moveTo(tree);
    const gitDir = await gitDirOf(folder);
    if (gitDir !== null) await writeFile(path.join(gitDir, userFile), JSON.stringify(user), { mode: 0o600 });
    return null;
  });
  return done === null ? { ok: true, folder, tree, left } : done;
}

/** In a scratch tree's git directory: who works in it. */
const userFile = 'swarm-user.json';

/** Whether somebody's check runs in the scratch tree. */
export async function isInUse(folder: string): Promise<boolean> {
  const gitDir = await gitDirOf(folder);
  if (gitDir === null) return false;
  try {
    const user = JSON.parse(await readFile(path.join(gitDir, userFile), 'utf8')) as PlaceRequest['user'];
    if ('file' in user) return (await stat(user.file)).isFile();
    process.kill(user.pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function netEdits(edits: readonly Edit[]): readonly Edit[] {
  return liveEdits(edits).filter((edit) => edit.before !== edit.after || edit.beforeMode !== edit.afterMode);
}

function writersOf(file: string, others: readonly ChildEdits[]): readonly string[] {
  const names = others
    .filter(({ edits }) => liveEdits(edits).some((edit) => edit.path === file))
    .map(({ child }) => child);
  return names.length === 0 ? [userName] : names;
}
