import type { BatchStatus, BatchView, ChildView, Problem, View } from '../../protocol/view.js';
import { gateFinder } from './gateLookup.js';
import { lookUp } from './keys.js';
import type { Batch, Child, State } from './state.js';
import { batchActions } from './viewActions.js';
import { viewChild } from './viewChild.js';
import { gatherFacts, iso, type Facts } from './viewFacts.js';
import { viewGate } from './viewGate.js';
import { diskProblem } from './exitCode.js';

/** Everything that a person or a tool can be shown, from the state and from what is wrong with the files around it. */
export function deriveView(state: State, problems: readonly Problem[] = []): View {
  const facts = gatherFacts(state);
  const find = gateFinder(state);
  return {
    schema: 1,
    seq: state.seq,
    at: iso(state.at),
    owner: state.owner,
    problems: state.diskFullSince === null ? problems : [...problems, diskProblem],
    gates: Object.values(state.gates).map((gate) =>
      viewGate(state, gate, facts.gates.get(gate.key) ?? noFacts),
    ),
    batches: state.batchOrder.flatMap((id) => {
      const batch = lookUp(state.batches, id);
      return batch === undefined ? [] : [viewBatch(state, batch, facts, find)];
    }),
  };
}

const noFacts = {
  held: 0,
  waiting: 0,
  first: null,
  canaryTitle: null,
  quietUntil: null,
  overBudget: false,
  someGoOn: false,
  policy: null,
} as const;

function viewBatch(state: State, batch: Batch, facts: Facts, find: ReturnType<typeof gateFinder>): BatchView {
  const children = batch.children.flatMap((key) => {
    const child: Child | undefined = lookUp(state.children, key);
    return child === undefined ? [] : [viewChild(state, child, find(child), facts)];
  });
  const ended = children.every((child) => child.endedAt !== null);
  return {
    id: batch.id,
    name: batch.name,
    status: statusOf(children, state.diskFullSince !== null),
    children,
    isolation: batch.isolation,
    createdAt: iso(batch.createdAt),
    endedAt: ended ? lastEnd(children) : null,
    check: batch.lastCheck,
    actions: batchActions(batch, children, ended),
  };
}

function lastEnd(children: readonly ChildView[]): string | null {
  let last: string | null = null;
  for (const { endedAt } of children) if (endedAt !== null && endedAt > (last ?? '')) last = endedAt;
  return last;
}

/** Running while a child runs or can start, else paused while one waits, else what its children came to. */
function statusOf(children: readonly ChildView[], diskFull: boolean): BatchStatus {
  const has = (status: ChildView['status']) => children.some((child) => child.status === status);
  const canStart =
    !diskFull &&
    children.some(
      (child) => child.status === 'queued' && (child.slots === null || child.slots.busy < child.slots.of),
    );
  if (has('running') || canStart) return 'running';
  if (has('paused') || has('held')) return 'paused';
  if (has('queued')) return diskFull ? 'paused' : 'queued';
  if (has('failed')) return 'failed';
  return has('canceled') ? 'canceled' : 'succeeded';
}
