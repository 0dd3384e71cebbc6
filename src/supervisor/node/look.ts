import type { View } from '../../protocol/view.js';
import { diskProblem } from '../core/exitCode.js';
import { initialState } from '../core/initial.js';
import { replay } from '../core/reduce.js';
import { deriveView } from '../core/view.js';
import { lookAtStore } from './store/look.js';

/**
 * The view of a `.swarm` folder, made from what is on the disk. Writes, repairs and locks nothing. Without a folder
 * it is empty; of a newer version's folder it is the last view that can be read.
 */
export async function lookAtFolder(swarmFolder: string, now: number): Promise<View> {
  const look = await lookAtStore(swarmFolder);
  const nothing: View = { ...deriveView(initialState()), at: new Date(now).toISOString() };
  if (look === null) return nothing;
  if (look.writtenBy !== null) return { ...(look.view ?? nothing), problems: look.problems };
  const view = deriveView(replay(look.state ?? initialState(), look.events), look.problems);
  // Where nobody supervises, a full disk is what was, not what is.
  const problems = view.problems.filter(
    ({ message }) => look.owner !== null || message !== diskProblem.message,
  );
  return { ...view, problems, owner: look.owner };
}
