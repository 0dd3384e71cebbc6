import path from 'node:path';
import type { Problem, View } from '../../../protocol/view.js';
import type { Stamped } from '../../core/event.js';
import type { Owner, State } from '../../core/state.js';
import * as calls from '../fsCalls.js';
import { readContents } from './contents.js';
import { isOwnFolder } from './layout.js';
import { readLock } from './lock.js';
import { readVersion, readView } from './snapshots.js';

/** What a folder holds, for those who only look. */
export interface StoreLook {
  readonly state: State | null;
  /** They follow `state`. */
  readonly events: readonly Stamped[];
  readonly problems: readonly Problem[];
  /** The last view that an owner saved; older than state and events, as a rule. */
  readonly view: View | null;
  readonly owner: Owner | null;
  /** The newer version that wrote it; null: this one can read it all. */
  readonly writtenBy: string | null;
}

/** Reads a folder; writes, repairs and locks nothing. Null where there is none. Never throws for what it reads. */
export async function lookAtStore(swarmFolder: string): Promise<StoreLook | null> {
  const swarm = path.resolve(swarmFolder);
  const found = await calls.entry(swarm).catch(() => null);
  if (found === null) return null;
  const nothing = { state: null, events: [], view: null, owner: null, writtenBy: null };
  if (!isOwnFolder(found))
    return { ...nothing, problems: [{ path: swarm, message: 'This is not a folder and was not read.' }] };
  const view = await readView(path.join(swarm, 'view.json'));
  const version = await readVersion(path.join(swarm, 'VERSION'), []);
  const lock = await readLock(path.join(swarm, 'lock'));
  const owner =
    lock.kind === 'held' ? { pid: lock.holder.pid, epoch: lock.holder.epoch, host: lock.holder.host } : null;
  if (version.kind === 'newer')
    return {
      ...nothing,
      // Its owner may have died since it was written.
      view: view && { ...view, owner },
      owner,
      writtenBy: version.writtenBy,
      problems: [
        {
          path: path.join(swarm, 'VERSION'),
          message: `This was written by ${version.writtenBy}, which is newer.`,
        },
      ],
    };
  const { state, events, problems } = await readContents(swarm);
  return { ...nothing, state, events, problems, view, owner };
}
