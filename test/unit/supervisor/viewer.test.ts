import { expect, test } from 'vitest';
import type { View } from '../../../src/protocol/view.js';
import type { Connection } from '../../../src/supervisor/ports.js';
import { openSupervisor } from '../../../src/supervisor/supervisor.js';
import { settle } from '../../support/fakeClock.js';
import { batchOf, childOf, viewOf } from '../../support/views.js';
import { Town } from './town.js';

/** A connection to an owner whose first view comes when the test lets it. */
function lateOwner(): { readonly connection: Connection; readonly show: (view: View) => void } {
  const listeners: ((view: View) => void)[] = [];
  return {
    connection: {
      owner: { pid: 2, epoch: 1, host: 'there' },
      request: () => Promise.resolve({ ok: true }),
      onView: (listener) => {
        listeners.push(listener);
        return { dispose: () => undefined };
      },
      closed: new Promise(() => undefined),
      close: () => undefined,
    },
    show: (view) => {
      for (const listener of listeners) listener(view);
    },
  };
}

test('a viewer is open when the owner has shown what there is', async () => {
  const town = new Town();
  const owner = lateOwner();
  let open = false;
  const opening = openSupervisor(
    town.options(() => Promise.resolve({ kind: 'viewer', connection: owner.connection })),
  ).then((opened) => {
    open = true;
    return opened;
  });
  await settle();
  expect(open).toBe(false);
  owner.show(viewOf({ batches: [batchOf([childOf('a')])] }));
  const opened = await opening;
  expect(opened.ok && opened.supervisor.view().batches.length).toBe(1);
});

test('a viewer opens on its own where the owner has nothing to show', async () => {
  const town = new Town();
  const opening = openSupervisor(
    town.options(() => Promise.resolve({ kind: 'viewer', connection: lateOwner().connection })),
  );
  await settle();
  await town.clock.advance(1_000);
  const opened = await opening;
  expect(opened.ok && opened.supervisor.role).toBe('viewer');
});
