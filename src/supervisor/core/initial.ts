import type { Settings, State } from './state.js';

export const defaultSettings: Settings = { maxConcurrent: 8, askAbove: null };

/** The machine before its first event. */
export function initialState(settings: Settings = defaultSettings): State {
  return {
    seq: 0,
    at: 0,
    offset: 0,
    owner: null,
    settings,
    batches: {},
    batchOrder: [],
    children: {},
    gates: {},
    diskFullSince: null,
  };
}
