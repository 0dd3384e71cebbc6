import { randomUUID } from 'node:crypto';
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

export interface ShimOptions {
  /** Where the shims are put; one folder may serve all children. */
  readonly folder: string;
  /** Absolute path of the real git. */
  readonly git: string;
  /** Top of the shared tree and its git directory that all worktrees share; elsewhere git is nobody's business. */
  readonly tree: string;
  readonly commonDir: string;
  /** What a type check becomes: program and arguments, to which `tsc` and its arguments are added. Null: it stays. */
  readonly check: readonly string[] | null;
  /** Set for that program. */
  readonly env?: Readonly<Record<string, string>>;
}

/** git commands that only look. Everything else would move files, the index or refs of all who work in this tree. */
const lookingCommands: readonly string[] = [
  'annotate',
  'blame',
  'cat-file',
  'check-attr',
  'check-ignore',
  'cherry',
  'count-objects',
  'describe',
  'diff',
  'diff-files',
  'diff-index',
  'diff-tree',
  'for-each-ref',
  'grep',
  'help',
  'log',
  'ls-files',
  'ls-remote',
  'ls-tree',
  'merge-base',
  'name-rev',
  'range-diff',
  'rev-list',
  'rev-parse',
  'shortlog',
  'show',
  'show-branch',
  'show-ref',
  'status',
  'var',
  'verify-commit',
  'version',
  'whatchanged',
];

/** Runs of `tsc` that are no check of what is there: they build, watch, or only tell something. */
const otherUses = [
  ...['-b', '--build', '-w', '--watch', '-h', '--help', '--all', '-v', '--version', '--init'],
  ...['--showConfig', '--listFilesOnly'],
];

/**
 * Writes `git`, `tsc` and what runs it into a folder that goes in front of a child's PATH in a shared tree: git keeps its
 * hands off what belongs to all, and a type check sees nobody's half-written files. Twice does no harm.
 * Null where the system has no such scripts.
 */
export async function installShims(options: ShimOptions): Promise<string | null> {
  const { folder } = options;
  if (process.platform === 'win32') return null;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await put(path.join(folder, 'git'), gitShim(options));
  await put(path.join(folder, bashEnvironment), bashStart(folder));
  await put(path.join(folder, scriptShell), scriptShellShim(folder));
  await put(path.join(folder, 'sh'), loginShellShim(folder));
  await mkdir(path.join(folder, zshFolder), { recursive: true, mode: 0o700 });
  for (const name of zshFiles) await put(path.join(folder, zshFolder, name), zshStart(folder, name));
  if (options.check === null) return folder;
  await put(path.join(folder, 'tsc'), checkShim(folder, options.check, options.env ?? {}));
  await put(path.join(folder, 'npx'), npxShim(folder));
  for (const name of ['yarn', 'pnpm']) await put(path.join(folder, name), packagerShim(folder, name));
  return folder;
}

/**
 * A child's environment with the shims in front. Agents run their commands by `bash -lc`, and a login shell makes its
 * PATH anew; bash reads `bash-env` after that, zsh what is in `zsh`, any other is called by our `sh`. npm puts the tree's own tools in front
 * of PATH for its scripts and for npx; the shell that runs these puts the shims before them again.
 */
export function withShims(
  environment: Readonly<Record<string, string>>,
  folder: string,
): Readonly<Record<string, string>> {
  const key = Object.keys(environment).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  const own = environment['BASH_ENV'];
  const ownShell = environment[npmShell];
  const ownZsh = environment['ZDOTDIR'];
  return {
    ...environment,
    [key]: `${folder}${path.delimiter}${environment[key] ?? ''}`,
    BASH_ENV: path.join(folder, bashEnvironment),
    ...(own === undefined ? {} : { [ownBashEnv]: own }),
    ZDOTDIR: path.join(folder, zshFolder),
    ...(ownZsh === undefined ? {} : { [ownZdotdir]: ownZsh }),
    [npmShell]: path.join(folder, scriptShell),
    ...(ownShell === undefined ? {} : { [ownScriptShell]: ownShell }),
  };
}

const bashEnvironment = 'bash-env';
/** Where an executor's own BASH_ENV is kept for `bash-env`. */
const ownBashEnv = 'SWARM_OWN_BASH_ENV';

