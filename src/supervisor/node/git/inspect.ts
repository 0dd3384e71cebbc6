import { access, readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { simpleGit, type SimpleGit } from 'simple-git';
import type { Refusal, Repository } from '../../ports/git.js';
import { safeSettings, splitNul, type GitRunner } from './runner.js';

/** `git merge-tree --write-tree` came with 2.38; without it nothing can be merged outside the user's tree. */
const oldestGit = [2, 38] as const;

/** What the repository around `folder` is, or why it cannot be used. Writes nothing. */
export async function inspectRepository(runner: GitRunner, folder: string): Promise<Repository | Refusal> {
  const what = await stat(folder).catch(() => null);
  if (what?.isDirectory() !== true)
    return refuse(
      'noRepository',
      what === null ? `The folder ${folder} does not exist.` : `${folder} is a file, not a folder.`,
      'Open a folder of a git repository.',
    );
  const git = simpleGitOf(runner, folder);
  const version = await git.version();
  if (!version.installed)
    return refuse(
      'gitMissing',
      `git was not found (looked for "${runner.program}").`,
      `Install git ${oldestGit.join('.')} or newer, or put it on PATH.`,
    );
  const gitVersion = [version.major, version.minor, version.patch].join('.');
  if (version.major < oldestGit[0] || (version.major === oldestGit[0] && version.minor < oldestGit[1]))
    return refuse(
      'gitTooOld',
      `git ${gitVersion} is too old.`,
      `Install git ${oldestGit.join('.')} or newer: merging without touching your files needs it.`,
    );

  const inside = await runner.run(folder, ['rev-parse', '--is-bare-repository', '--is-inside-work-tree'], {
    expect: [0, 128],
  });
  if (inside.exitCode !== 0) return refuseFolder(folder, inside.stderr);
  const [bare, workTree] = inside.stdout.toString().trim().split('\n');
  if (workTree !== 'true')
    return bare === 'true'
      ? refuse(
          'bareRepository',
          `${folder} is a bare repository: it has no files to work on.`,
          'Open a clone or a worktree of it instead.',
        )
      : refuse(
          'noRepository',
          `${folder} is inside a .git folder.`,
          'Open the folder of your files instead.',
        );

  const [topLevel, gitDir, commonDir] = await Promise.all([
    git.revparse(['--path-format=absolute', '--show-toplevel']),
    git.revparse(['--absolute-git-dir']),
    git.revparse(['--path-format=absolute', '--git-common-dir']),
  ]);
  const head = await runner.run(folder, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], {
    expect: [0, 1, 128],
  });
  if (head.exitCode !== 0)
    return refuse(
      'noCommit',
      `The repository ${topLevel} has no commit yet.`,
      'Make a first commit (git add . && git commit): children start from a commit.',
    );

  const realTop = await realpath(topLevel);
  const [objectFormat, sparse, submodules, filters, midOperation] = await Promise.all([
    runner.text(folder, ['rev-parse', '--show-object-format']),
    isSparse(runner, folder),
    submodulePaths(runner, realTop),
    usedFilters(runner, realTop, commonDir),
    operationUnderWay(gitDir),
  ]);
  return {
    ok: true,
    topLevel: realTop,
    commonDir: await realpath(commonDir),
    gitDir: await realpath(gitDir),
    head: head.stdout.toString().trim(),
    objectFormat: objectFormat === 'sha256' ? 'sha256' : 'sha1',
    gitVersion,
    sparse,
    submodules,
    filters,
    midOperation,
  };
}

/** Whether the index holds this path or something below it, in any spelling that a file system may take for it. */
export async function isTracked(runner: GitRunner, repository: Repository, name: string): Promise<boolean> {
  const listed = await runner.run(repository.topLevel, ['ls-files', '-z', '--', `:(top,icase)${name}`]);
  return listed.stdout.length > 0;
}

