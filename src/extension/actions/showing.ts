import { existsSync } from 'node:fs';
import path from 'node:path';
import type * as vscode from 'vscode';
import { attemptPlace, childPlace } from '../../protocol/places.js';
import type { ChildView, View } from '../../protocol/view.js';
import type { Engine } from '../engine.js';
import { gitUri } from '../documents/gitDocuments.js';
import { lastLines } from '../documents/readOnlyFiles.js';
import { findChild, type Target } from '../requests.js';
import type { Vscode } from '../vscodeTypes.js';

export interface ShowingOptions {
  readonly vscode: Vscode;
  readonly engine: () => Promise<Engine>;
  readonly view: () => View;
  /** Calls back after each change of the view. */
  readonly listen: (changed: () => void) => vscode.Disposable;
  readonly topLevelOf: (batch: string) => string | null;
  readonly files: { show(file: string, title: string, options?: { readonly end?: boolean }): Promise<void> };
}

/** A snapshot is taken within a moment after its child has ended; ms. */
const longestCapture = 10_000;

/** What opens something of a child in the editor and changes nothing. */
export interface Showing {
  review(targets: readonly Target[], title: string): Promise<void>;
  log(target: Target): Promise<void>;
  checkpoint(target: Target): Promise<void>;
  worktree(target: Target): Promise<void>;
  file(target: Target, file: string, inWorktree: boolean): Promise<void>;
  tree(target: Target, tree: string): Promise<void>;
  report(target: Target): Promise<void>;
  /** How a stop was read, and the last lines of the log. */
  why(target: Target): Promise<readonly string[]>;
}

export function createShowing(options: ShowingOptions): Showing {
  const { vscode, files, view } = options;
  const { l10n, window, commands, Uri } = vscode;

  function look(target: Target): { readonly child: ChildView; readonly topLevel: string } | null {
    const child = findChild(view(), target);
    const topLevel = options.topLevelOf(target.batch);
    if (child !== null && topLevel !== null) return { child, topLevel };
    void window.showInformationMessage(l10n.t('This child is not there any more.'));
    return null;
  }

  /** The child, with its work captured if it has any. */
  async function captured(target: Target): Promise<ReturnType<typeof look>> {
    const isUnderWay = (): boolean => {
      const child = findChild(view(), target);
      return child !== null && child.snapshot === null && child.files.written > 0;
    };
    if (isUnderWay())
      await new Promise<void>((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          listening.dispose();
          resolve();
        };
        const timer = setTimeout(end, longestCapture);
        const listening = options.listen(() => {
          if (!isUnderWay()) end();
        });
      });
    return look(target);
  }

  async function changedFiles(
    topLevel: string,
    from: string,
    to: string,
    below: string,
  ): Promise<readonly ChangedFile[]> {
    const changes = await (await options.engine()).changes(topLevel, from, to);
    return changes.map(({ path: file, kind }) => [
      Uri.file(path.join(below, file)),
      kind === 'A' ? undefined : gitUri(vscode, { topLevel, commit: from, path: file }),
      kind === 'D' ? undefined : gitUri(vscode, { topLevel, commit: to, path: file }),
    ]);
  }

  return {
    async review(targets, title) {
      const all: ChangedFile[] = [];
      for (const target of targets) {
        const found = await captured(target);
        if (found === null) return;
        const { child, topLevel } = found;
        // A snapshot's parent is the commit that the child started from.
        if (child.snapshot !== null)
          all.push(
            ...(await changedFiles(
              topLevel,
              `${child.snapshot}^`,
              child.snapshot,
              child.worktree ?? topLevel,
            )),
          );
      }
      if (all.length === 0) {
        void window.showInformationMessage(l10n.t('{0} has changed no file yet.', title));
        return;
      }
      await commands.executeCommand('vscode.changes', l10n.t('Changes of {0}', title), all);
    },

    async log(target) {
      const found = look(target);
      if (found === null) return;
      const { child, topLevel } = found;
      const setup = path.join(childFolder(topLevel, target), setupLog);
      if (child.attempts === 0 && existsSync(setup)) {
        await files.show(setup, `${child.id}-setup.log`, { end: true });
        return;
      }
      if (child.attempts === 0) {
        void window.showInformationMessage(l10n.t('{0} has not started yet, so it has no log.', child.title));
        return;
      }
      await files.show(attemptFile(topLevel, target, child.attempts, 'stdout.log'), `${child.id}.log`, {
        end: true,
      });
    },

    async checkpoint(target) {
      const found = look(target);
      if (found === null) return;
      const file = path.join(childFolder(found.topLevel, target), 'checkpoint.md');
      try {
        await files.show(file, `${found.child.id}.md`);
      } catch {
        void window.showInformationMessage(l10n.t('{0} has no checkpoint yet.', found.child.title));
      }
    },

    async worktree(target) {
      const found = look(target);
      if (found === null) return;
      const { worktree, title } = found.child;
      if (worktree === null) {
        void window.showInformationMessage(l10n.t('{0} has no worktree yet.', title));
        return;
      }
      const choices = [
        { label: l10n.t('Open in New Window'), open: () => openFolder(vscode, worktree) },
        { label: l10n.t('Open in Integrated Terminal'), open: () => openTerminal(vscode, worktree, title) },
        { label: l10n.t('Copy Path'), open: () => vscode.env.clipboard.writeText(worktree) },
      ];
      if (vscode.env.remoteName === undefined)
        choices.push({
          label: l10n.t('Show in File Manager'),
          open: async () => void (await commands.executeCommand('revealFileInOS', Uri.file(worktree))),
        });
      const picked = await window.showQuickPick(choices, {
        title: l10n.t('Worktree of {0}', title),
        placeHolder: worktree,
      });
      await picked?.open();
    },

    async file(target, file, inWorktree) {
      const found = look(target);
      if (found === null) return;
      const { child, topLevel } = found;
      const below = child.worktree ?? topLevel;
      const absolute = path.resolve(below, file);
      // The path is the panel's word: it must not lead out of the child's folder.
      if (!absolute.startsWith(below + path.sep)) return;
      const live = Uri.file(absolute);
      if (inWorktree || child.snapshot === null) {
        await commands.executeCommand('vscode.open', live);
        return;
      }
      const name = path.relative(below, absolute).split(path.sep).join('/');
      const base = gitUri(vscode, { topLevel, commit: `${child.snapshot}^`, path: name });
      const snapshot = gitUri(vscode, { topLevel, commit: child.snapshot, path: name });
      await commands.executeCommand('vscode.diff', base, snapshot, `${name} (${child.title})`);
    },

    async tree(target, tree) {
      const found = look(target);
      if (found === null || !/^[0-9a-f]{4,64}$/.test(tree) || found.child.snapshot === null) return;
      const { child, topLevel } = found;
      const changes = await changedFiles(
        topLevel,
        `${child.snapshot ?? ''}^`,
        tree,
        child.worktree ?? topLevel,
      );
      if (changes.length === 0) void window.showInformationMessage(l10n.t('That tree has no changes.'));
      else await commands.executeCommand('vscode.changes', l10n.t('Tree {0}', tree.slice(0, 7)), changes);
    },

    async report(target) {
      const found = look(target);
      if (found === null) return;
      await vscode.env.clipboard.writeText(reportText(found.child, target));
      window.setStatusBarMessage(l10n.t('Report copied'), 3000);
    },

    async why(target) {
      const found = look(target);
      if (found === null) return [];
      const { child, topLevel } = found;
      const steps = (child.reason?.steps ?? []).map(
        (step) => `${step.step}: ${step.rule} (${step.confidence}) ${step.found}`,
      );
      const read = async (name: string): Promise<readonly string[]> =>
        lastLines(attemptFile(topLevel, target, child.attempts, name), 40);
      const said =
        child.attempts === 0
          ? await lastLines(path.join(childFolder(topLevel, target), setupLog), 40)
          : [...(await read('stdout.log')), ...(await read('stderr.log'))];
      return [...steps, ...said.slice(-40)];
    },
  };
}

