import { expect, test } from 'vitest';
import type { CheckedChild } from '../../../src/protocol/request.js';
import { checkView } from '../../../src/supervisor/effects/checkedChildren.js';
import { FakeClock } from '../../support/fakeClock.js';

const login: CheckedChild = {
  id: 'login',
  title: 'Login form',
  phase: 'succeeded',
  where: 'tree',
  files: ['a.ts'],
};

test('an error of a check is put down to the child that wrote its file, else to the tree', () => {
  const error = (path: string) => ({ path, line: 1, column: 2, message: 'TS1: broken' });
  const outcome = { exitCode: 2, tree: '12345678', errors: [error('a.ts'), error('b.ts')] };
  const view = checkView({ clock: new FakeClock() }, 'tsc', outcome, [login]);
  expect(view).toMatchObject({ errors: 2, errorsInTree: 1, errorsByChild: [{ id: 'login', errors: 1 }] });
  expect(view.problems).toEqual([
    { ...error('a.ts'), of: ['Login form'] },
    { ...error('b.ts'), of: [] },
  ]);
  // Whose a check tells only the files of has nothing to point at.
  expect(
    checkView({ clock: new FakeClock() }, 'tsc', { ...outcome, errors: [{ path: 'a.ts' }] }),
  ).not.toHaveProperty('problems');
});
