import { z } from 'zod';

/** Schemas of what events and snapshots have in common. Fields that a later version adds are let through. */
export const text = z.string();
export const count = z.number().int();
export const instant = z.number();
export const nullableText = text.nullable();
export const nullableInstant = instant.nullable();
export const flag = z.boolean();

/** Names that would reach into an object's prototype are no keys. */
export const key = text.refine((value) => value !== '__proto__', 'not a key');
export const keys = z.array(key);

export const owner = z.looseObject({ pid: count, epoch: count, host: text });
export const settings = z.looseObject({ maxConcurrent: count, askAbove: z.number().nullable() });
export const processId = z.looseObject({ pid: count, startTime: text, nonce: text });
export const place = z.looseObject({ path: text, base: text, inputs: z.array(text) });
export const timeout = z.looseObject({ idle: z.number(), total: z.number().nullable() });
export const whoAndPath = z.array(z.looseObject({ who: text, path: text }));

export const policy = z.looseObject({
  consent: z.record(key, z.enum(['auto', 'ask', 'never'])),
  probe: z.array(z.number()),
  margin: z.number(),
  ramp: z.number(),
  maxAutoResumes: z.number(),
  holdAbove: z.number(),
  fallbackAfter: z.number().nullable(),
  quietHours: z.looseObject({ from: z.number(), to: z.number() }).nullable(),
  tokensPerWake: z.number().nullable(),
});

export const task = z.looseObject({
  id: key,
  title: text,
  chain: z.array(z.looseObject({ name: text, adapter: text, credential: text, model: nullableText })).min(1),
  files: z.array(text).nullable(),
  timeout,
  check: z.array(text).nullable(),
  promptTokens: z.number(),
});

/** A batch without what only a snapshot holds of it. */
export const batch = z.looseObject({
  id: key,
  name: text,
  isolation: z.enum(['worktree', 'shared']),
  maxConcurrent: count,
  policy,
  timeout,
  check: z.array(text).nullable(),
  base: text,
});

export const steps = z.array(z.looseObject({ step: text, rule: text, found: text, confidence: text }));

export const verdict = z.looseObject({
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
    .looseObject({ utilization: z.number().nullable(), window: nullableText, resetAt: nullableInstant })
    .nullable(),
  steps,
});

export const details = z.looseObject({
  plan: z.array(z.looseObject({ text, done: flag })),
  decisions: z.array(text),
  written: z.array(z.looseObject({ path: text, kind: z.enum(['M', 'A', 'D']) })),
  read: z.array(text),
  verification: z.array(z.looseObject({ command: text, exitCode: z.number().nullable(), tree: text })),
  lastLineAt: nullableText,
});

export const childCheck = z.looseObject({ state: text, errors: count, tree: text, stale: flag });
export const batchCheck = z.looseObject({
  state: text,
  command: text,
  errors: count,
  errorsInTree: count,
  errorsByChild: z.array(z.looseObject({ id: text, title: text, errors: count })),
  tree: text,
  at: text,
  stale: flag,
});

export const applyStep = z.looseObject({ children: keys, from: text, to: text, paths: z.array(text) });
