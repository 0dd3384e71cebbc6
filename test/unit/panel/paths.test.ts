import { expect, test } from 'vitest';
import { isPath, shortenPath } from '../../../src/webview/paths.js';

const within = (n: number) => (text: string) => text.length <= n;

test.each([
  [60, 'src/client/components/checkout/currency.ts'],
  [36, 'src/client/…/checkout/currency.ts'],
  [28, 'src/…/checkout/currency.ts'],
  [20, 'src/…/currency.ts'],
  [13, '…/currency.ts'],
  [11, 'currency.ts'],
  [9, 'curr…y.ts'],
])('in %i letters a path keeps its two ends', (n, text) => {
  expect(shortenPath('src/client/components/checkout/currency.ts', within(n))).toBe(text);
});

test('a title is a path only if it looks like one', () => {
  expect(['src/a.ts', 'Fix the a/b test', 'plain', 'src/(app)/[id]/page.tsx'].map(isPath)).toEqual([
    true,
    false,
    false,
    true,
  ]);
});
