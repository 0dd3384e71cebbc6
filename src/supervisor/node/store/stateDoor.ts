import { z } from 'zod';
import type { State } from '../../core/state.js';

const stateSchema = z.looseObject({
  seq: z.number().int().nonnegative(),
  at: z.number(),
  batches: z.record(z.string(), z.looseObject({ id: z.string(), children: z.array(z.string()) })),
  batchOrder: z.array(z.string()),
  children: z.record(
    z.string(),
    z.looseObject({ key: z.string(), phase: z.looseObject({ name: z.string() }) }),
  ),
  gates: z.record(z.string(), z.looseObject({ key: z.string() })),
});

/** A state as read from a snapshot; null where it is none. */
export function parseState(value: unknown): State | null {
  const parsed = stateSchema.safeParse(value);
  return parsed.success ? (parsed.data as unknown as State) : null;
}
