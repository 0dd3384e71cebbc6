import type { BatchView, ChildView, GateView, View } from '../../protocol/view.js';

/** One thing of the view that is new or different, with only its changed fields. */
export type Change =
  | { readonly type: 'batch'; readonly batch: BatchView; readonly changed: Readonly<Record<string, unknown>> }
  | {
      readonly type: 'child';
      readonly batch: string;
      readonly child: ChildView;
      readonly before: ChildView | null;
      readonly changed: Readonly<Record<string, unknown>>;
    }
  | {
      readonly type: 'gate';
      readonly gate: GateView;
      readonly before: GateView | null;
      readonly changed: Readonly<Record<string, unknown>>;
    };

/** What differs between two views: batches first, then gates, then children. `ids` limits it to these batches. */
export function changesBetween(
  before: View | null,
  after: View,
  ids: ReadonlySet<string> | null,
): readonly Change[] {
  const changes: Change[] = [];
  const oldBatches = new Map(before?.batches.map((batch) => [batch.id, batch]));
  const batches = after.batches.filter((batch) => ids === null || ids.has(batch.id));
  for (const batch of batches) {
    const changed = changedFields(oldBatches.get(batch.id), batch, ['children']);
    if (changed) changes.push({ type: 'batch', batch, changed });
  }
  const oldGates = new Map(before?.gates.map((gate) => [gateId(gate), gate]));
  for (const gate of after.gates) {
    const changed = changedFields(oldGates.get(gateId(gate)), gate, []);
    if (changed) changes.push({ type: 'gate', gate, before: oldGates.get(gateId(gate)) ?? null, changed });
  }
  for (const batch of batches) {
    const oldChildren = new Map(oldBatches.get(batch.id)?.children.map((child) => [child.id, child]));
    for (const child of batch.children) {
      const changed = changedFields(oldChildren.get(child.id), child, ['details', 'history']);
      if (changed)
        changes.push({
          type: 'child',
          batch: batch.id,
          child,
          before: oldChildren.get(child.id) ?? null,
          changed,
        });
    }
  }
  return changes;
}

function gateId(gate: GateView): string {
  return JSON.stringify([gate.credential, gate.model ?? null]);
}

/** Null: nothing changed. */
function changedFields(
  before: object | undefined,
  after: object,
  without: readonly string[],
): Record<string, unknown> | null {
  const old = new Map<string, unknown>(Object.entries(before ?? {}));
  const fields = Object.entries(after).filter(
    ([name, value]) =>
      !without.includes(name) &&
      (before === undefined || JSON.stringify(old.get(name)) !== JSON.stringify(value)),
  );
  return fields.length > 0 ? Object.fromEntries(fields) : null;
}
