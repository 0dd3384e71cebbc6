import { openStore } from '../../../src/supervisor/node/store/index.js';
import type { Connection, Store } from '../../../src/supervisor/ports.js';
import { event } from '../storeValues.js';

/** Opens folders when told to, and does as owner or viewer what it is asked. One message in, one out. */
export type Order =
  | { readonly do: 'open'; readonly folder: string; readonly answerWithin?: number }
  /** As owner appends the next event; as viewer asks the owner to. */
  | { readonly do: 'append' }
  | { readonly do: 'close' };

let store: Store | null = null;
let connection: Connection | null = null;
let last = 0;

async function obey(order: Order): Promise<unknown> {
  switch (order.do) {
    case 'open': {
      const opened = await openStore(order.folder, { create: true, ...order });
      if (opened.kind === 'owner') {
        store = opened.store;
        last = store.loaded.lastSeq;
        store.onSuperseded(() => process.send?.({ told: 'superseded' }));
        store.serve(append);
        return { kind: 'owner', last, epoch: store.owner.epoch, pid: process.pid };
      }
      if (opened.kind === 'viewer') {
        connection = opened.connection;
        void connection.closed.then(() => process.send?.({ told: 'closed' }));
        return { kind: 'viewer', epoch: connection.owner.epoch };
      }
      return opened;
    }
    case 'append':
      return { answer: connection === null ? await append() : await connection.request({}) };
    case 'close':
      connection?.close();
      await store?.close();
      store = null;
      connection = null;
      return { kind: 'closed' };
    default:
      return order satisfies never;
  }
}

async function append(): Promise<unknown> {
  const seq = ++last;
  await store?.append([event(seq)], true);
  return seq;
}

process.on('message', (order: Order) => {
  obey(order).then(
    (answer) => process.send?.({ answer }),
    (error: unknown) =>
      process.send?.({
        answer: { failed: error instanceof Error ? error.message : String(error), kind: kindOf(error) },
      }),
  );
});

function kindOf(error: unknown): unknown {
  return error instanceof Error && 'kind' in error ? error.kind : null;
}
