import type { ChildView, View } from '../../protocol/view.js';
import { childPlace } from '../../protocol/places.js';
import { plainLine } from '../../protocol/plainText.js';
import type { Supervisor } from '../../supervisor/api.js';
import { exitCodes } from '../exitCodes.js';
import type { Screen } from '../output/reporter.js';
import { say } from '../output/say.js';
import type { Target } from '../targets.js';
import { tellErrors } from './run.js';

/**
 * `swarm apply`: brings finished work into the user's tree and says of each child what became of it. Ends with 1 where
 * something named, or something finished, has not come in.
 */
export async function apply(
  supervisor: Supervisor,
  targets: readonly Target[],
  options: { readonly json: boolean },
  screen: Screen,
): Promise<number> {
  try {
    const before = supervisor.view();
    // A whole batch, or all: what has not finished yet is not meant.
    const meant = targets.length === 1 ? targets : targets.filter((target) => isReady(find(before, target)));
    const wanted = meant.filter((target) => isReady(find(before, target)));
    if (wanted.length > 0) {
      const answer = await supervisor.request({ type: 'apply', targets: [...wanted] });
      if (!answer.ok) {
        tellErrors(answer.errors, 'apply', options.json, screen);
        return answer.code;
      }
      await ended(supervisor, wanted, before.seq);
    }
    if (meant.length === 0) say(screen, options.json, 'Nothing is ready to apply.');
    let all = true;
    for (const target of meant) {
      const child = find(supervisor.view(), target);
      if (child === null) continue;
      all &&= child.apply?.state === 'applied';
      const text = whatBecame(target.batch, child);
      const { uncaptured = [] } = child;
      const value = { type: 'child', batch: target.batch, id: child.id, apply: child.apply, uncaptured };
      say(screen, options.json, text, value);
    }
    return all ? exitCodes.done : exitCodes.failed;
  } finally {
    await supervisor.close({ stopAgents: false });
  }
}

function isReady(child: ChildView | null): boolean {
  return child?.status === 'done' && child.apply?.state !== 'applied';
}

function find(view: View, target: Target): ChildView | null {
  const batch = view.batches.find((one) => one.id === target.batch);
  return batch?.children.find((one) => one.id === target.child) ?? null;
}

/** What became of a child's work, and of what no snapshot can hold. */
export function whatBecame(batch: string, child: ChildView): string {
  return `${child.id}: ${outcome(batch, child)}${withoutWhat(child)}`;
}

function outcome(batch: string, child: ChildView): string {
  const state = child.apply?.state;
  switch (state) {
    case 'applied':
      return 'in your tree';
    case 'conflict':
      return `conflict, your tree is as it was: ${(child.apply?.with ?? [])
        .map(({ who, path }) => `${path} (changed by ${who})`)
        .map((text) => plainLine(text))
        .join(', ')}`;
    case 'red':
      return `check red, your tree is as it was; what it said is in .swarm/${childPlace(batch, child.id)}/check.txt`;
    case 'applying':
    case 'ready':
    case 'forecastClean':
    case 'forecastConflict':
    case undefined:
      if (child.status !== 'done') return 'not applied, it has not finished';
      return `not applied: ${plainLine(child.apply?.refused ?? 'another apply of its batch is under way')}`;
    default:
      return state satisfies never;
  }
}

/** What could not be brought in, because no snapshot can hold it. */
function withoutWhat({ uncaptured = [] }: ChildView): string {
  if (uncaptured.length === 0) return '';
  const paths = uncaptured.map(({ path, reason }) => `${plainLine(path)} (${plainLine(reason)})`);
  return `; only in its worktree, which is kept: ${paths.join(', ')}`;
}

/** Waits until what was asked for is over, here or at the owner. */
async function ended(supervisor: Supervisor, wanted: readonly Target[], seq: number): Promise<void> {
  await new Promise<void>((done) => {
    const listening = supervisor.onView((view) => {
      if (view.seq <= seq) return;
      if (wanted.some((target) => find(view, target)?.apply?.state === 'applying')) return;
      queueMicrotask(() => listening.dispose());
      done();
    });
  });
  await supervisor.settled();
}
