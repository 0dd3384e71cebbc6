import { createHash, randomBytes } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { z } from 'zod';
import type { PlanStep } from '../manifest/localPlan.js';

const progress = z.object({
  schema: z.literal(1),
  /** Hash of the plan that this is about. */
  plan: z.string(),
  done: z.number().int().min(0),
  /** What a step is about to make of a file: after a crash this says whether it did. */
  open: z.object({ path: z.string(), before: z.string(), after: z.string() }).nullable(),
});

/** How far a plan has come; kept on disk, each step before the next. */
export type Progress = z.infer<typeof progress>;

/** What is known of this plan; of another, or where nothing can be read, its beginning. */
export async function loadProgress(file: string, steps: readonly PlanStep[]): Promise<Progress> {
  const start: Progress = { schema: 1, plan: hashOf(JSON.stringify(steps)), done: 0, open: null };
  try {
    const parsed = progress.safeParse(JSON.parse(await readFile(file, 'utf8')));
    return parsed.success && parsed.data.plan === start.plan ? parsed.data : start;
  } catch {
    return start;
  }
}

export async function saveProgress(file: string, value: Progress): Promise<void> {
  await writeWhole(file, `${JSON.stringify(value)}\n`, 0o600);
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The whole text or nothing of it. */
export async function writeWhole(file: string, text: string, mode?: number): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  const handle = await open(temporary, 'wx', mode ?? 0o666);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}
