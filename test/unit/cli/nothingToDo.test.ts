import { expect, it } from 'vitest';
import { concerns, nothingToDo } from '../../../src/cli/nothingToDo.js';
import type { ChildView } from '../../../src/protocol/view.js';
import { childOf } from '../../support/views.js';

const reason = (of: 'user' | 'usage_limit') => ({ class: of, message: '', needsUser: false });
const children: readonly ChildView[] = [
  childOf('queued', { phase: 'queued', status: 'queued' }),
  childOf('held', { phase: 'queued', status: 'held' }),
  childOf('running'),
  childOf('limited', { phase: 'paused', status: 'paused', reason: reason('usage_limit') }),
  childOf('byHand', { phase: 'paused', status: 'paused', reason: reason('user') }),
  childOf('stopping', { phase: 'stopping' }),
  childOf('done', { phase: 'succeeded', status: 'done', actions: ['apply'] }),
  childOf('failed', { phase: 'failed', status: 'failed' }),
  childOf('canceled', { phase: 'canceled', status: 'canceled' }),
];

it.each([
  ['resume', 'held limited byHand'],
  ['pause', 'queued held running limited'],
  ['stop', 'queued held running limited byHand'],
  ['retry', 'limited byHand failed canceled'],
] as const)('%s concerns those it changes', (kind, expected) => {
  const concerned = children.filter((child) => concerns(kind, child));
  expect(concerned.map(({ id }) => id).join(' ')).toBe(expected);
});

it('says of each what is so, and what can be done instead', () => {
  const said = (['resume', 'pause', 'stop', 'retry'] as const).flatMap((kind) => {
    const idle = children.filter((child) => !concerns(kind, child));
    return idle.map((child) => nothingToDo(kind, [child]));
  });
  expect(said.join('\n')).toMatchInlineSnapshot(`
    "Nothing to resume: queued is queued. What is queued starts by itself.
    Nothing to resume: running is running.
    Nothing to resume: stopping is stopping.
    Nothing to resume: done is done. "swarm apply done" brings finished work into your tree.
    Nothing to resume: failed has failed. "swarm retry failed" starts failed and canceled children again.
    Nothing to resume: canceled is canceled. "swarm retry canceled" starts failed and canceled children again.
    Nothing to pause: byHand is paused. "swarm resume byHand" lets it go on.
    Nothing to pause: stopping is stopping.
    Nothing to pause: done is done.
    Nothing to pause: failed has failed.
    Nothing to pause: canceled is canceled.
    Nothing to stop: stopping is stopping.
    Nothing to stop: done is done.
    Nothing to stop: failed has failed.
    Nothing to stop: canceled is canceled.
    Nothing to retry: queued is queued. What is queued starts by itself.
    Nothing to retry: held is held. What is queued starts by itself.
    Nothing to retry: running is running.
    Nothing to retry: stopping is stopping.
    Nothing to retry: done is done. "swarm apply done" brings finished work into your tree."
  `);
});

it('says of many how many are so', () => {
  const ended = children.slice(6);
  expect(nothingToDo('stop', [...ended, ...ended])).toMatchInlineSnapshot(
    `"Nothing to stop: 2 done, 2 failed, 2 canceled."`,
  );
  expect(nothingToDo('resume', children.slice(5))).toMatchInlineSnapshot(
    `"Nothing to resume: 1 stopping, 1 done, 1 failed, 1 canceled. "swarm retry --all" starts failed and canceled children again. "swarm apply --all" brings finished work into your tree."`,
  );
});
