import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createShowing } from '../../../src/extension/actions/showing.js';
import type { Engine } from '../../../src/extension/engine.js';
import { Signal } from '../../../src/extension/lifetime.js';
import type { View } from '../../../src/protocol/view.js';
import { createFakeVscode } from '../../support/fakeVscode.js';
import { batchOf, childOf, viewOf } from '../../support/views.js';

const withSnapshot = (snapshot: string | null): View =>
  viewOf({ batches: [batchOf([childOf('t1', { files: { read: 0, written: 1 }, snapshot })], { id: 'b' })] });

test('a review asked for while the work is being captured shows it, and does not say that nothing was changed', async () => {
  const fake = createFakeVscode();
  const changed = new Signal<void>();
  const engine = {
    changes: () => Promise.resolve([{ path: 'src/login.ts', kind: 'A' }]),
  } as unknown as Engine;
  let view = withSnapshot(null);
  const showing = createShowing({
    vscode: fake.vscode,
    engine: () => Promise.resolve(engine),
    view: () => view,
    listen: (told) => changed.listen(told),
    topLevelOf: () => '/repo',
    files: { show: () => Promise.resolve() },
  });
  const shown = showing.review([{ batch: 'b', child: 't1' }], 'Login');
  changed.fire();
  expect(fake.said).toEqual([]);
  view = withSnapshot('refs/swarm/b/t1/1');
  changed.fire();
  await shown;
  expect(fake.said).toHaveLength(1);
  expect(fake.said[0]).toContain('vscode.changes');
});

test('the log of a child that never began is that of its setup', async () => {
  const top = mkdtempSync(path.join(os.tmpdir(), 'swarm-showing-'));
  const home = path.join(top, '.swarm', 'batches', 'b', 'children', 't1');
  const fake = createFakeVscode();
  const shown: string[] = [];
  const showing = createShowing({
    vscode: fake.vscode,
    engine: () => Promise.reject(new Error('not needed')),
    view: () => viewOf({ batches: [batchOf([childOf('t1', { attempts: 0 })], { id: 'b' })] }),
    listen: () => ({ dispose: () => undefined }),
    topLevelOf: () => top,
    files: { show: (file) => (shown.push(file), Promise.resolve()) },
  });
  try {
    await showing.log({ batch: 'b', child: 't1' });
    expect([shown.length, fake.said.length]).toEqual([0, 1]);
    mkdirSync(home, { recursive: true });
    writeFileSync(path.join(home, 'setup.log'), 'no network\n');
    await showing.log({ batch: 'b', child: 't1' });
    expect(shown).toEqual([path.join(home, 'setup.log')]);
    expect(await showing.why({ batch: 'b', child: 't1' })).toContain('no network');
  } finally {
    rmSync(top, { recursive: true });
  }
});
