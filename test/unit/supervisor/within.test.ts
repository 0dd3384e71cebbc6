import { expect, it } from 'vitest';
import { isWithin } from '../../../src/supervisor/effects/within.js';

it.each([
  ['/home/me/app', true],
  ['/home/me/app/src/a.ts', true],
  ['/home/me/app/..hidden/a.ts', true],
  ['/home/me/app/src/../../app/a.ts', true],
  ['/work', false],
  ['/home/me/application', false],
  ['/home/me/app/../other', false],
  ['/home/me/app.worktrees/b', false],
])('%s lies in /home/me/app: %s', (file, expected) => {
  expect(isWithin('/home/me/app', file)).toBe(expected);
});