function bashStart(folder: string): string {
  return `# Read by every bash that runs a command: what is beside this file comes first on PATH, whatever a profile did.
if [ -n "\${${ownBashEnv}-}" ] && [ -r "\$${ownBashEnv}" ]; then . "\$${ownBashEnv}"; fi
${shimsFirst(folder)}
`;
}

/** Puts the shims in front of PATH again. */
function shimsFirst(folder: string): string {
  return `case "$PATH" in
  ${quoted(`${folder}:`)}*) ;;
  *) PATH=${quoted(folder)}:$PATH ;;
esac
export PATH`;
}

/** What a login shell reads that is not bash: for zsh, files in this folder. */
const zshFolder = 'zsh';
const zshFiles = ['.zshenv', '.zprofile', '.zshrc', '.zlogin'] as const;
/** Where an executor's own ZDOTDIR is kept, or what its `.zshenv` has made of it. */
const ownZdotdir = 'SWARM_OWN_ZDOTDIR';

/** The person's own file first, which must find its folder in ZDOTDIR. */
function zshStart(folder: string, name: (typeof zshFiles)[number]): string {
  return `# Read by zsh in place of your own ${name}, which it reads in turn: what is in ${folder} comes first on PATH.
ZDOTDIR="\${${ownZdotdir}:-$HOME}"
if [ -r "$ZDOTDIR/${name}" ]; then . "$ZDOTDIR/${name}"; fi
export ${ownZdotdir}="$ZDOTDIR"
export ZDOTDIR=${quoted(path.join(folder, zshFolder))}
${shimsFirst(folder)}
`;
}

/** A login shell that is no bash has no file of ours to read: what it is told to do begins with our PATH. */
function loginShellShim(folder: string): string {
  const start = `PATH=${quoted(folder)}:$PATH; export PATH; `;
  return `#!/bin/sh
# \`sh -lc\` makes its PATH anew by the profile; what is beside this file comes before that.
case "$1 $2" in
  '-l -c'|'--login -c') shift 2; set -- -lc "$@" ;;
  '-lc '*|'-cl '*) shift; set -- -lc "$@" ;;
  *) exec /bin/sh "$@" ;;
esac
[ $# -gt 1 ] || exec /bin/sh "$@"
shift
command=$1
shift
exec /bin/sh -lc ${quoted(start)}"$command" "$@"
`;
}

function gitShim({ git, tree, commonDir }: ShimOptions): string {
  return `#!/bin/sh
# Several work in this folder at once: git may look, but not change what belongs to all.
refuse() {
  echo "swarm: $1 is not available here: others work in this folder too, and it would change their files, the index or the branch. Edit files directly; your work is kept and committed for you." >&2
  exit 1
}
git=${quoted(git)}
at=$(pwd -P)
elsewhere=yes
take=
for word in "$@"; do
  if [ "$take" = folder ]; then at=$(cd "$at" && cd "$word" 2>/dev/null && pwd -P) || at=; fi
  if [ "$take" = setting ]; then case "$word" in core.[wW]ork*) elsewhere= ;; esac; fi
  if [ -n "$take" ]; then take=; continue; fi
  case "$word" in
    -C) take=folder ;;
    -c) take=setting ;;
    --work-tree*|--git-dir*) elsewhere= ;;
    -*) ;;
    *) break ;;
  esac
done
case "$at/" in ${quoted(tree)}/*|/) elsewhere= ;; esac
[ -z "\${GIT_WORK_TREE-}" ] || elsewhere=
if [ -n "$elsewhere" ]; then
  common=$(cd "$at" && "$git" rev-parse --path-format=absolute --git-common-dir 2>/dev/null)
  top=$(cd "$at" && "$git" rev-parse --show-toplevel 2>/dev/null)
  case "$top/" in ${quoted(tree)}/*) common=${quoted(commonDir)} ;; esac
  [ "$common" = ${quoted(commonDir)} ] || exec "$git" "$@"
fi
for name in GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY; do
  eval "value=\\\${$name-}"
  [ -z "$value" ] || refuse "git with $name"
done
command=
skip=
for word in "$@"; do
  if [ -n "$skip" ]; then skip=; continue; fi
  case "$word" in
    -C|-C*) refuse "git -C" ;;
    --git-dir|--git-dir=*|--work-tree|--work-tree=*|--exec-path=*|--namespace|--namespace=*) refuse "git $word" ;;
    -c) skip=1 ;;
    --config-env=*|-p|-P|--paginate|--no-pager|--no-optional-locks|--literal-pathspecs|--no-replace-objects|--bare) ;;
    --version|--help|-h|-v) command=version; break ;;
    -*) refuse "git $word" ;;
    *) command=$word; break ;;
  esac
done
case "$command" in
  ''|${lookingCommands.join('|')}) ;;
  branch|tag|remote|config|stash|worktree|reflog|notes|submodule)
    # These look or change, by what follows: only the plain looks are let through.
    case "$*" in
      branch|'branch -a'|'branch -v'|'branch -vv'|'branch --list'*|'branch --show-current'|'tag'|'tag -l'*|'tag --list'*) ;;
      remote|'remote -v'|'remote show'*|'remote get-url'*|'config --get'*|'config -l'|'config --list'*) ;;
      'stash list'*|'worktree list'*|'reflog'|'reflog show'*|'submodule status'*) ;;
      *) refuse "git $command" ;;
    esac ;;
  *) refuse "git $command" ;;
esac
GIT_OPTIONAL_LOCKS=0 exec "$git" "$@"
`;
}

