import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createGit } from '../src/supervisor/node/git/index.js';
import { createSharedTree } from '../src/supervisor/node/git/sharedTree.js';
import type { Git, Repository } from '../src/supervisor/ports/git.js';
import type { Edit } from '../src/supervisor/ports/sharedTree.js';

/**
 * Times what the git part does in a generated repository, against what one would do by hand, in one run:
 * `node bench/run.mjs git [files] [capture,launch,check] [rounds of launches]`, in $TMPDIR.
 */
const fileCount = Number(process.argv[2] ?? 50_000);
const parts = (process.argv[3] ?? 'capture,launch,check').split(',');
const pathCount = 32;
const childCount = 8;
const rounds = Number(process.argv[4] ?? 3);

const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'swarm-bench-')));
const top = path.join(home, 'project');
const env: NodeJS.ProcessEnv = { ...process.env, HOME: home };

function git(...args: readonly string[]): string {
  return execFileSync('git', args, {
    cwd: top,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 1 << 28,
  });
}

function nameOf(number: number): string {
  return `packages/p${number % 50}/src/d${Math.floor(number / 50) % 40}/f${number}.ts`;
}

/** In one pack, as a clone has it. Nothing is deleted: some file systems are slow for a while after that. */
function generate(): void {
  mkdirSync(top);
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: top, env });
  git('config', 'user.name', 'Bench');
  git('config', 'user.email', 'bench@localhost');
  git('config', 'gc.auto', '0');
  const lines = ['commit refs/heads/main', 'committer Bench <bench@localhost> now', 'data 9', 'generated'];
  for (let number = 0; number < fileCount; number += 1) {
    const text = `export const value${number} = ${number};\n${`// line of file ${number}\n`.repeat(20)}`;
    lines.push(`M 100644 inline ${nameOf(number)}`, `data ${text.length}`, text);
  }
  execFileSync('git', ['fast-import', '--quiet', '--date-format=now', '--done'], {
    cwd: top,
    env,
    input: `${lines.join('\n')}\ndone\n`,
  });
  git('reset', '-q', '--hard');
}

async function timed(act: () => unknown): Promise<number> {
  const from = performance.now();
  await act();
  return performance.now() - from;
}

/** The middle of several runs; `again` puts the scene back without being timed. */
async function median(
  runs: number,
  act: (run: number) => unknown,
  again: (run: number) => unknown,
): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    await again(run);
    times.push(await timed(() => act(run)));
  }
  return middle(times);
}

function middle(times: readonly number[]): number {
  return [...times].sort((one, other) => one - other)[Math.floor(times.length / 2)] ?? Number.NaN;
}

function report(what: string, milliseconds: number, goal = ''): void {
  console.log(`${what.padEnd(72)} ${milliseconds.toFixed(0).padStart(7)} ms  ${goal}`);
}

function editedPaths(run: number): readonly string[] {
  return Array.from({ length: pathCount }, (_, at) =>
    at % 8 === 7 ? `packages/p${at}/src/new${at}.ts` : nameOf((at * 1543 + run * 97) % fileCount),
  );
}

function edit(run: number): void {
  for (const file of editedPaths(run)) writeFileSync(path.join(top, file), `half-written ${run} ${file} {\n`);
}

function clean(): void {
  git('checkout', '-q', '--', '.');
  git('clean', '-fdq');
}

