import { expect, it } from 'vitest';
import { isWithin } from '../../../src/supervisor/effects/within.js';

it.each([
  ['/work/app', true],
  ['/work/app/src/a.ts', true],
  ['/work/app/..hidden/a.ts', true],
  ['/work/app/src/../../app/a.ts', true],
  ['/work', false],
  ['/work/application', false],
  ['/work/app/../other', false],
  ['/work/app.worktrees/b', false],
])('%s lies in /work/app: %s', (file, expected) => {
  expect(isWithin('/work/app', file)).toBe(expected);
});