/** In the child's folder: what the checkout and the setup command have said before there was an attempt. */
const setupLog = 'setup.log';

/** The file, its side before and its side after, as the multi-diff editor takes them; a side may be missing. */
type ChangedFile = readonly [vscode.Uri, vscode.Uri | undefined, vscode.Uri | undefined];

function childFolder(topLevel: string, { batch, child }: Target): string {
  return path.join(topLevel, '.swarm', childPlace(batch, child));
}

function attemptFile(topLevel: string, target: Target, attempt: number, name: string): string {
  return path.join(topLevel, '.swarm', attemptPlace(target.batch, target.child, attempt), name);
}

async function openFolder(vscode: Vscode, folder: string): Promise<void> {
  await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(folder), {
    forceNewWindow: true,
  });
}

function openTerminal(vscode: Vscode, folder: string, name: string): Promise<void> {
  vscode.window.createTerminal({ cwd: folder, name }).show();
  return Promise.resolve();
}

/** For a message to whoever maintains the agent or Swarm; the agent's words are redacted already. */
function reportText(child: ChildView, target: Target): string {
  const { reason } = child;
  return [
    `${target.batch}/${child.id} ${child.executor} attempt ${child.attempts}: ${child.phase}`,
    ...(reason === null
      ? []
      : [`${reason.class}${reason.window === undefined ? '' : ` (${reason.window})`}`, reason.message]),
    ...(child.resetAt === null ? [] : [`resets ${child.resetAt} (${child.resetSource ?? 'unknown'})`]),
    ...(reason?.steps ?? []).map(
      (step) => `- ${step.step}: ${step.rule} (${step.confidence}): ${step.found}`,
    ),
  ].join('\n');
}
