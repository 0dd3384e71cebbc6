import { lstat, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { userName } from '../../core/keys.js';
import type { Repository } from '../../ports/git.js';
import type { Entry, Heard, LedgerLine, QuarantinePlan, Writer } from '../../ports/sharedTree.js';
import { clockTick, namesPath } from '../../effects/heard.js';
import { rawFile, sameEntry, writeBlobs } from './blobs.js';
import { createBaseline, type Baseline } from './baseline.js';
import { ignoredPaths } from './changes.js';
import { parseEdits } from './edits.js';
import { lookInside } from './embedded.js';
import { signatureNow } from './materialise.js';
import { isReachable } from './reach.js';
import { splitNul, type GitRunner } from './runner.js';
import { copyIndex, sparseEnvironment, withTemporaryIndex } from './temporaryIndex.js';
import { untrackedFiles } from './untracked.js';

/**
 * Who wrote what in a shared tree. It keeps what each changed path held when it was last looked at; what differs at
 * the next look was written by whoever was at work in between.
 */
export interface Ledger {
  start(running: readonly Writer[], unfinished: readonly QuarantinePlan[]): Promise<readonly LedgerLine[]>;
  writing(writer: Writer, file: string, heard?: () => Heard): Promise<readonly LedgerLine[]>;
  wrote(writer: Writer, file: string): Promise<readonly LedgerLine[]>;
  shellStarted(writer: Writer): Promise<readonly LedgerLine[]>;
  shellEnded(writer: Writer): Promise<readonly LedgerLine[]>;
  look(heard: () => Heard): Promise<readonly LedgerLine[]>;
  /** The last lines that were handed out, also by a run before this one. */
  recent(): readonly LedgerLine[];
  ourWrite<Result>(
    act: () => Promise<Result>,
    heard?: () => Heard,
  ): Promise<{ result: Result; lines: readonly LedgerLine[] }>;
  /** Lets nobody look while `act` writes to the tree, and takes what it wrote as nobody's edit. */
  whileWriting<Result extends Written>(act: () => Promise<Result>): Promise<Result>;
}

/** The paths that were written, and the blobs that they were written from. */
export interface Written {
  readonly done: readonly string[];
  readonly stored: ReadonlySet<string>;
}

interface Known {
  readonly entry: Entry | null;
  /** How the file looked; null where that tells too little to skip a comparison of bytes. */
  readonly signature: string | null;
}

interface Changed {
  readonly path: string;
  readonly before: Entry | null;
  readonly after: Entry | null;
}

/** A time stamp younger than this may hide a second write in the same tick. */
const youngestTrusted = 50;

const knownSchema = z.object({
  version: z.literal(1),
  known: z.array(
    z.object({ path: z.string(), entry: z.object({ mode: z.string(), id: z.string() }).nullable() }),
  ),
  recent: z.array(z.object({ child: z.string(), edit: z.unknown() })).default([]),
  repositories: z.array(z.string()).nullable().default(null),
});

/** So many lines are handed out at most before the first of them is on the disk. */
const mostRecent = 200;

export function createLedger(runner: GitRunner, repository: Repository, now: () => number): Ledger {
  const { topLevel: top, gitDir, objectFormat } = repository;
  const home = path.join(gitDir, 'swarm-panel');
  const index = path.join(home, 'watched-index');
  const knownFile = path.join(home, 'watched.json');
  const environment = { GIT_INDEX_FILE: index, ...sparseEnvironment };
  const known = new Map<string, Known>();
  const open: Writer[] = [];
  /** Repositories inside the tree that were there before, or came from elsewhere: they are nobody's edits. */
  let foreign: Set<string> | null = null;
  let recent: readonly LedgerLine[] = [];
  const ignored = new Map<string, boolean>();
  let baseline: Baseline | null = null;
  let lastAt = 0;
  let stampsAreOurs = true;
  let turn: Promise<unknown> = Promise.resolve();

  function inTurn<Result>(act: () => Promise<Result>): Promise<Result> {
    const mine = turn.catch(() => undefined).then(act);
    turn = mine;
    return mine;
  }

  async function start(
    running: readonly Writer[],
    unfinished: readonly QuarantinePlan[],
  ): Promise<readonly LedgerLine[]> {
    await mkdir(home, { recursive: true });
    await removeStages(home);
    stampsAreOurs = await tellsOurTime(home);
    const saved = await readKnown(knownFile);
    if (saved === null) {
      await copyIndex(path.join(gitDir, 'index'), index);
      await scan();
      await save();
      return [];
    }
    for (const { path: file, entry } of saved.known) known.set(file, { entry, signature: null });
    recent = saved.recent;
    foreign = saved.repositories === null ? null : new Set(saved.repositories);
    // Of several nobody can say whose a change is; their own words, which are read again, can.
    if (running.length > 1) return [];
    const restored = unfinished.flatMap(({ moves }) => moves);
    const changes = (await scan()).filter(
      ({ path: file, after }) =>
        !restored.some((move) => move.path === file && sameEntry(move.restored, after)),
    );
    const lines = attributed(changes, running);
    await save();
    return lines;
  }

  /** Everything that differs from what was known; known afterwards. */
  async function scan(): Promise<readonly Changed[]> {
    const candidates = new Set([...(await dirtyPaths()), ...known.keys()]);
    return look([...candidates]);
  }

  /** `stored`: blobs of which it is known that the object store has them. */
  async function look(
    paths: readonly string[],
    stored: ReadonlySet<string> = new Set(),
  ): Promise<readonly Changed[]> {
    baseline ??= await createBaseline(runner, repository, environment);
    const changed: Changed[] = [];
    const unwritten: Buffer[] = [];
    const fresh: string[] = [];
    const looks = new Map<string, { readonly signature: string | null; readonly entry: Entry | null }>();
    for (const file of paths.filter((each) => isReachable(top, each))) {
      const before = known.get(file);
      const signature = signatureNow(path.join(top, file));
      const seen = before?.signature ?? null;
      if (seen !== null && seen === trusted(signature)) continue;
      const raw = await rawFile(objectFormat, top, file);
      looks.set(file, { signature: trusted(signature), entry: raw?.entry ?? null });
      if (before === undefined) fresh.push(file);
      if (raw !== null && before?.entry?.id !== raw.entry.id && !stored.has(raw.entry.id))
        unwritten.push(raw.bytes);
    }
    const { entries, bytes } = await baseline.entries(fresh);
    await writeBlobs(runner, top, [...unwritten, ...bytes]);
    for (const [file, { signature, entry }] of looks) {
      const before = known.has(file) ? (known.get(file)?.entry ?? null) : (entries.get(file) ?? null);
      known.set(file, { entry, signature });
      if (!sameEntry(before, entry)) changed.push({ path: file, before, after: entry });
    }
    return changed;
  }

  async function dirtyPaths(): Promise<readonly string[]> {
    const [differing, files] = await Promise.all([
      runner.run(top, ['diff-files', '-z', '--name-only', '--ignore-submodules=all'], { environment }),
      untrackedFiles(runner, top, environment),
    ]);
    const plain = files.filter((file) => !file.endsWith('/'));
    const repositories = files.filter((file) => file.endsWith('/'));
    return [...splitNul(differing.stdout), ...plain, ...(await filesInside(repositories))];
  }

  /** Files of repositories that were made since we look. */
  async function filesInside(repositories: readonly string[]): Promise<readonly string[]> {
    const known = (foreign ??= new Set(repositories));
    const made = repositories.filter((folder) => !known.has(folder));
    if (made.length === 0) return [];
    const { files, left } = await withTemporaryIndex(runner, top, gitDir, { index, tree: null }, (copy) =>
      lookInside(runner, top, copy, made),
    );
    for (const { path: folder } of left) known.add(folder);
    return files;
  }

  function attributed(changes: readonly Changed[], writers: readonly Writer[]): readonly LedgerLine[] {
    return changes.flatMap((change) => attributedOne(change, writers));
  }

  function attributedOne(change: Changed, writers: readonly Writer[]): readonly LedgerLine[] {
    const children = likelyWriters(change.path, writers);
    if (children.length === 0) {
      const nobody: Writer = { child: userName, attempt: 0, tool: 'unknown' };
      return [line(nobody, change, 'exclusive', [])];
    }
    return children.map((writer) => {
      const others = children.filter(({ child }) => child !== writer.child).map(({ child }) => child);
      return line(writer, change, others.length === 0 ? 'exclusive' : 'ambiguous', others);
    });
  }

  /** By when each path was changed, and what was heard of who was at work then. */
  async function attributedBy(changes: readonly Changed[], ask: () => Heard): Promise<readonly LedgerLine[]> {
    const times = await Promise.all(changes.map((change) => changedAt(change.path)));
    const heard = ask();
    const lines: LedgerLine[] = [];
    for (const [at, change] of changes.entries()) {
      const time = times[at] ?? null;
      const claim = heard.claimAt(time, change.path);
      const writers = likelyWriters(change.path, heard.writersAt(time, change.path));
      const isFresh = time !== null && now() - time < settled;
      if (claim !== null) lines.push(line(claim, change, 'exact', []));
      else if (heard.mayWait && isFresh && !writers.some((writer) => namesPath(writer.command, change.path)))
        // Taken for unchanged, it is found again by the next look.
        known.set(change.path, { entry: change.before, signature: null });
      else lines.push(...attributedOne(change, writers));
    }
    return lines;
  }

  /** When a path was changed, a deleted one by the time stamp of its folder; null where stamps tell nothing. */
  async function changedAt(file: string): Promise<number | null> {
    if (!stampsAreOurs) return null;
    for (let at = file; ; at = path.posix.dirname(at)) {
      const stats = await lstat(path.join(top, at)).catch(() => null);
      if (stats !== null) return stats.ctimeMs;
      if (at === '.') return null;
    }
  }

  function line(
    writer: Writer,
    { path: file, before, after }: Changed,
    confidence: LedgerLine['edit']['confidence'],
    others: readonly string[],
  ): LedgerLine {
    // Strictly later than the one before, so that edits of several children have one order.
    lastAt = Math.max(lastAt + 1, now());
    const edit = {
      path: file,
      before: before?.id ?? null,
      after: after?.id ?? null,
      beforeMode: before?.mode ?? null,
      afterMode: after?.mode ?? null,
      tool: writer.tool,
      attempt: writer.attempt,
      at: lastAt,
      confidence,
      others,
    };
    return { child: writer.child, edit };
  }

  /** Whether a path that a tool names is one of the tree's: not ignored, not outside. */
  async function isWatched(file: string): Promise<boolean> {
    const normal = path.posix.normalize(file);
    if (normal !== file || file.startsWith('../') || path.isAbsolute(file)) return false;
    if (file.split('/').some((part) => part === '.git' || part === 'node_modules')) return false;
    if (repository.submodules.some((folder) => file === folder || file.startsWith(`${folder}/`)))
      return false;
    const cached = ignored.get(file);
    if (cached !== undefined) return !cached;
    const answer = (await ignoredPaths(runner, repository, [file])).has(file);
    ignored.set(file, answer);
    return !answer;
  }

  async function save(): Promise<void> {
    const list = [...known].map(([file, { entry }]) => ({ path: file, entry }));
    const repositories = foreign === null ? null : [...foreign];
    const temporary = `${knownFile}.${process.pid}.tmp`;
    await writeFile(temporary, JSON.stringify({ version: 1, known: list, recent, repositories }), {
      mode: 0o600,
    });
    await rename(temporary, knownFile);
  }

  async function saved(lines: readonly LedgerLine[]): Promise<readonly LedgerLine[]> {
    recent = [...recent, ...lines].slice(-mostRecent);
    if (lines.length > 0) await save();
    return lines;
  }

  return {
    recent: () => recent,
    start: (running, unfinished) => inTurn(() => start(running, unfinished)),
    ourWrite: (act, heard) =>
      inTurn(async () => {
        const changes = await scan();
        const lines = heard === undefined ? attributed(changes, open) : await attributedBy(changes, heard);
        const result = await act();
        await scan();
        await save();
        return { result, lines };
      }),
    writing: (_writer, file, heard) =>
      inTurn(async () => {
        if (!(await isWatched(file))) return [];
        const changes = await look([file]);
        return saved(heard === undefined ? attributed(changes, open) : await attributedBy(changes, heard));
      }),
    wrote: (writer, file) =>
      inTurn(async () => {
        if (!(await isWatched(file))) return [];
        return saved((await look([file])).map((change) => line(writer, change, 'exact', [])));
      }),
    shellStarted: (writer) =>
      inTurn(async () => {
        ignored.clear();
        const lines = attributed(await scan(), open);
        open.push(writer);
        return saved(lines);
      }),
    shellEnded: (writer) =>
      inTurn(async () => {
        ignored.clear();
        const at = open.findIndex(
          ({ child, attempt }) => child === writer.child && attempt === writer.attempt,
        );
        const lines = attributed(await scan(), at < 0 ? [...open, writer] : open);
        if (at >= 0) open.splice(at, 1);
        return saved(lines);
      }),
    look: (heard) =>
      inTurn(async () => {
        ignored.clear();
        return saved(await attributedBy(await scan(), heard));
      }),
    whileWriting: (act) =>
      inTurn(async () => {
        const result = await act();
        await look(result.done, result.stored);
        await save();
        return result;
      }),
  };
}

/** What is older has been heard of, if it can be. */
const settled = 1000;

/** One of each child; of several, those alone whose command names the file, where it is one. */
function likelyWriters(file: string, writers: readonly Writer[]): readonly Writer[] {
  const children = new Map<string, Writer>();
  const naming = new Map<string, Writer>();
  for (const writer of writers) {
    children.set(writer.child, writer);
    if (namesPath(writer.command, file)) naming.set(writer.child, writer);
  }
  return [...(children.size > 1 && naming.size === 1 ? naming : children).values()];
}

/** Whether the file system's time stamps come from this machine's clock. */
async function tellsOurTime(folder: string): Promise<boolean> {
  const probe = path.join(folder, `clock-${process.pid}`);
  try {
    const before = Date.now();
    await writeFile(probe, '');
    const { ctimeMs } = await lstat(probe);
    return ctimeMs >= before - clockTick && ctimeMs <= Date.now() + clockTick;
  } catch {
    return false;
  } finally {
    await rm(probe, { force: true });
  }
}

/** A signature that is old enough to be believed. */
function trusted(signature: string | null): string | null {
  if (signature === null) return 'nothing';
  if (signature === 'folder') return signature;
  const modified = Number(BigInt(signature.split(':')[3] ?? '0') / 1_000_000n);
  return Date.now() - modified < youngestTrusted ? null : signature;
}

interface Saved {
  readonly known: readonly { readonly path: string; readonly entry: Entry | null }[];
  readonly recent: readonly LedgerLine[];
  readonly repositories: readonly string[] | null;
}

async function readKnown(file: string): Promise<Saved | null> {
  try {
    const parsed = knownSchema.safeParse(JSON.parse(await readFile(file, 'utf8')));
    if (!parsed.success) return null;
    const recent = parsed.data.recent.flatMap(({ child, edit }) =>
      parseEdits(JSON.stringify(edit)).map((line) => ({ child, edit: line })),
    );
    return { known: parsed.data.known, recent, repositories: parsed.data.repositories };
  } catch {
    return null;
  }
}

/** Stages that a crash left behind. Their backups are of use to nobody: a repair compares the tree itself. */
async function removeStages(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    const pid = Number(/^(?:stage|index)-(\d+)-/.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid) || pid === process.pid || isAlive(pid)) continue;
    await rm(path.join(home, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
