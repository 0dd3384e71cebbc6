import path from 'node:path';
import type { Problem } from '../../../protocol/view.js';
import type { Stamped } from '../../core/event.js';
import type { State } from '../../core/state.js';
import { parseEvents } from './eventDoor.js';
import { readJournal, type JournalRead } from './journalFiles.js';
import { readSealed, snapshotFiles, unseal, type SealedSnapshot, type Snapshot } from './snapshots.js';

/** What the files of a folder say, read without a write. */
export interface Contents {
  readonly snapshot: Snapshot | null;
  readonly state: State | null;
  readonly events: readonly Stamped[];
  readonly lastSeq: number;
  readonly problems: readonly Problem[];
  readonly journal: JournalRead;
  /** The snapshot is that of `state.json`. */
  readonly newestIsSound: boolean;
}

/**
 * The newest snapshot that can be used and the events after it. Where `state.json` is lost or damaged the one before it
 * serves, so that what must be read of the journal stays little; `base.json` stands for the segments that are gone.
 */
export async function readContents(swarm: string): Promise<Contents> {
  const folder = path.join(swarm, 'journal');
  const problems: Problem[] = [];
  const { file, snapshot, journal } = await chooseSnapshot(swarm, problems);
  const newestIsSound = file === path.join(swarm, snapshotFiles.newest);
  problems.push(...journal.problems);
  const events = parseEvents(journal.records, folder, problems);
  const state = snapshot?.state ?? null;
  return { snapshot, state, events, lastSeq: journal.last, problems, journal, newestIsSound };
}

async function chooseSnapshot(
  swarm: string,
  problems: Problem[],
): Promise<{
  readonly file: string | null;
  readonly snapshot: Snapshot | null;
  readonly journal: JournalRead;
}> {
  const folder = path.join(swarm, 'journal');
  const base = path.join(swarm, snapshotFiles.base);
  const found: SealedSnapshot[] = [];
  for (const name of Object.values(snapshotFiles)) {
    const sealed = await readSealed(path.join(swarm, name), problems);
    if (sealed !== null) found.push(sealed);
  }
  for (const sealed of found.sort((a, b) => b.n - a.n)) {
    const snapshot = unseal(sealed, problems);
    if (snapshot === null) continue;
    const journal = await readJournal(folder, snapshot.n);
    if (sealed.file === base || !isForeign(snapshot, journal))
      return { file: sealed.file, snapshot, journal };
    // A superseded owner has put its snapshot in place late: it may hold events that never counted.
    problems.push({ path: sealed.file, message: 'This is of a superseded owner and was not used.' });
  }
  return { file: null, snapshot: null, journal: await readJournal(folder, 0) };
}

function isForeign(snapshot: Snapshot, journal: JournalRead): boolean {
  return journal.segments.some(({ lines }) =>
    lines.some(({ record }) => record.epoch > snapshot.epoch && record.n <= snapshot.n),
  );
}
