import { z } from 'zod';
import type { Executor } from '../agents/agent.js';
import type { Policy } from '../core/state.js';
import { mergeExecutor, type Profile } from './executors.js';
import type { Plan } from './plan.js';
import { checkShape } from './shape.js';
import { readSource } from './source.js';

/**
 * The text of batch.json: the plan as launched. Of an executor's environment only references to the surroundings
 * are kept; a value that was written out is left out, and found again in its own place when the plan is loaded.
 */
export function storedPlan(plan: Plan, launchedAt: string): string {
  const executors = Object.fromEntries(
    Object.entries(plan.executors).map(([name, executor]) => [
      name,
      {
        ...executor,
        env: Object.fromEntries(
          Object.entries(executor.env).map(([key, value]) => [key, isReference(value) ? value : null]),
        ),
      },
    ]),
  );
  return `${JSON.stringify({ schema: 1, launchedAt, ...plan, executors }, null, 2)}\n`;
}

/** Where values that were not stored are found again. */
export interface ValueSources {
  readonly profiles: Readonly<Record<string, Profile>>;
  /** Text of the manifest file, if it is still there. */
  readonly manifest: { readonly kind: 'yaml' | 'json' | 'markdown'; readonly text: string } | null;
}

/** The path of the manifest that a stored plan was read from; null where it names none. */
export function sourceOf(text: string): string | null {
  const parsed = stored.safeParse(parseJson(text));
  return parsed.success ? parsed.data.source : null;
}

/**
 * The plan of a batch.json; null where it is not readable. A value that is found nowhere any more stays as a
 * reference to the variable of the same name, so that the launch says what is missing.
 */
export function loadPlan(text: string, sources: ValueSources): Plan | null {
  const parsed = stored.safeParse(parseJson(text));
  if (!parsed.success) return null;
  const { executors, schema: _schema, launchedAt: _launchedAt, ...rest } = parsed.data;
  const fromManifest =
    sources.manifest === null
      ? {}
      : (checkShape(readSource(sources.manifest.kind, sources.manifest.text)).manifest?.executors ?? {});
  const restored = Object.fromEntries(
    Object.entries(executors).map(([name, executor]): [string, Executor] => {
      const again = mergeExecutor(name, fromManifest[name], sources.profiles[name]);
      const env = Object.entries(executor.env).map(([key, value]): [string, string] => [
        key,
        value ?? again?.env[key] ?? `\${env:${key}}`,
      ]);
      return [name, { ...executor, env: Object.fromEntries(env) }];
    }),
  );
  // The policy was checked when the batch was launched, and its newer parts have defaults in the machine.
  return { ...rest, policy: rest.policy as unknown as Policy, executors: restored };
}

function isReference(value: string): boolean {
  return /^\$\{env:[A-Za-z_][A-Za-z0-9_]*\}$/.test(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

const words = z.array(z.string());
const timeout = z.object({ idle: z.number(), total: z.number().nullable() });
const stored = z.object({
  schema: z.literal(1),
  launchedAt: z.string(),
  name: z.string(),
  isolation: z.enum(['worktree', 'shared']),
  maxConcurrent: z.number(),
  maxTotalSpawned: z.number(),
  context: z.string(),
  check: words.nullable(),
  timeout,
  policy: z.record(z.string(), z.unknown()),
  tasks: z.array(
    z.object({
      id: z.string(),
      title: z.string(),
      prompt: z.string(),
      chain: words.min(1),
      files: words.nullable(),
      check: words.nullable(),
      timeout,
    }),
  ),
  executors: z.record(
    z.string(),
    z.object({
      name: z.string(),
      adapter: z.string(),
      command: words,
      args: words,
      env: z.record(z.string(), z.string().nullable()),
      model: z.string().nullable(),
      credential: z.string(),
      permissions: z.enum(['edit', 'full']),
    }),
  ),
  source: z.string().nullable(),
});
