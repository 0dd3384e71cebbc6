import type { Draft } from './draft.js';
import { gatesOf, isShut, shutGateOf } from './gateLookup.js';
import { nextStretch } from './history.js';
import type { Child, Gate, Instant, Pause, State } from './state.js';

/** A child whose gate waits too long goes on with the first executor of its chain whose gates are open. */
export function trySwitch(d: Draft, child: Child): void {
  const after = d.batchOf(child).policy.fallbackAfter;
  if (after === null || child.task.chain.length < 2) return;
  const gate = shutGateOf(d.state, child);
  if (gate === null || waitAt(gate, d.now) <= after) return;
  const other = nextOpen(d.state, child);
  if (other !== null) switchTo(d, child, other);
}

function waitAt(gate: Gate, now: Instant): number {
  const { position } = gate;
  if (position.name !== 'closed') return 0;
  return position.tryAt === null ? Infinity : position.tryAt - now;
}

/** Index of the most preferred executor other than the chosen one whose gates are open; null: there is none. */
function nextOpen(state: State, child: Child): number | null {
  const index = child.task.chain.findIndex(
    (choice, at) =>
      at !== child.chosen && gatesOf(state, choice).every((gate) => !isShut(gate) && gate.near === null),
  );
  return index < 0 ? null : index;
}

/** The next executor after the chosen one, whatever its gate says; null: the chain ends here. */
export function nextInChain(child: Child): number | null {
  return child.chosen + 1 < child.task.chain.length ? child.chosen + 1 : null;
}

/** Same worktree, fresh session, with the brief: another agent cannot read the first one's session. */
export function switchTo(d: Draft, child: Child, chosen: number): void {
  const switched: Child = { ...child, chosen, session: null };
  if (child.phase.name !== 'paused') {
    d.putChild(switched);
    return;
  }
  const pause: Pause = { ...child.phase.pause, gate: null, retryAt: d.now, chosen: false, how: 'brief' };
  d.putChild({
    ...switched,
    phase: { ...child.phase, pause },
    history: nextStretch(child.history, d.now, {
      kind: 'paused',
      attempt: child.attempt,
      reason: pause.reason,
      how: 'switched',
    }),
  });
}
