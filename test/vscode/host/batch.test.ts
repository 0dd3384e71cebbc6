import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { answering, batch, childWith, swarm, until, workspaceFolder } from './editor.js';

const launch = (tasks: readonly string[], more: Readonly<Record<string, unknown>> = {}): Thenable<string> =>
  vscode.commands.executeCommand<string>('swarm.launchBatch', { tasks, executor: 'scripted', ...more });

async function finished(id: string): Promise<void> {
  await until('the end of the batch', async () =>
    ['succeeded', 'failed', 'canceled'].includes((await batch(id)).status),
  );
}

describe('a batch', () => {
  let id = '';

  it('is launched by the command, runs in worktrees and finishes', async () => {
    id = await launch(['Write login', 'Write cart']);
    assert.match(id, /^[A-Za-z0-9]/);
    await finished(id);
    const { status, children } = await batch(id);
    assert.equal(status, 'succeeded');
    assert.deepEqual(
      children.map(({ status: one, attempts, executor }) => [one, attempts, executor]),
      [
        ['done', 1, 'scripted'],
        ['done', 1, 'scripted'],
      ],
    );
    for (const { worktree } of children)
      assert.ok(worktree !== null && !worktree.startsWith(workspaceFolder() + path.sep));
    assert.equal(existsSync(path.join(workspaceFolder(), 'src', 'login.ts')), false);
    assert.equal(statSync(path.join(workspaceFolder(), '.swarm')).mode & 0o777, 0o700);
  });

  it('shows the changes of a child beside their base, read-only', async () => {
    const [child] = (await batch(id)).children;
    await vscode.commands.executeCommand('swarm.review', { batch: id, child: child?.id });
    const label = await until('the diff editor', () => {
      const found = vscode.window.tabGroups.activeTabGroup.activeTab?.label;
      return found !== undefined && /Changes of Write login/.test(found) ? found : null;
    });
    assert.match(label, /Changes of Write login/);
    const address = (commit: string): vscode.Uri =>
      vscode.Uri.from({
        scheme: 'swarm-git',
        path: '/src/login.ts',
        query: JSON.stringify({ topLevel: workspaceFolder(), commit, path: 'src/login.ts' }),
      });
    const { snapshot } = await childWith(
      id,
      (one) => one.id === child?.id && one.snapshot !== null,
      'the snapshot',
    );
    const now = await vscode.workspace.openTextDocument(address(snapshot ?? ''));
    const before = await vscode.workspace.openTextDocument(address(`${snapshot}^`));
    assert.deepEqual([before.getText(), now.getText()], ['', 'export const login: number = 1;\n']);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('shows its log and its checkpoint as documents that nobody can change', async () => {
    const [child] = (await batch(id)).children;
    await vscode.commands.executeCommand('swarm.showLog', { batch: id, child: child?.id });
    const log = vscode.window.activeTextEditor?.document;
    assert.equal(log?.uri.scheme, 'swarm-file');
    assert.match(log.getText(), /"type":"done"/);
    await vscode.commands.executeCommand('swarm.openCheckpoint', { batch: id, child: child?.id });
    const checkpoint = vscode.window.activeTextEditor?.document;
    assert.match(checkpoint?.getText() ?? '', /login/);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('gives the path of a worktree', async () => {
    const [child] = (await batch(id)).children;
    await answering({ pick: 'Copy Path' }, () =>
      vscode.commands.executeCommand('swarm.openWorktree', { batch: id, child: child?.id }),
    );
    assert.equal(await vscode.env.clipboard.readText(), child?.worktree);
  });

  it('is brought into the tree by Apply All Ready, after the check', async () => {
    const said = await answering({}, () => vscode.commands.executeCommand('swarm.applyAll'));
    assert.deepEqual(said, []);
    await until('both to be applied', async () =>
      (await batch(id)).children.every(({ display }) => display === 'applied'),
    );
    for (const name of ['login', 'cart'])
      assert.equal(
        readFileSync(path.join(workspaceFolder(), 'src', `${name}.ts`), 'utf8'),
        `export const ${name}: number = 1;\n`,
      );
  });

  it('from a Markdown file has the open boxes as tasks', async () => {
    const file = vscode.Uri.file(path.join(workspaceFolder(), 'tasks.md'));
    const made = await vscode.commands.executeCommand<string>('swarm.launchFromFile', file);
    assert.deepEqual(
      (await batch(made)).children.map(({ title }) => title),
      ['Write checkout', 'Write basket'],
    );
    await finished(made);
  });

  it('from a selection has its lines as tasks', async () => {
    const document = await vscode.workspace.openTextDocument({
      content: 'not this\nWrite alpha\nWrite beta\n',
    });
    const editor = await vscode.window.showTextDocument(document);
    editor.selection = new vscode.Selection(1, 0, 3, 0);
    let made = '';
    await answering({ pick: 'scripted' }, async () => {
      made = await vscode.commands.executeCommand<string>('swarm.launchFromSelection');
    });
    assert.deepEqual(
      (await batch(made)).children.map(({ title }) => title),
      ['Write alpha', 'Write beta'],
    );
    await finished(made);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('typed into the palette asks for task after task and for the agent', async () => {
    let made = '';
    await answering({ input: ['Write gamma', 'Write delta', ''], pick: 'scripted' }, async () => {
      made = await vscode.commands.executeCommand<string>('swarm.launchBatch');
    });
    assert.deepEqual(
      (await batch(made)).children.map(({ title }) => title),
      ['Write gamma', 'Write delta'],
    );
    await finished(made);
  });

  it('is paused and resumed by commands, the same child going on', async () => {
    const go = path.join(workspaceFolder(), '..', 'go-pause');
    const made = await launch([`Write epsilon wait ${go}`]);
    const child = await childWith(
      made,
      ({ status, lastLine }) => status === 'running' && lastLine !== '',
      'it to run',
    );
    const target = { batch: made, child: child.id };
    await vscode.commands.executeCommand('swarm.pause', target);
    const paused = await childWith(made, ({ phase }) => phase === 'paused', 'it to be paused');
    assert.deepEqual([paused.status, paused.reason?.class], ['paused', 'user']);
    writeFileSync(go, '');
    await vscode.commands.executeCommand('swarm.resume', target);
    await finished(made);
    const [done] = (await batch(made)).children;
    assert.deepEqual([done?.id, done?.status, done?.attempts], [child.id, 'done', 2]);
    rmSync(go);
  });

  it('is stopped only after a yes, its work kept, and retried', async () => {
    const go = path.join(workspaceFolder(), '..', 'go-stop');
    const made = await launch([`Write zeta wait ${go}`]);
    const child = await childWith(
      made,
      ({ status, lastLine }) => status === 'running' && lastLine !== '',
      'it to run',
    );
    const target = { batch: made, child: child.id };
    const said = await answering({}, () => vscode.commands.executeCommand('swarm.stop', target));
    assert.match(said.join(), /^Stop Write zeta.*Its work stays in its worktree\.$/);
    assert.equal((await batch(made)).children[0]?.status, 'running');
    await answering({ warning: 'Stop' }, () => vscode.commands.executeCommand('swarm.stop', target));
    const stopped = await childWith(made, ({ phase }) => phase === 'canceled', 'it to be stopped');
    assert.ok(existsSync(path.join(stopped.worktree ?? '', 'src', 'zeta.ts')));
    writeFileSync(go, '');
    await vscode.commands.executeCommand('swarm.retry', target);
    await childWith(made, ({ status }) => status === 'done', 'it to be done');
    rmSync(go);
  });

  it('that meets a limit waits with a countdown and goes on by itself', async () => {
    const made = await launch(['Write eta limit 3', 'Write theta'], { maxConcurrent: 1 });
    const paused = await childWith(made, ({ status }) => status === 'paused', 'the limit');
    assert.deepEqual(
      [paused.reason?.class, paused.resetSource, paused.reason?.needsUser],
      ['usage_limit', 'event', false],
    );
    const { gates } = (await swarm()).view();
    assert.equal(gates.find(({ credential }) => credential === 'scripted')?.state, 'closed');
    await finished(made);
    assert.deepEqual(
      (await batch(made)).children.map(({ status, attempts }) => [status, attempts]),
      [
        ['done', 2],
        ['done', 1],
      ],
    );
  });
});

describe('the check task', () => {
  const check = async (): Promise<vscode.Task> => {
    const [task] = await vscode.tasks.fetchTasks({ type: 'swarm' });
    assert.ok(task);
    return task;
  };

  const run = async (): Promise<number | undefined> => {
    const task = await check();
    const ended = new Promise<number | undefined>((resolve) => {
      const listener = vscode.tasks.onDidEndTaskProcess((event) => {
        if (event.execution.task.name !== task.name) return;
        listener.dispose();
        resolve(event.exitCode);
      });
    });
    await vscode.tasks.executeTask(task);
    return ended;
  };

  it('is offered, runs without a shell and has the problem matcher of TypeScript', async () => {
    const task = await check();
    assert.deepEqual([task.name, task.source, task.problemMatchers], ['check', 'swarm', ['$tsc']]);
    assert.ok(task.execution instanceof vscode.ProcessExecution);
  });

  it('ends with 0 on a sound tree', async () => {
    assert.equal(await run(), 0);
  });

  it('ends with the code of the check and puts its errors into Problems', async () => {
    const file = path.join(workspaceFolder(), 'src', 'broken.ts');
    writeFileSync(file, "export const broken: number = 'one';\n");
    try {
      assert.notEqual(await run(), 0);
      await until(
        'the error in Problems',
        () => vscode.languages.getDiagnostics(vscode.Uri.file(file)).length > 0,
      );
    } finally {
      rmSync(file);
    }
  });
});
