import { afterEach, expect, it } from 'vitest';
import { follow } from '../../../src/cli/follow.js';
import { createFakeSupervisor } from '../../support/fakeSupervisor.js';
import { screenTo } from '../../support/screen.js';
import { batchOf, childOf, viewOf } from '../../support/views.js';

/** What draws on a terminal puts it right at a signal, and then ends the process if it is the only one that listens. */
const asATableDoes: { readonly signal: 'SIGINT' | 'SIGTERM'; readonly listener: () => void }[] = [];
let killed: string[] = [];

afterEach(() => {
  for (const { signal, listener } of asATableDoes.splice(0)) process.off(signal, listener);
  killed = [];
});

function listenAsATable(signal: 'SIGINT' | 'SIGTERM'): void {
  const listener = () => {
    if (process.listenerCount(signal) === 1) killed.push(signal);
  };
  process.on(signal, listener);
  asATableDoes.push({ signal, listener });
}

it.each([
  ['a second Ctrl-C stops the agents', ['SIGINT', 'SIGINT'], true],
  ['a third changes nothing', ['SIGINT', 'SIGINT', 'SIGINT'], true],
  ['a termination leaves them running', ['SIGTERM'], false],
  ['a reader that leaves, as after `| head -1`, leaves them running', ['gone'], false],
] as const)('%s before the process ends', async (_, signals, stops) => {
  const others = { SIGINT: process.listeners('SIGINT'), SIGTERM: process.listeners('SIGTERM') };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    for (const other of others[signal]) process.off(signal, other);
  const closed: boolean[] = [];
  const gone = new AbortController();
  const supervisor = createFakeSupervisor(viewOf({ batches: [batchOf([childOf('login')])] }));
  const followed = follow({
    supervisor: {
      ...supervisor,
      close({ stopAgents }) {
        closed.push(stopAgents);
        return Promise.resolve();
      },
    },
    ids: null,
    json: true,
    wait: true,
    screen: screenTo(() => undefined, { gone: gone.signal }),
  });
  listenAsATable('SIGINT');
  listenAsATable('SIGTERM');
  for (const signal of signals)
    if (signal === 'gone') gone.abort();
    else process.emit(signal, signal);
  const code = await followed;
  const left = process.listenerCount('SIGINT') + process.listenerCount('SIGTERM');
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    for (const other of others[signal]) process.on(signal, other);
  expect({ code, closed, killed, left }).toEqual({ code: 130, closed: [stops], killed: [], left: 2 });
});
