import path from 'node:path';
import { expect, test } from 'vitest';
import type { ChildEdits } from '../../src/supervisor/ports/sharedTree.js';
import { createRepo } from './repo.js';
import { share, type SharedRepo } from './shared.js';

/** Red with one error for each file that says BROKEN. */
const check = {
  command: [
    process.execPath,
    '-e',
    "const fs=require('fs');let bad=0;for(const f of fs.readdirSync('.').sort())if(f.endsWith('.ts')&&fs.readFileSync(f,'utf8').includes('BROKEN')){bad++;console.log(f+'(1,1): error TS1: broken')}process.exit(bad?2:0)",
  ],
  folder: '.',
};

function ledgersOf({ ledgers }: SharedRepo, ...children: readonly string[]): readonly ChildEdits[] {
  return children.map((child) => ({ child, edits: ledgers.get(child) ?? [] }));
}

test('a child’s check sees its own edits, the user’s and those of finished ones, but nobody’s half-written ones', async () => {
  const repo = await createRepo({ 'a.ts': '1\n2\n3\n4\n5\n6\n7\n8\n9\n', 'b.ts': 'b\n', 'c.ts': 'c\n' });
  const shared = await share(repo);
  await shared.act('half', (at) => at.replace('a.ts', '1\n', 'BROKEN\n'));
  await shared.act('done', (at) => at.replace('a.ts', '5\n', 'five\n'));
  await shared.act('caller', (at) => at.replace('a.ts', '9\n', 'nine\n'));
  await shared.act('half', (at) => {
    at.write('new.ts', 'BROKEN');
    at.remove('c.ts');
  });
  await shared.act('you', (at) => at.write('b.ts', 'user\n'));
  const before = repo.userState();
  const half = ledgersOf(shared, 'half');
  const others = ledgersOf(shared, 'done', 'caller');
  const { tree, left } = await shared.tree.compositeTree(half, others);
  expect(left).toEqual([]);
  expect(repo.run('ls-tree', '--name-only', tree)).toBe('a.ts\nb.ts\nc.ts\n');
  expect(repo.run('show', `${tree}:a.ts`)).toBe('1\n2\n3\n4\nfive\n6\n7\n8\nnine\n');
  expect(repo.run('show', `${tree}:b.ts`)).toBe('user\n');
  const folder = path.join(repo.home, 'project.worktrees', '.scratch');
  const outcome = await shared.tree.checkComposite({ check, folder, half, others, onOutput: null });
  expect(outcome).toMatchObject({ exitCode: 0, errors: [], left: [], tree });
  expect(repo.userState()).toEqual(before);
  expect(
    await repo.git.check(repo.repository, { check, on: { kind: 'tree' }, onOutput: null }),
  ).toMatchObject({ exitCode: 2, errors: [{ path: 'a.ts' }, { path: 'new.ts' }] });
});

test('two half-written children in one file are both taken out, last edit first', async () => {
  const repo = await createRepo({ 'a.ts': '1\n2\n3\n' });
  const shared = await share(repo);
  await shared.act('one', (at) => at.replace('a.ts', '2\n', 'one\n'));
  await shared.act('two', (at) => at.replace('a.ts', 'one\n', 'two\n'));
  const both = await shared.tree.compositeTree(ledgersOf(shared, 'two', 'one'), []);
  expect(both.left).toEqual([]);
  expect(repo.run('show', `${both.tree}:a.ts`)).toBe('1\n2\n3\n');
  const alone = await shared.tree.compositeTree(ledgersOf(shared, 'one'), ledgersOf(shared, 'two'));
  expect(alone.left).toEqual([{ path: 'a.ts', who: ['two'], why: 'overlap' }]);
  expect(repo.run('show', `${alone.tree}:a.ts`)).toBe('1\ntwo\n3\n');
});

test('where nothing is half-written the check runs on the tree itself', async () => {
  const repo = await createRepo({ 'a.ts': 'a\n' });
  const shared = await share(repo);
  await shared.act('half', (at) => at.write('a.ts', 'x\n'));
  await shared.quarantine('half');
  const folder = path.join(repo.home, 'project.worktrees', '.scratch');
  const outcome = await shared.tree.checkComposite({
    check: { command: ['pwd'], folder: '.' },
    folder,
    half: ledgersOf(shared, 'half'),
    others: [],
    onOutput: null,
  });
  expect(outcome.output).toBe(`${repo.top}\n`);
});

test('an apply of ours is nobody’s edit, also while a command is open', async () => {
  const repo = await createRepo({ 'a.ts': 'a\n', 'b.ts': 'b\n' });
  const shared = await share(repo);
  const writer = { child: 'one', attempt: 1, tool: 'shell' };
  shared.take(await shared.tree.shellStarted(writer));
  repo.write('a.ts', 'one\n');
  const { lines } = await shared.tree.ourWrite(() => Promise.resolve(repo.write('b.ts', 'applied\n')));
  expect(lines).toMatchObject([{ child: 'one', edit: { path: 'a.ts', confidence: 'exclusive' } }]);
  expect(await shared.tree.shellEnded(writer)).toEqual([]);
});

test('a restart does not take what an unfinished quarantine restored for anybody’s edit', async () => {
  const repo = await createRepo({ 'a.ts': 'a\n' });
  const shared = await share(repo);
  await shared.act('one', (at) => at.write('a.ts', 'one\n'));
  const { plan } = await shared.quarantine('one');
  if (plan === null) throw new Error('no plan');
  // As if the end of the restore had not been noted: the file as it was found, then restored unseen.
  repo.write('a.ts', 'one\n');
  await shared.tree.shellStarted({ child: 'x', attempt: 1, tool: 'shell' });
  repo.write('a.ts', 'a\n');
  const { createSharedTree } = await import('../../src/supervisor/node/git/sharedTree.js');
  const again = (await import('./repo.js')).testEnvironment(repo.home);
  const running = [{ child: 'two', attempt: 1, tool: 'shell' }];
  expect(await createSharedTree(await repo.inspectAgain(), { env: again }).start(running, [plan])).toEqual(
    [],
  );
});
