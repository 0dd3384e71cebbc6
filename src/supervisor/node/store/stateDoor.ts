import { z } from 'zod';
import type { State } from '../../core/state.js';
import * as p from './parts.js';

const launch = z.object({
  attempt: p.count,
  how: p.text,
  by: p.text,
  canary: z.object({ gate: p.key, episode: p.count }).nullable(),
});

const pause = z.object({
  reason: p.text,
  message: p.text,
  needsUser: p.flag,
  resetAt: p.nullableInstant,
  steps: p.steps,
  gate: z.object({ key: p.key, episode: p.count }).nullable(),
  retryAt: p.nullableInstant,
});

const since = { since: p.instant };
const working = { ...since, launch, process: p.processId.nullable() };

const phase = z.discriminatedUnion('name', [
  z.object({ name: z.literal('queued'), ...since }),
  z.object({ name: z.literal('preparing'), ...since, launch }),
  z.object({ name: z.literal('running'), ...working, lastSign: p.instant }),
  z.object({ name: z.literal('parking'), ...working, then: pause }),
  z.object({ name: z.literal('paused'), ...since, pause }),
  z.object({ name: z.literal('stopping'), ...working }),
  z.object({ name: z.literal('succeeded'), ...since, result: p.text }),
  z.object({
    name: z.literal('failed'),
    ...since,
    reason: z.object({ class: p.text, message: p.text }),
  }),
  z.object({ name: z.literal('canceled'), ...since }),
]);

const child = z.object({
  key: p.key,
  batch: p.key,
  task: p.task,
  chosen: p.count,
  attempt: p.count,
  session: p.nullableText,
  worktree: p.place.nullable(),
  report: z.object({
    lastLine: p.text,
    details: p.details.nullable(),
    offsets: z.object({ attempt: p.count, stdout: p.count, stderr: p.count }),
  }),
  history: z.array(z.object({ kind: p.text, from: p.instant, to: p.nullableInstant })),
  quarantine: z.object({ state: p.text, moved: z.array(p.text), left: p.whoAndPath }).nullable(),
  applied: z.object({ state: p.text }),
  check: p.childCheck.nullable(),
  phase,
});

const gate = z.object({
  key: p.key,
  credential: p.text,
  model: p.nullableText,
  episode: p.count,
  position: z.object({ name: z.enum(['open', 'opening', 'closed', 'probing']) }),
});

const stateSchema = z
  .object({
    seq: p.count.nonnegative(),
    at: p.instant,
    owner: p.owner.nullable(),
    settings: p.settings,
    batches: z.record(p.key, z.object({ ...p.batch.shape, createdAt: p.instant, children: p.keys })),
    batchOrder: p.keys,
    children: z.record(p.key, child),
    gates: z.record(p.key, gate),
    diskFullSince: p.nullableInstant,
  })
  // What refers to something must find it.
  .refine(({ batches, batchOrder, children }) =>
    [
      ...batchOrder.map((id) => Object.hasOwn(batches, id)),
      ...Object.values(batches).flatMap((batch) => batch.children.map((key) => Object.hasOwn(children, key))),
      ...Object.values(children).map(
        ({ batch, chosen, task }) => Object.hasOwn(batches, batch) && task.chain[chosen] !== undefined,
      ),
    ].every(Boolean),
  );

/** A state as read from a snapshot, with all that it has beyond what is looked at; null where it is none. */
export function parseState(value: unknown): State | null {
  return stateSchema.safeParse(value).success ? (value as State) : null;
}
