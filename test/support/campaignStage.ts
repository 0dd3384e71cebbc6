import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { lookAtStore } from '../../src/supervisor/node/store/look.js';
import { createProcesses } from '../../src/supervisor/node/processes/index.js';

/** A repository with edits of the user's that nobody may touch, and the agent of the story. */
export interface Stage {
  readonly root: string;
  /** Holds the repository, its worktrees and the agent: faults are injected below it. */
  readonly below: string;
  readonly repository: string;
  /** Where agents note what they did; no fault reaches it. */
  readonly memory: string;
  remove(): void;
}

/**
 * The first child of each batch writes half a file, meets a limit that resets within two seconds, and writes it whole
 * when it is resumed; the others wait for the limit and then do their work.
 */
const agent = `
say() { printf '%s\\n' "$1"; }
printf '%s %s %s\\n' "$SWARM_BATCH" "$SWARM_CHILD" "$SWARM_ATTEMPT" >> "$TEST_MEMORY/starts.log"
say '{"type":"session","id":"'"\${SWARM_SESSION:-session-$SWARM_CHILD}"'"}'
say '{"type":"read","path":"README.md"}'
case $SWARM_CHILD in
a1|s1)
  limit=$TEST_MEMORY/limit-$SWARM_BATCH
  if [ ! -e "$limit" ]; then
    printf 'half' > "$SWARM_CHILD.txt"
    say '{"type":"write","path":"'"$SWARM_CHILD"'.txt"}'
    sleep 0.15
    : > "$limit"
    say '{"type":"limit","status":"rejected","resetsAt":'"$(( $(date +%s) + 1 ))"',"window":"five_hour"}'
    exit 1
  fi ;;
a2|s2)
  count=0
  while [ ! -e "$TEST_MEMORY/limit-$SWARM_BATCH" ] && [ $count -lt 40 ]; do count=$((count+1)); sleep 0.1; done ;;
esac
printf 'whole %s\\n' "$SWARM_CHILD" > "$SWARM_CHILD.txt"
say '{"type":"write","path":"'"$SWARM_CHILD"'.txt"}'
say '{"type":"decision","text":"it is whole"}'
say '{"type":"done","result":"made it"}'
printf '%s %s\\n' "$SWARM_BATCH" "$SWARM_CHILD" >> "$TEST_MEMORY/ends.log"
`;

let template: string | null = null;

export function createStage(): Stage {
  template ??= makeTemplate();
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'swarm-story-')));
  const below = path.join(root, 'below');
  execFileSync('cp', ['-a', template, below]);
  const memory = path.join(root, 'memory');
  fs.mkdirSync(memory);
  return {
    root,
    below,
    repository: path.join(below, 'repository'),
    memory,
    remove: () => fs.rmSync(root, { recursive: true, force: true, maxRetries: 3 }),
  };
}

function makeTemplate(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'swarm-template-'));
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  const repository = path.join(folder, 'repository');
  fs.mkdirSync(repository);
  fs.writeFileSync(path.join(folder, 'agent.sh'), agent);
  git(repository, 'init', '-q', '-b', 'main');
  fs.writeFileSync(path.join(repository, 'README.md'), 'hello\n');
  fs.writeFileSync(path.join(repository, 'mine.txt'), 'one\n');
  fs.writeFileSync(path.join(repository, '.gitignore'), 'ignored.txt\n');
  git(repository, 'add', '-A');
  git(repository, 'commit', '-q', '-m', 'start');
  // What the user is at: something staged, something not, something new, something ignored, something stashed.
  fs.writeFileSync(path.join(repository, 'README.md'), 'stashed\n');
  git(repository, 'stash', '-q');
  fs.writeFileSync(path.join(repository, 'mine.txt'), 'one\nstaged\n');
  git(repository, 'add', 'mine.txt');
  fs.writeFileSync(path.join(repository, 'mine.txt'), 'one\nstaged\nnot staged\n');
  fs.writeFileSync(path.join(repository, 'notes.txt'), 'mine\n');
  fs.writeFileSync(path.join(repository, 'ignored.txt'), 'mine too\n');
  return folder;
}

