import type { ChildView, GateView } from './view.js';

/**
 * What a queued child waits for: a slot, or, where slots are free, its account: after a reset only so many start until
 * they get on, and a wake may spend only so much. Null: it is about to start.
 */
export function queuedFor(
  child: ChildView,
  gates: readonly GateView[],
): 'slot' | 'opening' | 'budget' | null {
  if (child.slots === null) return null;
  if (child.slots.busy >= child.slots.of) return 'slot';
  const own = gates.filter(
    (gate) =>
      gate.credential === child.credential && (gate.model === undefined || gate.model === child.model),
  );
  return (['opening', 'budget'] as const).find((why) => own.some((gate) => gate.display === why)) ?? null;
}
