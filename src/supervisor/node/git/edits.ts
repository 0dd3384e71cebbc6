import { z } from 'zod';
import type { Edit } from '../../ports/sharedTree.js';

const editSchema = z.object({
  path: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  beforeMode: z.string().nullable().default(null),
  afterMode: z.string().nullable().default(null),
  tool: z.string(),
  attempt: z.number(),
  at: z.number(),
  confidence: z.enum(['exact', 'exclusive', 'ambiguous']),
  others: z.array(z.string()).default([]),
});

/** The lines of an `edits.jsonl`; lines that are none (a torn last one) are passed over. */
export function parseEdits(text: string): readonly Edit[] {
  const edits: Edit[] = [];
  for (const line of text.split('\n'))
    try {
      const parsed = editSchema.safeParse(JSON.parse(line));
      if (parsed.success) edits.push(parsed.data);
    } catch {
      continue;
    }
  return edits;
}

/** The edits that are in the tree: those of a path after its last quarantine. */
export function liveEdits(edits: readonly Edit[]): readonly Edit[] {
  const last = new Map<string, number>();
  for (const [at, edit] of edits.entries()) if (edit.tool === 'quarantine') last.set(edit.path, at);
  return edits.filter((edit, at) => at > (last.get(edit.path) ?? -1));
}