function git(folder: string, ...args: string[]): string {
  return execFileSync('git', args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: 'Test',
      GIT_AUTHOR_EMAIL: 'test@example.invalid',
      GIT_COMMITTER_NAME: 'Test',
      GIT_COMMITTER_EMAIL: 'test@example.invalid',
    },
  });
}

const everyFile = {
  '.gitignore': 'ignored.txt\n',
  'README.md': 'hello\n',
  'mine.txt': 'one\nstaged\nnot staged\n',
  'notes.txt': 'mine\n',
  'ignored.txt': 'mine too\n',
  'a1.txt': 'whole a1\n',
  'a2.txt': 'whole a2\n',
  'a3.txt': 'whole a3\n',
  's1.txt': 'whole s1\n',
  's2.txt': 'whole s2\n',
};

/** What is wrong after the story has ended; nothing, as a rule. */
export async function examineStage({ repository, memory }: Stage): Promise<string[]> {
  const wrong: string[] = [];
  const expectSame = (what: string, found: unknown, wanted: unknown): void => {
    if (JSON.stringify(found) !== JSON.stringify(wanted))
      wrong.push(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
  };
  const files: Record<string, string> = {};
  for (const name of fs.readdirSync(repository).sort())
    if (name !== '.git' && name !== '.swarm')
      files[name] = fs.readFileSync(path.join(repository, name), 'utf8');
  expectSame('the tree', sorted(files), sorted(everyFile));
  expectSame(
    'the index',
    git(repository, 'diff', '--cached', '--stat'),
    ' mine.txt | 1 +\n 1 file changed, 1 insertion(+)\n',
  );
  expectSame('HEAD', git(repository, 'log', '--format=%s'), 'start\n');
  expectSame('the stash', git(repository, 'stash', 'list').split('\n').length, 2);
  try {
    const sound = git(repository, 'fsck', '--no-progress', '--no-dangling');
    if (/missing|error|broken|invalid/.test(sound)) wrong.push(`git fsck: ${sound}`);
  } catch (error) {
    wrong.push(`git fsck: ${String(error)}`);
  }

  const starts = linesOf(path.join(memory, 'starts.log'));
  const twice = starts.filter((line, index) => starts.indexOf(line) !== index);
  if (twice.length > 0) wrong.push(`attempts that were started twice: ${twice.join(', ')}`);
  const ends = linesOf(path.join(memory, 'ends.log')).sort();
  const endsTwice = ends.filter((line, index) => ends.indexOf(line) !== index);
  if (endsTwice.length > 0) wrong.push(`children that ended twice: ${endsTwice.join(', ')}`);

  const look = await lookAtStore(path.join(repository, '.swarm'));
  if (look === null) wrong.push('there is no .swarm');
  else if (look.problems.length > 0) wrong.push(`problems: ${JSON.stringify(look.problems)}`);
  const launches = look?.events.filter(({ event }) => event.type === 'batchLaunched').length;
  if (look !== null && look.state === null) expectSame('launches', launches, 2);
  const nonces = noncesBelow(path.join(repository, '.swarm', 'batches'));
  const left = await createProcesses().survivors(nonces);
  if (left.length > 0) wrong.push(`left running: ${JSON.stringify(left)}`);
  return wrong;
}

function noncesBelow(folder: string): string[] {
  const files = fs.existsSync(folder) ? fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  return files
    .filter((file) => path.basename(file) === 'command.json')
    .flatMap(
      (file) => /"nonce": "([0-9a-f]+)"/.exec(fs.readFileSync(path.join(folder, file), 'utf8'))?.[1] ?? [],
    );
}

function linesOf(file: string): string[] {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split('\n') : [];
}

function sorted(files: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1));
}
