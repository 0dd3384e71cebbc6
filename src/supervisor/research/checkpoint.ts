import { z } from 'zod';

const hash = z.string().nullable();

/**
 * The research state of a child over all its attempts: checkpoint.json, and the accumulator's own memory.
 * `offsets` say up to where the attempt's output is in it.
 */
const checkpoint = z.object({
  schema: z.literal(1),
  batch: z.string(),
  child: z.string(),
  title: z.string(),
  updatedAt: z.number(),
  attempt: z.number(),
  session: z.string().nullable(),
  base: z.string().nullable(),
  offsets: z.object({ stdout: z.number(), stderr: z.number() }),
  /** `sha256` and `modifiedAt` as they were when it was read; null where that could not be said. */
  read: z.array(
    z.object({ path: z.string(), sha256: hash, modifiedAt: z.number().nullable(), at: z.number() }),
  ),
  written: z.array(
    z.object({
      path: z.string(),
      sha256: hash,
      blob: hash,
      /** It did not exist before. */
      added: z.boolean(),
      at: z.number(),
      attempt: z.number(),
      tool: z.string(),
    }),
  ),
  /** Shell commands with their results and the tree they ran on. */
  commands: z.array(
    z.object({
      command: z.string(),
      exitCode: z.number().nullable(),
      tree: z.string(),
      at: z.number(),
      attempt: z.number(),
    }),
  ),
  next: z.array(z.object({ text: z.string(), done: z.boolean() })),
  decisions: z.array(z.object({ text: z.string(), at: z.number() })),
  denied: z.array(z.string()),
  /** Tokens of earlier sessions, and of the present one. */
  spent: z.object({ input: z.number(), cachedInput: z.number(), output: z.number() }),
  tokens: z.object({ input: z.number(), cachedInput: z.number(), output: z.number() }),
  lastLine: z.string(),
  lastLineAt: z.number().nullable(),
});

export type Checkpoint = z.infer<typeof checkpoint>;

export function emptyCheckpoint(batch: string, child: string, title: string): Checkpoint {
  const none = { input: 0, cachedInput: 0, output: 0 };
  return {
    schema: 1,
    batch,
    child,
    title,
    updatedAt: 0,
    attempt: 0,
    session: null,
    base: null,
    offsets: { stdout: 0, stderr: 0 },
    read: [],
    written: [],
    commands: [],
    next: [],
    decisions: [],
    denied: [],
    spent: none,
    tokens: none,
    lastLine: '',
    lastLineAt: null,
  };
}

/** The checkpoint of a file's text; null where it is not one. */
export function parseCheckpoint(text: string | null): Checkpoint | null {
  if (text === null) return null;
  try {
    const parsed = checkpoint.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
