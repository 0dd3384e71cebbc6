import type * as vscode from 'vscode';
import { taskType } from './contributions.js';
import { Lifetime, type Disposable } from './lifetime.js';
import { commandLine } from './ownPrograms.js';
import { findTopLevel } from './repositories.js';
import type { Vscode } from './vscodeTypes.js';

/**
 * Tasks of type `swarm`, in tasks.json `{ "type": "swarm", "task": "check", "command": ["npm", "run", "check"] }`: the check of a repository, its errors in the Problems view by `$tsc`. It runs the command
 * line that ships with the extension, with its own exit code.
 */
export function registerCheckTasks(
  vscode: Vscode,
  dist: string,
): Disposable & {
  run(topLevel: string | null): Promise<void>;
} {
  const life = new Lifetime();

  function checkTask(
    given: vscode.TaskDefinition,
    scope: vscode.WorkspaceFolder,
    command: readonly string[] | undefined,
  ): vscode.Task {
    const setting = vscode.workspace.getConfiguration('swarm', scope.uri).get<unknown>('check.command');
    const words = command ?? wordsOf(setting) ?? [];
    const { file, args, env } = commandLine(dist, ['check', ...(words.length > 0 ? ['--', ...words] : [])]);
    const task = new vscode.Task(
      given,
      scope,
      'check',
      taskType,
      new vscode.ProcessExecution(file, [...args], { cwd: scope.uri.fsPath, env }),
      '$tsc',
    );
    task.group = vscode.TaskGroup.Build;
    task.presentationOptions = { clear: true };
    return task;
  }

  const localFolders = (): readonly vscode.WorkspaceFolder[] =>
    (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === 'file');

  life.add(
    vscode.tasks.registerTaskProvider(taskType, {
      provideTasks: () =>
        localFolders().map((folder) => checkTask({ type: taskType, task: 'check' }, folder, undefined)),
      resolveTask: (task) => {
        const scope = typeof task.scope === 'object' ? task.scope : localFolders()[0];
        return task.definition['task'] === 'check' && scope !== undefined
          ? checkTask(task.definition, scope, wordsOf(task.definition['command']))
          : undefined;
      },
    }),
  );

  return {
    async run(topLevel) {
      const folders = localFolders();
      const tops = await Promise.all(folders.map((one) => findTopLevel(one.uri.fsPath)));
      const at = topLevel === null ? -1 : tops.indexOf(topLevel);
      const folder = folders[Math.max(0, at)];
      if (folder === undefined) {
        void vscode.window.showErrorMessage(vscode.l10n.t('Open a folder with a git repository first.'));
        return;
      }
      await vscode.tasks.executeTask(checkTask({ type: taskType, task: 'check' }, folder, undefined));
    },
    dispose: () => life.dispose(),
  };
}

/** Program and arguments, if that is what was written. */
function wordsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string')
    ? value
    : undefined;
}
