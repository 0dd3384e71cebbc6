import type { Change, Repository } from '../../ports/git.js';
import { joinNul, splitNul, type GitRunner } from './runner.js';

/** One path that two trees have differently. Mode `000000`: not there. */
export interface TreeDifference {
  readonly path: string;
  readonly fromMode: string;
  readonly toMode: string;
  readonly from: string;
  readonly to: string;
  readonly kind: Change['kind'];
  readonly added: number | null;
  readonly removed: number | null;
}

/** What two trees (or commits) have differently, renames as a deletion and an addition. */
export async function treeDifferences(
  runner: GitRunner,
  folder: string,
  from: string,
  to: string,
  counts: 'counts' | 'pathsOnly',
): Promise<readonly TreeDifference[]> {
  const numstat = counts === 'counts' ? ['--numstat'] : [];
  const output = await runner.run(folder, [
    'diff-tree',
    '-r',
    '-z',
    '--raw',
    ...numstat,
    '--no-renames',
    from,
    to,
  ]);
  const fields = splitNul(output.stdout);
  const differences: TreeDifference[] = [];
  const lines = new Map<string, { readonly added: number | null; readonly removed: number | null }>();
  for (let at = 0; at < fields.length;) {
    const field = fields[at] ?? '';
    if (field.startsWith(':')) {
      const [fromMode = '', toMode = '', fromId = '', toId = '', status = ''] = field.slice(1).split(' ');
      differences.push({
        path: fields[at + 1] ?? '',
        fromMode,
        toMode,
        from: fromId,
        to: toId,
        kind: status === 'A' ? 'A' : status === 'D' ? 'D' : 'M',
        added: null,
        removed: null,
      });
      at += 2;
    } else {
      const [added = '-', removed = '-', ...rest] = field.split('\t');
      lines.set(rest.join('\t'), { added: countOf(added), removed: countOf(removed) });
      at += 1;
    }
  }
  return differences.map((difference) => ({ ...difference, ...lines.get(difference.path) }));
}

export async function changesBetween(
  runner: GitRunner,
  folder: string,
  from: string,
  to: string,
): Promise<readonly Change[]> {
  const differences = await treeDifferences(runner, folder, from, to, 'counts');
  return differences.map(({ path, kind, added, removed }) => ({ path, kind, added, removed }));
}

/** A file's bytes at a commit or tree; null where it does not exist. */
export async function fileAt(
  runner: GitRunner,
  folder: string,
  commit: string,
  path: string,
): Promise<Uint8Array | null> {
  const result = await runner.run(folder, ['cat-file', 'blob', `${commit}:${path}`], { expect: [0, 128] });
  return result.exitCode === 0 ? new Uint8Array(result.stdout) : null;
}

/** Throws where one of the objects is not in the store. */
export async function verifyObjects(
  runner: GitRunner,
  folder: string,
  ids: readonly string[],
): Promise<void> {
  await objectsNamed(
    runner,
    folder,
    ids.filter((id) => !/^0+$/.test(id)),
  );
}

/** The ids of objects in the order of their names (e.g. `HEAD^{commit}`); throws where one is not in the store. */
export async function objectsNamed(
  runner: GitRunner,
  folder: string,
  names: readonly string[],
): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const answer = await runner.run(folder, ['cat-file', '--batch-check'], { input: `${names.join('\n')}\n` });
  const lines = answer.stdout.toString().trimEnd().split('\n');
  const missing = lines.filter((line) => line.endsWith(' missing'));
  if (missing.length > 0) throw new Error(`objects are not in the store: ${missing.join(', ')}`);
  return lines.map((line) => line.split(' ')[0] ?? '');
}

/** Which of these paths git would ignore; none of those that it does not want to judge (behind links, in submodules). */
export async function ignoredPaths(
  runner: GitRunner,
  repository: Pick<Repository, 'topLevel' | 'sparse'>,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  // The index, slow to read where it is large, can only make fewer of them ignored: what is tracked never is. And it
  // holds the ignore files that a sparse checkout leaves out.
  const likely = repository.sparse
    ? paths
    : [...(await matchedByIgnore(runner, repository.topLevel, paths, ['--no-index']))];
  return matchedByIgnore(runner, repository.topLevel, likely, []);
}

async function matchedByIgnore(
  runner: GitRunner,
  folder: string,
  paths: readonly string[],
  flags: readonly string[],
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const answer = await runner.run(folder, ['check-ignore', ...flags, '-z', '--stdin'], {
    // `./` keeps a leading `:` from being read as pathspec magic; git says each path back as it was given.
    input: joinNul(paths.map((file) => `./${file}`)),
    expect: [0, 1, 128],
  });
  if (answer.exitCode !== 128) return new Set(splitNul(answer.stdout).map((file) => file.slice(2)));
  if (paths.length === 1) return new Set();
  const halves = [paths.slice(0, paths.length / 2), paths.slice(paths.length / 2)];
  const found = await Promise.all(halves.map((half) => matchedByIgnore(runner, folder, half, flags)));
  return new Set(found.flatMap((half) => [...half]));
}

/** Makes git take `*` and `:` in a path as they are. */
export const literalPaths: Readonly<Record<string, string>> = { GIT_LITERAL_PATHSPECS: '1' };

function countOf(text: string): number | null {
  return text === '-' ? null : Number(text);
}