async function benchCapture(real: Git, repository: Repository): Promise<void> {
  const shadow = path.join(home, 'shadow.git');
  const shadowGit = (...args: readonly string[]): string =>
    git(`--git-dir=${shadow}`, `--work-tree=${top}`, ...args);
  git('init', '-q', '--bare', shadow);
  shadowGit('config', 'user.name', 'Bench');
  shadowGit('config', 'user.email', 'bench@localhost');
  shadowGit('add', '.');
  shadowGit('commit', '-qm', 'shadow');

  const tree = createSharedTree(repository, { env });
  await tree.start([]);
  const worktree = (run: number) => ({
    path: path.join(home, 'w', `c${run}`),
    base: repository.head,
    files: ['packages/p1/**'],
    link: 'none' as const,
    setup: [],
    logFile: path.join(home, 'log'),
  });
  const writer = { child: 'c', attempt: 1, tool: 'shell' };
  const scans: number[] = [];
  const captures: number[] = [];
  const wholes: number[] = [];
  const backs: number[] = [];
  const byHand = { stash: [] as number[], stashPush: [] as number[], shadowed: [] as number[] };
  // In turn with ours: others may use the machine now more, now less.
  for (let run = 0; run < 5; run += 1) {
    clean();
    edit(run);
    let pushed = 0;
    const whole = await timed(async () => {
      pushed = await timed(() => git('stash', 'push', '-q', '-u'));
      git('stash', 'pop', '-q');
    });
    byHand.stash.push(whole);
    byHand.stashPush.push(pushed);
    clean();
    edit(run);
    byHand.shadowed.push(
      await timed(() => {
        shadowGit('add', '.');
        shadowGit('commit', '-qm', `shadow ${run}`);
      }),
    );
    clean();
    await tree.shellStarted(writer);
    edit(run + 10);
    let edits: readonly Edit[] = [];
    scans.push(
      await timed(async () => {
        edits = (await tree.shellEnded(writer)).map((line) => line.edit);
      }),
    );
    const from = performance.now();
    let restored = 0;
    let plan = null;
    const outcome = await tree.quarantine({
      child: 'c',
      edits,
      others: [],
      ref: `refs/swarm/bench/c/q${run}`,
      worktree: worktree(run),
      noteStep: (step) => {
        if (step.step === 'intent') plan = step.plan;
        if (step.step === 'restored') restored = performance.now() - from;
        return Promise.resolve();
      },
    });
    if (outcome.moved.length !== pathCount || git('status', '--porcelain') !== '')
      throw new Error('the quarantine is not complete');
    captures.push(restored);
    wholes.push(performance.now() - from);
    if (plan !== null) {
      const given = plan;
      backs.push(await timed(() => tree.giveBack(given)));
    }
  }
  clean();
  console.log(`\nCapture and restore of ${pathCount} paths in ${fileCount} files`);
  const stashPush = middle(byHand.stashPush);
  report('git stash push -u', stashPush);
  report('git stash push -u, then pop', middle(byHand.stash));
  report('shadow repository: add . and commit', middle(byHand.shadowed));
  const capture = middle(captures);
  report(
    'ours: plan, capture (verified, on disk) and restore',
    capture,
    `${(stashPush / capture).toFixed(1)} times faster than stash push -u (goal 4)`,
  );
  report('ours: and a sparse worktree made with the files in it', middle(wholes));
  report('ours: given back', middle(backs));
  report('ours: look after a shell call', middle(scans));

  const own = await real.ensureWorktree(repository, {
    ...worktree(99),
    files: null,
    path: path.join(home, 'w', 'snapshot'),
  });
  if (!own.ok) throw new Error(own.message);
  for (const file of editedPaths(3)) {
    mkdirSync(path.dirname(path.join(own.path, file)), { recursive: true });
    writeFileSync(path.join(own.path, file), 'work\n');
  }
  let n = 0;
  const snapshot = await median(
    5,
    () =>
      real.snapshot({
        repository,
        worktree: own,
        ref: `refs/swarm/bench/s/${(n += 1)}`,
        message: 'm',
        previous: null,
      }),
    () => undefined,
  );
  report('ours: snapshot of a whole worktree', snapshot);
}

