import { access } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { CheckPlace, Request } from '../../protocol/request.js';
import { couldNotRun, runThrough } from '../checking/command.js';
import { askOwner, isChildOf } from '../checking/ask.js';
import { findTop } from '../checking/top.js';
import { hasSharedBatch } from '../checking/batches.js';
import { attribution } from '../checking/attribution.js';
import { complain, tellAside } from '../output/clean.js';

/**
 * `swarm check [-- command]`: takes half-written children out of the way, runs the check, and passes its output and
 * exit code through. Says on stderr what was held back and whose the errors are, and 125 if the check could not run.
 */
export async function check(folder: string, command: readonly string[]): Promise<number> {
  const top = await findTop(folder);
  if (!top.ok) return refuse(top.message, top.fix);
  const wanted = await wantedCommand(folder, top.topLevel, command);
  if (wanted === null)
    return refuse(
      'No check is known for this repository.',
      'Name one: swarm check -- npm test, or set swarm.check.command.',
    );
  const spot = await findSpot(folder, top.topLevel);
  if (!spot.ok) return refuse(spot.message, spot.fix);
  const { place } = spot;
  const tree = place?.folder ?? top.topLevel;
  try {
    const end = await runThrough(wanted.command, tree, join(tree, wanted.folder));
    if (end.notRun !== null) return refuse(end.notRun, '');
    if (place !== null) {
      const { parseErrors } = await import('../../supervisor/node/git/check.js');
      const errors = parseErrors(end.output, tree, wanted.folder);
      tellAside(attribution(place, errors));
      await spot.tell?.({
        type: 'checkEnded',
        command: wanted.command.join(' ').slice(0, 10_000),
        exitCode: end.exitCode,
        tree: place.tree ?? '',
        errors: errors.map(({ path }) => path.slice(0, 4096)),
      });
    }
    return end.exitCode;
  } finally {
    await spot.done();
  }
}

async function wantedCommand(
  folder: string,
  topLevel: string,
  command: readonly string[],
): Promise<{ readonly command: readonly string[]; readonly folder: string } | null> {
  if (command.length > 0) return { command, folder: relative(topLevel, folder) };
  // Settings are read with much that a check with a command of its own does not need.
  const { readUserSettings } = await import('../environment.js');
  const given = (await readUserSettings()).check;
  if (given) return { command: given, folder: relative(topLevel, folder) };
  const { defaultCheck } = await import('../../supervisor/node/git/check.js');
  return defaultCheck(topLevel);
}

type Spot =
  | {
      readonly ok: true;
      /** Null: children of this repository work in worktrees of their own, so that nothing is in the way. */
      readonly place: CheckPlace | null;
      readonly tell?: (ended: Request & { readonly type: 'checkEnded' }) => Promise<void>;
      readonly done: () => Promise<void>;
    }
  | { readonly ok: false; readonly message: string; readonly fix: string };

const asItIs = { ok: true, place: null, done: () => Promise.resolve() } as const;

async function findSpot(folder: string, topLevel: string): Promise<Spot> {
  const swarm = join(topLevel, '.swarm');
  const exists = await access(swarm).then(
    () => true,
    () => false,
  );
  if (!exists || !(await hasSharedBatch(swarm))) return asItIs;
  if (isChildOf(process.env)) {
    const answer = await askOwner(swarm, process.env);
    if (answer.kind === 'placed') return { ok: true, place: answer.place, done: answer.done };
    await answer.done();
    if (answer.kind === 'refused') return { ok: false, message: answer.message, fix: '' };
    complain('nobody answers for this folder; the check runs on the tree as it is');
    return asItIs;
  }
  const { openForCheck } = await import('../checking/owner.js');
  return openForCheck(folder);
}

function refuse(message: string, fix: string): number {
  complain(`the check could not run: ${message}${fix ? `\n  ${fix}` : ''}`);
  return couldNotRun;
}
