import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDemoProvider, type DemoAnswer } from '../../src/supervisor/demo/provider.js';

const server = createDemoProvider();
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

async function ask(session: string | null, did: number | null, limitAfter: number): Promise<DemoAnswer> {
  const { port } = server.address() as AddressInfo;
  const settings = { limitAfter, resetMs: 60_000, paceMs: 0 };
  const response = await fetch(`http://127.0.0.1:${port}`, {
    method: 'POST',
    body: JSON.stringify({
      account: `a${limitAfter}`,
      child: 'c',
      session,
      did,
      prompt: 'Print a receipt',
      settings,
    }),
  });
  return (await response.json()) as DemoAnswer;
}

test('a step that a killed agent has not carried out is told again to the next', async () => {
  const first = await ask(null, null, 100);
  if (!('step' in first)) throw new Error('no step');
  const second = await ask(first.session, 1, 100);
  expect(second).toMatchObject({ number: 2 });
  // It was killed with the second step in its hands.
  expect(await ask(first.session, null, 100)).toEqual(second);
});

test('a step that was carried out before a refused answer is not told again', async () => {
  const first = await ask(null, null, 1);
  if (!('step' in first)) throw new Error('no step');
  expect(await ask(first.session, 1, 1)).toHaveProperty('error');
  // Another account, whose limit is not reached: the session is the same.
  expect(await ask(first.session, null, 101)).toMatchObject({ number: 2 });
});
