import path from 'node:path';
import type { State } from '../../core/state.js';
import * as calls from '../fsCalls.js';
import { segmentName } from './journal.js';
import { segmentNumbers } from './journalFiles.js';
import { encodeSnapshot, readSnapshot, snapshotFiles } from './snapshots.js';

/** Covered segments that are kept while a batch is under way. */
const keptWhileRunning = 4;

/**
 * Removes the segments that a snapshot covers once all children have ended, or when there are many. Before they go the
 * snapshot is put beside the journal, synced and read back, so that `state.json` stays a thing that can be lost.
 */
export async function pruneSegments(
  swarm: string,
  state: State,
  epoch: number,
  current: number,
): Promise<void> {
  const folder = path.join(swarm, 'journal');
  const covered = (await segmentNumbers(folder)).filter((number) => number < current);
  const ended = Object.values(state.children).every(({ phase }) =>
    ['succeeded', 'failed', 'canceled'].includes(phase.name),
  );
  if (covered.length === 0 || (!ended && covered.length <= keptWhileRunning)) return;
  if (!(await writeBase(swarm, state, epoch))) return;
  for (const number of covered) {
    const file = path.join(folder, segmentName(number));
    // What a superseded owner wrote late may be above the snapshot; it does not count, and goes with the rest.
    await calls.unlink(file).catch(() => undefined);
  }
  await calls.syncFolder(folder);
}

/** Makes a snapshot part of the journal. False where it does not read back as written. */
export async function writeBase(swarm: string, state: State, epoch: number): Promise<boolean> {
  const file = path.join(swarm, snapshotFiles.base);
  await calls.writeWhole(file, encodeSnapshot(state, epoch));
  return (await readSnapshot(file, []))?.n === state.seq;
}
