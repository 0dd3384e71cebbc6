import { expect, it } from 'vitest';
import { findTargets } from '../../../src/cli/targets.js';
import { batchOf, childOf, viewOf } from '../../support/views.js';

const view = viewOf({
  batches: [
    batchOf([childOf('login'), childOf('docs')]),
    batchOf([childOf('docs'), childOf('b1')], { id: 'b2' }),
  ],
});

function check(name: string | undefined, all: boolean, expected: readonly string[] | RegExp): void {
  const found = findTargets(view, name, all);
  if (expected instanceof RegExp) expect(found.ok ? found.targets : found.message).toMatch(expected);
  else
    expect(
      found.ok ? found.targets.map((target) => `${target.batch}/${target.child}`) : found.message,
    ).toEqual(expected);
}

it('finds a child by its short name where that fits one', () => check('login', false, ['b1/login']));
it('refuses a short name that fits two, and tells both', () => check('docs', false, /b1\/docs, b2\/docs/));
it('finds a child by its full name', () => check('b2/docs', false, ['b2/docs']));
it('finds the children of a batch', () => check('b2', false, ['b2/docs', 'b2/b1']));
it('refuses a name that is a child and a batch', () => check('b1', false, /a child and a batch/));
it('takes all with --all', () => check(undefined, true, ['b1/login', 'b1/docs', 'b2/docs', 'b2/b1']));
it('refuses a name together with --all: one of them is a mistake', () =>
  check('login', true, /"login" or --all/));
it('says what to do without a name', () => check(undefined, false, /--all/));
it('says what to do for a name that nobody has', () => check('nobody', false, /swarm status/));
