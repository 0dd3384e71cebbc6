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

/** The lines of an `edits.jsonl` about the shared tree; lines that are none (a torn last one) are passed over. */
export function parseEdits(text: string): readonly Edit[] {
  const edits: Edit[] = [];
  for (const line of text.split('\n'))
    try {
      const value: unknown = JSON.parse(line);
      const parsed = editSchema.safeParse(value);
      if (parsed.success && !isElsewhere(value)) edits.push(parsed.data);
    } catch {
      continue;
    }
  return edits;
}

/** Written in the child's own worktree, after its edits were moved there. */
function isElsewhere(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'tree' in value && value.tree === 'own';
}

/** The edits that are in the tree: those of a path after its last quarantine. */
export function liveEdits(edits: readonly Edit[]): readonly Edit[] {
  const last = new Map<string, number>();
  for (const [at, edit] of edits.entries()) if (edit.tool === 'quarantine') last.set(edit.path, at);
  return edits.filter((edit, at) => at > (last.get(edit.path) ?? -1));
}
