import type { GateView, View } from '../protocol/view.js';

/** Several folders' views as one, for the panel and the status bar. One view stays as it is. */
export function mergeViews(views: readonly View[]): View {
  const [first, ...others] = views;
  if (first === undefined) return emptyView;
  if (others.length === 0) return first;
  return {
    schema: 1,
    // Each part only grows, so the sum only grows.
    seq: views.reduce((sum, view) => sum + view.seq, 0),
    at: views.reduce((latest, view) => (view.at > latest ? view.at : latest), first.at),
    owner: first.owner,
    problems: views.flatMap((view) => view.problems),
    gates: mergeGates(views.flatMap((view) => view.gates)),
    batches: views.flatMap((view) => view.batches),
  };
}

export const emptyView: View = {
  schema: 1,
  seq: 0,
  at: '1970-01-01T00:00:00.000Z',
  owner: null,
  problems: [],
  gates: [],
  batches: [],
};

/** `credential`, or credential and model: what a strip stands for. */
export function sameGate(
  gate: Pick<GateView, 'credential' | 'model'>,
  other: { readonly credential: string; readonly model?: string | undefined },
): boolean {
  return gate.credential === other.credential && (gate.model ?? null) === (other.model ?? null);
}

/** An account is the same in every folder: one strip, told by the folder that waits longest, counts added. */
function mergeGates(gates: readonly GateView[]): readonly GateView[] {
  const merged: GateView[] = [];
  for (const gate of gates) {
    const index = merged.findIndex((other) => sameGate(other, gate));
    const other = merged[index];
    if (other === undefined) merged.push(gate);
    else {
      const told = severity(gate) > severity(other) ? gate : other;
      merged[index] = { ...told, held: gate.held + other.held, waiting: gate.waiting + other.waiting };
    }
  }
  return merged;
}

function severity(gate: GateView): number {
  const state = { open: 0, probing: 1, closed: 2 }[gate.state];
  return (gate.needsUser ? 10 : 0) + state + (gate.until === null ? 0 : Date.parse(gate.until) / 1e15);
}
