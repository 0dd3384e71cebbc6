import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { answering, batch, swarm, until } from './editor.js';

// The workspace: two folders of the repository `shop`, one of them below its top, and the repository `depot`.
const [shop = '', below = '', depot = ''] = (vscode.workspace.workspaceFolders ?? []).map(
  ({ uri }) => uri.fsPath,
);

const finished = (id: string): Promise<unknown> =>
  until('the end of the batch', async () => (await batch(id)).status === 'succeeded');

describe('several folders', () => {
  const ids: Record<string, string> = {};

  it('are those of two repositories', () => {
    assert.deepEqual(
      [path.basename(shop), path.relative(shop, below), path.basename(depot)],
      ['shop', 'src', 'depot'],
    );
  });

  it('are asked about at a launch, each repository once, and nothing starts without an answer', async () => {
    const launch = (pick: string) => async (): Promise<void> => {
      const tasks = [`Write of${pick}`];
      const made = await vscode.commands.executeCommand<string | null>('swarm.launchBatch', {
        tasks,
        executor: 'scripted',
      });
      if (made !== null && made !== undefined) ids[pick] = made;
    };
    await answering({}, launch('nowhere'));
    assert.deepEqual([ids, existsSync(path.join(shop, '.swarm'))], [{}, false]);
    const asked = await answering({ pick: 'depot' }, launch('depot'));
    assert.deepEqual(asked, []);
    await finished(ids['depot'] ?? '');
    assert.deepEqual(
      [existsSync(path.join(depot, '.swarm')), existsSync(path.join(shop, '.swarm'))],
      [true, false],
    );
    await answering({ pick: 'shop' }, launch('shop'));
    await finished(ids['shop'] ?? '');
    assert.deepEqual(
      [existsSync(path.join(shop, '.swarm')), existsSync(path.join(below, '.swarm'))],
      [true, false],
    );
  });

  it('have an owner each, and one panel with the batches of all', async () => {
    const api = await swarm();
    assert.deepEqual(
      api
        .view()
        .batches.map(({ id }) => id)
        .sort(),
      [ids['depot'], ids['shop']].sort(),
    );
    assert.deepEqual([api.host().workspace, api.host().supervisor], ['ready', 'owner']);
    for (const top of [shop, depot]) {
      const owner = JSON.parse(readFileSync(path.join(top, '.swarm', 'lock', 'owner.json'), 'utf8')) as {
        readonly pid: number;
      };
      assert.equal(owner.pid, process.pid);
    }
  });

  it('get what is done to a batch in the right one', async () => {
    for (const [name, top] of [
      ['shop', shop],
      ['depot', depot],
    ] as const) {
      const id = ids[name] ?? '';
      await vscode.commands.executeCommand('swarm.apply', { batch: id, child: 't1' });
      await until('it to be applied', async () =>
        (await batch(id)).children.every(({ display }) => display === 'applied'),
      );
      assert.ok(existsSync(path.join(top, 'src', `of${name}.ts`)));
    }
    assert.equal(existsSync(path.join(shop, 'src', 'ofdepot.ts')), false);
    assert.equal(existsSync(path.join(depot, 'src', 'ofshop.ts')), false);
  });

  it('need no question where a file says which', async () => {
    const file = vscode.Uri.file(path.join(depot, 'tasks.md'));
    const made = await vscode.commands.executeCommand<string>('swarm.launchFromFile', file);
    await finished(made);
    assert.ok(existsSync(path.join(depot, '.swarm', 'batches', made)));
  });

  it('offer a check each', async () => {
    const tasks = await vscode.tasks.fetchTasks({ type: 'swarm' });
    assert.deepEqual(
      tasks.map(({ scope }) => (typeof scope === 'object' ? scope.uri.fsPath : '')).sort(),
      [shop, below, depot].sort(),
    );
  });
});
