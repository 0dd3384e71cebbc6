import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseManifest } from '../../../src/supervisor/manifest/manifest.js';
import { defaults } from './defaults.js';

const page = readFileSync('docs/manifest.md', 'utf8');

const parse = (text: string) => parseManifest({ kind: 'yaml', text, name: 'page.yaml' }, defaults);

test('the page about manifests shows one that is right', () => {
  const parsed = parse(/```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '');
  expect(parsed.ok ? [] : parsed.errors).toEqual([]);
});

test.each([
  ['a manifest', 'version: 1\nzzzz: 1\ntasks: [{ prompt: x }]'],
  ['a policy', 'version: 1\npolicy: { zzzz: 1 }\ntasks: [{ prompt: x }]'],
  ['a task', 'version: 1\ntasks: [{ prompt: x, zzzz: 1 }]'],
])('the page names every key of %s', (_what, text) => {
  const parsed = parse(text);
  const fix = parsed.ok ? '' : (parsed.errors.find((error) => error.message.includes('zzzz'))?.fix ?? '');
  const known = /known are (.*)\./.exec(fix)?.[1]?.split(', ') ?? [];
  expect(known.length).toBeGreaterThan(3);
  for (const key of known) expect(page).toContain(`\`${key}\``);
});
