import { parse } from 'yaml';
import { z } from 'zod';
import { splitCommand } from './words.js';

const command = z.union([
  z
    .string()
    .transform((text) => splitCommand(text) ?? [])
    .refine((words) => words.length > 0, 'a program and its arguments; quotes in pairs, no shell'),
  z.array(z.string()).min(1),
]);
const path = z.string().min(1);

const step = z.union(
  [
    z.strictObject({ write: path, text: z.string() }),
    z.strictObject({ replace: path, from: z.string().min(1), to: z.string(), all: z.boolean().optional() }),
    z.strictObject({ run: command }),
    z.strictObject({ check: z.union([z.literal(true), command]) }),
  ],
  'one of: write + text, replace + from + to (+ all), run, check',
);
const steps = z.array(step).min(1, 'at least one step');
const plan = z.union([steps, z.strictObject({ steps }).transform((whole) => whole.steps)]);

/** One thing to do, exactly. `check: true` is the batch's own check. */
export type PlanStep = z.infer<typeof step>;

export type ReadPlan =
  | { readonly ok: true; readonly steps: readonly PlanStep[] }
  | { readonly ok: false; readonly problem: string };

/**
 * The plan in a text: its first fenced block, or all of it up to a line `---`, below which a resumed child is told
 * what is known.
 */
export function readPlan(text: string): ReadPlan {
  const fenced = /^(`{3,}|~{3,})(?:ya?ml|json)?[ \t]*\n(.*?)^\1[ \t]*$/ms.exec(text)?.[2];
  const own = fenced ?? text.split(/^---[ \t]*$/m).find((part) => part.trim() !== '') ?? '';
  let value: unknown;
  try {
    value = parse(own, { maxAliasCount: 100 });
  } catch (error) {
    return { ok: false, problem: `it is neither YAML nor JSON: ${messageOf(error)}` };
  }
  if (Array.isArray(value) || (typeof value === 'object' && value !== null && 'steps' in value)) {
    const list: unknown = Array.isArray(value) ? value : value.steps;
    const problems = stepProblems(list);
    const parsed = plan.safeParse(value);
    if (parsed.success) return { ok: true, steps: parsed.data };
    return { ok: false, problem: problems ?? parsed.error.issues.map((issue) => issue.message).join('; ') };
  }
  return { ok: false, problem: 'it is no list of steps' };
}

/** A step in a few words. */
export function stepText(one: PlanStep): string {
  if ('write' in one) return `write ${one.write}`;
  if ('replace' in one) return `replace in ${one.replace}`;
  if ('run' in one) return `run ${one.run.join(' ')}`;
  return one.check === true ? 'check' : `check ${one.check.join(' ')}`;
}

/** The programs that the steps name. */
export function programsIn(steps: readonly PlanStep[]): readonly (readonly string[])[] {
  return steps.flatMap((one) => {
    if ('run' in one) return [one.run];
    return 'check' in one && one.check !== true ? [one.check] : [];
  });
}

/** Every wrong step by its number; null if each is right by itself. */
function stepProblems(list: unknown): string | null {
  if (!Array.isArray(list)) return null;
  if (list.length === 0) return 'it has no steps';
  const problems = list.flatMap((one, i) => {
    const parsed = step.safeParse(one);
    return parsed.success ? [] : [`step ${i + 1}: ${parsed.error.issues[0]?.message ?? 'not understood'}`];
  });
  return problems.length === 0 ? null : problems.join('; ');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
}
