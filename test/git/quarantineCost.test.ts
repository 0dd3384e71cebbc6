import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createRepo } from './repo.js';
import { share } from './shared.js';

const names = Array.from({ length: 20 }, (_, at) => `packages/p${at}/src/f.ts`);

function objects(top: string): { readonly loose: number; readonly packs: number } {
  const folder = path.join(top, '.git', 'objects');
  const loose = readdirSync(folder).filter((name) => name.length === 2);
  return {
    loose: loose.flatMap((name) => readdirSync(path.join(folder, name))).length,
    packs: readdirSync(path.join(folder, 'pack')).filter((name) => name.endsWith('.pack')).length,
  };
}

test('a capture is one file in the object store however many folders it touches, and leaves nothing beside the tree', async () => {
  const repo = await createRepo(Object.fromEntries(names.map((name) => [name, 'base\n'])));
  const shared = await share(repo);
  await shared.act('child', (at) => {
    for (const name of names) at.write(name, `half-written ${name} {\n`);
  });
  const seen: Record<string, ReturnType<typeof objects>> = {};
  const { moved } = await shared.quarantine('child', ({ step }) => {
    seen[step] = objects(repo.top);
  });
  expect(moved).toHaveLength(names.length);
  const { loose, packs } = seen['intent'] ?? { loose: -1, packs: -1 };
  expect(seen['captured']).toEqual({ loose, packs: packs + 1 });
  expect(
    readdirSync(path.join(repo.top, '.git', 'swarm-panel')).filter((name) => name.startsWith('stage-')),
  ).toEqual([]);
});
