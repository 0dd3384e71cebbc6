import { expect } from 'vitest';
import type { ChildView } from '../../src/protocol/view.js';
import type { Provider } from '../support/provider/index.js';
import type { BatchStage } from './batchStage.js';

export function childrenOf(of: BatchStage): readonly ChildView[] {
  return of.status().batches.flatMap((batch) => batch.children);
}

/** Every step of every child was answered once. */
export function expectNothingTwice(provider: Provider, names: readonly string[]): void {
  for (const name of names) {
    const steps = provider.log
      .filter((request) => request.main && request.task === name && !request.refused)
      .map((request) => request.step);
    expect([name, steps]).toEqual([name, [0, 1, 2, 3, null]]);
  }
}

/** A small seeded generator (mulberry32), so that a failure can be repeated. */
export function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
