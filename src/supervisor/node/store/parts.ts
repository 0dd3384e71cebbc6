import { z } from 'zod';

/**
 * Schemas of what events and snapshots have in common. Fields that a later version adds are let through: what was
 * checked is used, not what the schema makes of it.
 */
export const text = z.string();
export const count = z.number().int();
export const instant = z.number();
export const nullableText = text.nullable();
export const nullableInstant = instant.nullable();
export const flag = z.boolean();

/** Names that would reach into an object's prototype are no keys. */
export const key = text.refine((value) => value !== '__proto__', 'not a key');
export const keys = z.array(key);

export const owner = z.object({ pid: count, epoch: count, host: text });
export const settings = z.object({ maxConcurrent: count, askAbove: z.number().nullable() });
export const processId = z.object({ pid: count, startTime: text, nonce: text });
export const place = z.object({ path: text, base: text, inputs: z.array(text) });
export const timeout = z.object({ idle: z.number(), total: z.number().nullable() });
export const whoAndPath = z.array(z.object({ who: text, path: text }));

export const policy = z.object({
  consent: z.record(key, z.enum(['auto', 'ask', 'never'])),
  probe: z.array(z.number()),
  margin: z.number(),
  ramp: z.number(),
  maxAutoResumes: z.number(),
  holdAbove: z.number(),
  fallbackAfter: z.number().nullable(),
  quietHours: z.object({ from: z.number(), to: z.number() }).nullable(),
  tokensPerWake: z.number().nullable(),
});

export const task = z.object({
  id: key,
  title: text,
  chain: z.array(z.object({ name: text, adapter: text, credential: text, model: nullableText })).min(1),
  files: z.array(text).nullable(),
  timeout,
  check: z.array(text).nullable(),
  promptTokens: z.number(),
});

/** A batch without what only a snapshot holds of it. */
export const batch = z.object({
  id: key,
  name: text,
  isolation: z.enum(['worktree', 'shared']),
  maxConcurrent: count,
  policy,
  timeout,
  check: z.array(text).nullable(),
  base: text,
});

export const steps = z.array(z.object({ step: text, rule: text, found: text, confidence: text }));

export const verdict = z.object({
  class: text,
  recoverable: flag,
  needsUser: flag,
  resetAt: nullableInstant,
  resetSource: nullableText,
  zoneAssumed: flag,
  scope: nullableText,
  window: nullableText,
  model: nullableText,
  message: text,
  nearLimit: z
    .object({ utilization: z.number().nullable(), window: nullableText, resetAt: nullableInstant })
    .nullable(),
  steps,
});

export const details = z.object({
  plan: z.array(z.object({ text, done: flag })),
  decisions: z.array(text),
  written: z.array(z.object({ path: text, kind: z.enum(['M', 'A', 'D']) })),
  read: z.array(text),
  verification: z.array(z.object({ command: text, exitCode: z.number().nullable(), tree: text })),
  lastLineAt: nullableText,
});

export const childCheck = z.object({ state: text, errors: count, tree: text, stale: flag });
export const batchCheck = z.object({
  state: text,
  command: text,
  errors: count,
  errorsInTree: count,
  errorsByChild: z.array(z.object({ id: text, title: text, errors: count })),
  tree: text,
  at: text,
  stale: flag,
});

export const applyStep = z.object({ children: keys, from: text, to: text, paths: z.array(text) });
