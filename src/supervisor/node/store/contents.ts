import path from 'node:path';
import type { Problem } from '../../../protocol/view.js';
import type { Stamped } from '../../core/event.js';
import type { State } from '../../core/state.js';
import { parseEvents } from './eventDoor.js';
import { readJournal, type JournalRead } from './journalFiles.js';
import { readSnapshot, type Snapshot } from './snapshots.js';

/** What the files of a folder say, read without a write. */
export interface Contents {
  readonly snapshot: Snapshot | null;
  readonly state: State | null;
  readonly events: readonly Stamped[];
  readonly lastSeq: number;
  readonly problems: readonly Problem[];
  readonly journal: JournalRead;
}

/**
 * The newest snapshot that can be used and the events after it. `state.json` is the newest as a rule; `base.json`
 * stands for the segments that are gone.
 */
export async function readContents(swarm: string): Promise<Contents> {
  const folder = path.join(swarm, 'journal');
  const problems: Problem[] = [];
  const base = await readSnapshot(path.join(folder, 'base.json'), problems);
  const newest = await readSnapshot(path.join(swarm, 'state.json'), problems);
  let snapshot = newest !== null && newest.n >= (base?.n ?? 0) ? newest : base;
  let journal = await readJournal(folder, snapshot?.n ?? 0);
  if (snapshot !== null && snapshot !== base && isForeign(snapshot, journal)) {
    // A superseded owner has put its snapshot in place late: it may hold events that never counted.
    problems.push({
      path: path.join(swarm, 'state.json'),
      message: 'This is of a superseded owner and was not used.',
    });
    snapshot = base;
    journal = await readJournal(folder, base?.n ?? 0);
  }
  problems.push(...journal.problems);
  const events = parseEvents(journal.records, folder, problems);
  return { snapshot, state: snapshot?.state ?? null, events, lastSeq: journal.last, problems, journal };
}

function isForeign(snapshot: Snapshot, journal: JournalRead): boolean {
  return journal.segments.some(({ lines }) =>
    lines.some(({ record }) => record.epoch > snapshot.epoch && record.n <= snapshot.n),
  );
}
