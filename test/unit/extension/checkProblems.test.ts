import path from 'node:path';
import { expect, test } from 'vitest';
import { problemsByFile } from '../../../src/extension/checkProblems.js';
import type { BatchCheckView } from '../../../src/protocol/view.js';
import { batchOf, childOf, viewOf } from '../../support/views.js';

const red: BatchCheckView = {
  state: 'red',
  command: 'tsc',
  errors: 1,
  errorsInTree: 0,
  errorsByChild: [{ id: 'login', title: 'Login form', errors: 1 }],
  problems: [{ path: 'src/a.ts', line: 3, column: 5, message: 'TS1: broken', of: ['Login form'] }],
  tree: '1234567',
  at: '2026-11-26T16:17:55.000Z',
  stale: false,
};

test('errors of a red check are shown in their file with whose they are, and go with the next green one', () => {
  const view = (check: BatchCheckView) => viewOf({ batches: [{ ...batchOf([childOf('login')]), check }] });
  const top = path.resolve('/project');
  expect([...problemsByFile(view(red), () => top)]).toEqual([
    [path.join(top, 'src/a.ts'), [expect.objectContaining({ line: 3, of: ['Login form'] })]],
  ]);
  expect(problemsByFile(view({ ...red, state: 'green' }), () => top).size).toBe(0);
  expect(problemsByFile(view(red), () => null).size).toBe(0);
});