/** What git needs of the environment to find itself and its settings; simple-git refuses much of the rest. */
const plainVariables: readonly string[] = [
  'PATH',
  'HOME',
  'XDG_CONFIG_HOME',
  'USERPROFILE',
  'SYSTEMROOT',
  'TMPDIR',
  'TEMP',
  'TMP',
  'LC_ALL',
];

/** simple-git with our settings; for calls whose output is text and that need no input. */
export function simpleGitOf(runner: GitRunner, folder: string): SimpleGit {
  const environment = Object.fromEntries(
    Object.entries(runner.environment).filter(([name]) => plainVariables.includes(name.toUpperCase())),
  );
  return simpleGit({
    baseDir: folder,
    binary: runner.program,
    config: [...safeSettings],
    unsafe: { allowUnsafeHooksPath: true, allowUnsafeFsMonitor: true, allowUnsafeCustomBinary: true },
  }).env(environment);
}

/** The operation (merge, rebase, ...) that is under way in a tree, or null. */
export async function operationUnderWay(gitDir: string): Promise<string | null> {
  const marks: readonly (readonly [string, string])[] = [
    ['MERGE_HEAD', 'merge'],
    ['rebase-merge', 'rebase'],
    [path.join('rebase-apply', 'applying'), 'patch series'],
    ['rebase-apply', 'rebase'],
    ['CHERRY_PICK_HEAD', 'cherry-pick'],
    ['REVERT_HEAD', 'revert'],
    // Of several, when the one that conflicted is committed and the others are still to come.
    [path.join('sequencer', 'todo'), 'cherry-pick'],
    ['BISECT_LOG', 'bisect'],
  ];
  for (const [file, operation] of marks) {
    const place = path.join(gitDir, file);
    if (!(await exists(place))) continue;
    const isRevert = file.startsWith('sequencer') && /^revert /m.test(await readFile(place, 'utf8'));
    return isRevert ? 'revert' : operation;
  }
  return null;
}

/** Filters that the repository's attributes name, e.g. `lfs`. */
async function usedFilters(
  runner: GitRunner,
  topLevel: string,
  commonDir: string,
): Promise<readonly string[]> {
  const listed = await runner.run(topLevel, ['ls-files', '-z', '--', ':(glob)**/.gitattributes']);
  const files = splitNul(listed.stdout).map((file) => path.join(topLevel, file));
  const names = new Set<string>();
  for (const file of [...files, path.join(commonDir, 'info', 'attributes')]) {
    const text = await readFile(file, 'utf8').catch(() => '');
    for (const match of text.matchAll(/^[^#\n]*\sfilter=(\S+)/gm))
      if (match[1] !== undefined) names.add(match[1]);
  }
  return [...names].sort();
}

async function submodulePaths(runner: GitRunner, topLevel: string): Promise<readonly string[]> {
  if (!(await exists(path.join(topLevel, '.gitmodules')))) return [];
  const listed = await runner.run(
    topLevel,
    ['config', '-z', '--file', '.gitmodules', '--get-regexp', '^submodule\\..*\\.path$'],
    { expect: [0, 1] },
  );
  return splitNul(listed.stdout).map((entry) => entry.slice(entry.indexOf('\n') + 1));
}

async function isSparse(runner: GitRunner, folder: string): Promise<boolean> {
  const value = await runner.run(folder, ['config', '--type=bool', '--get', 'core.sparseCheckout'], {
    expect: [0, 1],
  });
  return value.stdout.toString().trim() === 'true';
}

function refuseFolder(folder: string, stderr: string): Refusal {
  const dubious = /dubious ownership/.test(stderr);
  return dubious
    ? refuse(
        'other',
        `git does not trust ${folder}: it belongs to another user.`,
        `Run: git config --global --add safe.directory ${folder}`,
      )
    : refuse(
        'noRepository',
        `${folder} is not in a git repository.`,
        'Run "git init", make a first commit, and try again; or open a folder of a repository.',
      );
}

export function refuse(code: Refusal['code'], message: string, fix: string): Refusal {
  return { ok: false, code, message, fix };
}

export async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () =>
      stat(file).then(
        () => true,
        () => false,
      ),
  );
}
