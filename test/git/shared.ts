import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { createSharedTree } from '../../src/supervisor/node/git/sharedTree.js';
import type {
  Edit,
  LedgerLine,
  QuarantineOutcome,
  QuarantinePlan,
  QuarantineStep,
  SharedTree,
} from '../../src/supervisor/ports/sharedTree.js';
import { testEnvironment, type TestRepo } from './repo.js';

/** What is done in a folder, by whomever. */
export type Act = (at: Folder) => void;

export interface Folder {
  readonly top: string;
  write(file: string, content: string | Uint8Array, mode?: number): void;
  replace(file: string, from: string, to: string): void;
  remove(file: string): void;
  move(from: string, to: string): void;
  chmod(file: string, mode: number): void;
  link(target: string, file: string): void;
}

export function folderAt(top: string): Folder {
  const at = (file: string): string => path.join(top, file);
  return {
    top,
    write(file, content, mode) {
      mkdirSync(path.dirname(at(file)), { recursive: true });
      writeFileSync(at(file), content);
      if (mode !== undefined) chmodSync(at(file), mode);
    },
    replace(file, from, to) {
      const text = readFileSync(at(file), 'utf8');
      if (!text.includes(from)) throw new Error(`${file} does not have ${from}`);
      writeFileSync(at(file), text.replace(from, to));
    },
    remove(file) {
      rmSync(at(file), { recursive: true, force: true });
      // As git does: a folder without files is no folder.
      for (let folder = path.dirname(file); folder !== '.'; folder = path.dirname(folder)) {
        if (readdirSync(at(folder)).length > 0) return;
        rmdirSync(at(folder));
      }
    },
    move(from, to) {
      mkdirSync(path.dirname(at(to)), { recursive: true });
      renameSync(at(from), at(to));
    },
    chmod(file, mode) {
      chmodSync(at(file), mode);
    },
    link(target, file) {
      mkdirSync(path.dirname(at(file)), { recursive: true });
      symlinkSync(target, at(file));
    },
  };
}

/** A repository shared by children, with its ledgers in memory. */
export interface SharedRepo {
  readonly repo: TestRepo;
  readonly tree: SharedTree;
  readonly ledgers: ReadonlyMap<string, readonly Edit[]>;
  /** `you` acts without a window; a child within a shell call of its own. */
  readonly act: (who: string, act: Act) => Promise<void>;
  /** A child's tool writes the path. */
  readonly tool: (who: string, file: string, act: Act) => Promise<void>;
  readonly take: (lines: readonly LedgerLine[]) => void;
  readonly quarantine: (
    who: string,
    onStep?: (step: QuarantineStep) => void,
    whole?: readonly string[],
  ) => Promise<QuarantineOutcome & { readonly plan: QuarantinePlan | null }>;
  readonly worktreeOf: (who: string) => string;
}

export async function share(repo: TestRepo, base?: string): Promise<SharedRepo> {
  const repository = await repo.inspectAgain();
  const tree = createSharedTree(repository, { env: testEnvironment(repo.home) });
  const ledgers = new Map<string, Edit[]>();
  const rounds = new Map<string, number>();
  const folder = folderAt(repo.top);
  const take = (lines: readonly LedgerLine[]): void => {
    for (const { child, edit } of lines) ledgers.set(child, [...(ledgers.get(child) ?? []), edit]);
  };
  take(await tree.start([]));
  const worktreeOf = (who: string): string => path.join(repo.home, 'project.worktrees', 'b1', who);
  return {
    repo,
    tree,
    ledgers,
    take,
    worktreeOf,
    async act(who, act) {
      if (who === 'you') {
        act(folder);
        return;
      }
      const writer = { child: who, attempt: 1, tool: 'shell' };
      take(await tree.shellStarted(writer));
      act(folder);
      take(await tree.shellEnded(writer));
    },
    async tool(who, file, act) {
      const writer = { child: who, attempt: 1, tool: 'Edit' };
      take(await tree.writing(writer, file));
      act(folder);
      take(await tree.wrote(writer, file));
    },
    async quarantine(who, onStep, whole = []) {
      let plan: QuarantinePlan | null = null;
      const round = (rounds.get(who) ?? 0) + 1;
      rounds.set(who, round);
      const outcome = await tree.quarantine({
        child: who,
        edits: ledgers.get(who) ?? [],
        others: [...ledgers].filter(([child]) => child !== who).map(([child, edits]) => ({ child, edits })),
        whole,
        ref: `refs/swarm/b1/${who}/q${round}`,
        worktree: {
          path: worktreeOf(who),
          base: base ?? repository.head,
          files: null,
          link: 'none',
          setup: [],
          logFile: path.join(repo.home, 'log'),
        },
        noteStep: (step) => {
          if (step.step === 'intent') plan = step.plan;
          onStep?.(step);
          return Promise.resolve();
        },
      });
      take(outcome.lines.map((edit) => ({ child: who, edit })));
      return { ...outcome, plan };
    },
  };
}

/** A plain folder with these files and acts: what a tree should look like. */
export function reference(
  home: string,
  files: Readonly<Record<string, string | Uint8Array>>,
  acts: readonly Act[],
): string {
  const top = mkdtempSync(path.join(home, 'reference-'));
  const folder = folderAt(top);
  for (const [file, content] of Object.entries(files)) folder.write(file, content);
  for (const act of acts) act(folder);
  return top;
}