async function benchLaunch(real: Git, repository: Repository): Promise<void> {
  const placesOf = (round: string): readonly string[] =>
    Array.from({ length: childCount }, (_, at) => path.join(home, 'l', round, `launch${at}`));
  const request = (place: string, files: readonly string[] | null) => ({
    path: place,
    base: repository.head,
    files,
    link: 'link' as const,
    setup: [],
    logFile: path.join(home, 'log'),
  });
  const times = {
    plain: [] as number[],
    atOnce: [] as number[],
    full: [] as number[],
    mean: [] as number[],
    first: [] as number[],
    sparse: [] as number[],
  };
  const ways: readonly ((round: number) => Promise<unknown>)[] = [
    async (round) => {
      const add = (place: string): string => git('worktree', 'add', '-q', '--detach', place);
      times.plain.push(await timed(() => placesOf(`plain${round}`).forEach(add)));
    },
    async (round) => {
      const add = (place: string): Promise<unknown> =>
        new Promise((resolve) =>
          spawn('git', ['worktree', 'add', '-q', '--detach', place], { cwd: top, env, stdio: 'ignore' }).on(
            'close',
            resolve,
          ),
        );
      times.atOnce.push(await timed(() => Promise.all(placesOf(`atOnce${round}`).map(add))));
    },
    async (round) => {
      const ready: number[] = [];
      const from = performance.now();
      await Promise.all(
        placesOf(`full${round}`).map(async (place) => {
          const made = await real.ensureWorktree(repository, request(place, null));
          if (!made.ok) throw new Error(made.message);
          ready.push(performance.now() - from);
        }),
      );
      times.full.push(performance.now() - from);
      times.first.push(ready[0] ?? Number.NaN);
      times.mean.push(ready.reduce((sum, time) => sum + time, 0) / ready.length);
    },
    async (round) => {
      const make = (place: string, at: number): Promise<unknown> =>
        real.ensureWorktree(repository, request(place, [`packages/p${at}/**`]));
      times.sparse.push(await timed(() => Promise.all(placesOf(`sparse${round}`).map(make))));
    },
  ];
  for (let round = 0; round < rounds; round += 1)
    for (const way of round % 2 === 0 ? ways : [...ways].reverse()) await way(round);
  const plain = middle(times.plain);
  const full = middle(times.full);
  const sparse = middle(times.sparse);
  console.log(`\nLaunch of ${childCount} children in ${fileCount} files`);
  report('plain git worktree add, one after another', plain);
  const atOnce = middle(times.atOnce);
  report(
    'plain git worktree add, all at once',
    atOnce,
    `${(plain / atOnce).toFixed(1)} times faster: what the machine gives`,
  );
  report('ours: full trees, all ready', full, `${(plain / full).toFixed(1)} times faster (goal 2)`);
  report('ours: full trees, the first ready', middle(times.first));
  report('ours: full trees, ready in the mean', middle(times.mean));
  report(
    'ours: with files scopes, all ready',
    sparse,
    `${(plain / sparse).toFixed(1)} times faster (goal 10)`,
  );
}

async function benchCheck(real: Git, repository: Repository): Promise<void> {
  const checker = path.join(home, 'checker.sh');
  writeFileSync(checker, '#!/bin/sh\nsleep 1\n');
  chmodSync(checker, 0o755);
  const tree = createSharedTree(repository, { env });
  await tree.start([]);
  const plain = await median(
    5,
    () => new Promise((resolve) => spawn(checker, { cwd: top, stdio: 'ignore' }).on('close', resolve)),
    () => undefined,
  );
  const ours = await median(
    5,
    () =>
      tree.checkComposite({
        check: { command: [checker], folder: '.' },
        folder: path.join(home, 'scratch'),
        half: [],
        others: [],
        onOutput: null,
      }),
    () => undefined,
  );
  console.log('\nA check (one that takes a second) when nothing is half-written');
  report('plain', plain);
  report('ours', ours, `${(ours - plain).toFixed(0)} ms more (goal 150)`);
  const forecast = await median(
    3,
    () => real.forecast(repository, []),
    () => undefined,
  );
  report('forecast of no child', forecast);
}

try {
  console.log(`${fileCount} files, load ${readFileSync('/proc/loadavg', 'utf8').trim()}`);
  const from = performance.now();
  generate();
  console.log(git('--version').trim());
  report('the repository generated', performance.now() - from);
  const real = createGit({ env });
  const repository = await real.inspect(top);
  if (!repository.ok) throw new Error(repository.message);
  if (parts.includes('capture')) await benchCapture(real, repository);
  if (parts.includes('launch')) await benchLaunch(real, repository);
  if (parts.includes('check')) await benchCheck(real, repository);
} finally {
  rmSync(home, { recursive: true, force: true });
}
