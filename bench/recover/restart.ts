import fs from 'node:fs';
import path from 'node:path';
import { initialState } from '../../src/supervisor/core/initial.js';
import { replay } from '../../src/supervisor/core/reduce.js';
import { openStore } from '../../src/supervisor/node/store/index.js';
import { openSupervisor } from '../../src/supervisor/supervisor.js';
import { optionsFor } from './options.js';
import { children, events, journalOf } from './journal.js';

/** How often an owner saves a snapshot, in events. */
const snapshotEvery = 2000;

/** Fills `.swarm` as an owner leaves it that is killed: the whole journal, the last snapshots some events old. */
export async function fillFolder(repository: string): Promise<void> {
  const opened = await openStore(path.join(repository, '.swarm'), { create: true, version: '0' });
  if (opened.kind !== 'owner') throw new Error(opened.kind);
  const journal = journalOf();
  let state = initialState();
  for (let at = 0; at < journal.length; at += snapshotEvery) {
    const events = journal.slice(at, at + snapshotEvery);
    await opened.store.append(events, false);
    state = replay(state, events);
    if (events.length === snapshotEvery) await opened.store.saveState(state);
  }
  await opened.store.close();
  // The naive way keeps every event in one JSON file, and reads that.
  fs.writeFileSync(path.join(repository, '..', 'naive.json'), JSON.stringify(journal));
}

/** From nothing to the first view with all children; with `lost` snapshots gone, more or all events are read. */
export async function restart(
  repository: string,
  root: string,
  lost: 'none' | 'newest' | 'all',
): Promise<void> {
  const gone = { none: [], newest: ['state.json'], all: ['state.json', 'journal/previous.json'] }[lost];
  for (const name of gone) fs.rmSync(path.join(repository, '.swarm', name), { force: true });
  const from = performance.now();
  const opened = await openSupervisor(optionsFor(repository, root));
  if (!opened.ok) throw new Error(opened.message);
  const shown = await new Promise<number>((resolve) => {
    opened.supervisor.onView((view) => {
      const count = view.batches[0]?.children.length ?? 0;
      if (count === children) resolve(performance.now() - from);
    });
  });
  const sinceStart = performance.now();
  const { user, system } = process.cpuUsage();
  console.log(
    JSON.stringify({
      bench: 'restart',
      ...{ children, events, lost },
      firstViewMs: Math.round(shown),
      sinceProcessStartMs: Math.round(sinceStart),
      cpuMs: Math.round((user + system) / 1000),
      memoryMb: Math.round(process.memoryUsage().rss / 1e6),
    }),
  );
  process.exit(0);
}

/** One JSON file of all events, read and reduced one by one, each state written as JSON as it came to be once a second. */
export function naiveRestart(root: string): void {
  const from = performance.now();
  const journal = JSON.parse(fs.readFileSync(path.join(root, 'naive.json'), 'utf8')) as ReturnType<
    typeof journalOf
  >;
  let state = initialState();
  for (const [at, stamped] of journal.entries()) {
    state = replay(state, [stamped]);
    if (at % 1000 === 0) JSON.stringify(state);
  }
  console.log(JSON.stringify({ bench: 'restart, naive', firstViewMs: Math.round(performance.now() - from) }));
  process.exit(0);
}
