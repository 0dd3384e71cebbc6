import { expect, test } from 'vitest';
import type { Heard, Writer } from '../../src/supervisor/ports/sharedTree.js';
import { createRepo } from './repo.js';
import { share } from './shared.js';

function shell(child: string, command: string): Writer {
  return { child, attempt: 1, tool: 'shell', command };
}

/** Who was at work, whatever the time, unless `since` says that nobody was before it. */
function heard(
  writers: readonly Writer[],
  more: Partial<Heard> & { readonly since?: number } = {},
): () => Heard {
  return () => ({
    writersAt: (time) => (time !== null && time < (more.since ?? 0) ? [] : writers),
    claimAt: more.claimAt ?? (() => null),
    mayWait: more.mayWait ?? false,
  });
}

const said = (lines: readonly { child: string; edit: { path: string; confidence: string } }[]) =>
  lines.map(({ child, edit }) => `${child} ${edit.path} ${edit.confidence}`).sort();

test('of several commands the one that names a file has written it; what none or two name is ambiguous', async () => {
  const { repo, tree } = await share(
    await createRepo({ 'src/a.ts': 'a\n', 'src/b.ts': 'b\n', 'c.ts': 'c\n' }),
  );
  repo.write('src/a.ts', 'one\n');
  repo.write('src/b.ts', 'two\n');
  repo.write('c.ts', 'somebody\n');
  const writers = [
    shell('one', "sed -i 's/a/one/' src/a.ts"),
    shell('two', 'cd src && sed -i s/b/two/ b.ts'),
  ];
  expect(said(await tree.look(heard(writers)))).toEqual([
    'one c.ts ambiguous',
    'one src/a.ts exclusive',
    'two c.ts ambiguous',
    'two src/b.ts exclusive',
  ]);
});

test('what was changed before a command began is not its doing', async () => {
  const { repo, tree } = await share(await createRepo({ 'a.ts': 'a\n' }));
  repo.write('a.ts', 'the user\n');
  const lines = await tree.look(heard([shell('one', 'make')], { since: Date.now() + 1000 }));
  expect(said(lines)).toEqual(['you a.ts exclusive']);
});

test('a file that a tool has announced is the tool’s, whoever has a command open', async () => {
  const { repo, tree } = await share(await createRepo({ 'a.ts': 'a\n' }));
  repo.write('a.ts', 'tool\n');
  const tool = { child: 'two', attempt: 1, tool: 'Write' };
  const lines = await tree.look(heard([shell('one', 'make')], { claimAt: () => tool }));
  expect(said(lines)).toEqual(['two a.ts exact']);
});

test('a change too fresh to be told waits for the next look, and is lost by neither', async () => {
  const { repo, tree } = await share(await createRepo({ 'a.ts': 'a\n' }));
  repo.write('a.ts', 'fresh\n');
  expect(await tree.look(heard([shell('one', 'make')], { mayWait: true }))).toEqual([]);
  const late = heard([shell('two', 'node change.js a.ts')], { mayWait: true });
  expect(said(await tree.look(late))).toEqual(['two a.ts exclusive']);
  expect(await tree.look(late)).toEqual([]);
});