function checkShim(folder: string, check: readonly string[], env: Readonly<Record<string, string>>): string {
  const settings = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)} `);
  return `#!/bin/sh
# The check runs on a tree without the half-written files of others.
${withoutShims(folder)}
for word in "$@"; do
  case "$word" in ${otherUses.join('|')}) exec npx --no-install tsc "$@" ;; esac
done
${settings.join('')}exec ${check.map(quoted).join(' ')} tsc "$@"
`;
}

/** What comes after must find the real programs. */
function withoutShims(folder: string): string {
  return `here=${quoted(folder)}
unset BASH_ENV ${npmShell}
PATH=$(printf %s "$PATH" | tr : '\\n' | grep -Fxv "$here" | tr '\\n' :)
PATH=\${PATH%:}
export PATH`;
}

/** npm, npx and pnpm run scripts by the shell that this variable names. */
const npmShell = 'npm_config_script_shell';
const scriptShell = 'script-shell';
const ownScriptShell = 'SWARM_OWN_SCRIPT_SHELL';

function scriptShellShim(folder: string): string {
  return `#!/bin/sh
# npm has put node_modules/.bin in front of PATH; what is beside this file comes before it.
PATH=${quoted(folder)}:$PATH
export PATH
exec "\${${ownScriptShell}:-/bin/sh}" "$@"
`;
}

function npxShim(folder: string): string {
  return `#!/bin/sh
# npx looks into node_modules before PATH, so it would miss the tsc beside this file.
here=${quoted(folder)}
rest=
for word in "$@"; do
  case "$word" in
    --no-install|--no|--yes|-y|-n|--quiet|-q|--) ;;
    *) rest=$word; break ;;
  esac
done
if [ "$rest" = tsc ]; then
  while [ "$1" != tsc ]; do shift; done
  shift
  exec "$here/tsc" "$@"
fi
# What it runs finds the shims again, by the shell that npm is told of.
shell=$${npmShell}
${withoutShims(folder)}
${npmShell}=$shell
export ${npmShell}
exec npx "$@"
`;
}

/** `yarn tsc` and `pnpm tsc` go into node_modules before PATH too; a script of that name is the package's own matter. */
function packagerShim(folder: string, name: string): string {
  return `#!/bin/sh
# ${name} looks into node_modules before PATH, so it would miss the tsc beside this file.
here=${quoted(folder)}
if ! grep -Eqs '"tsc"[[:space:]]*:' package.json; then
  skip=0
  for word in "$@"; do
    case "$word" in
      run|exec|-s|--silent|-q|--quiet|--) skip=$((skip + 1)) ;;
      tsc) shift $((skip + 1)); exec "$here/tsc" "$@" ;;
      *) break ;;
    esac
  done
fi
# What its scripts run finds the shims again, by the shell that it is told of.
shell=$${npmShell}
${withoutShims(folder)}
${npmShell}=$shell
export ${npmShell}
exec ${name} "$@"
`;
}

/** A word as the shell takes it literally. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

async function put(file: string, content: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  await writeFile(temporary, content, { mode: 0o755 });
  await chmod(temporary, 0o755);
  await rename(temporary, file);
}
