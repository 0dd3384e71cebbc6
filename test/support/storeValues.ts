import type { View } from '../../src/protocol/view.js';
import type { Stamped } from '../../src/supervisor/core/event.js';
import { initialState } from '../../src/supervisor/core/initial.js';
import type { State } from '../../src/supervisor/core/state.js';

/** Some event with this number; `size` makes it that much longer. */
export function event(seq: number, size = 0): Stamped {
  return {
    seq,
    t: 1_800_000_000_000 + seq,
    offset: 60,
    event: { type: 'credentialChanged', credential: `claude ${seq} ä€😀${'x'.repeat(size)}` },
  };
}

export function events(from: number, to: number): readonly Stamped[] {
  return Array.from({ length: to - from + 1 }, (_, index) => event(from + index));
}

export function state(seq: number): State {
  return { ...initialState(), seq, at: 1_800_000_000_000 + seq };
}

export function emptyView(seq: number): View {
  return {
    schema: 1,
    seq,
    at: '2027-01-15T08:00:00.000Z',
    owner: null,
    problems: [],
    gates: [],
    batches: [],
  };
}
