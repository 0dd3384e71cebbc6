import type { Child } from '../core/state.js';
import type { Checkpoint } from '../research/checkpoint.js';
import type { EffectContext } from './context.js';
import type { ChangedSince } from './prompts.js';

const mostLookedAt = 400;

/** Compares what a child knows of its files with what they are now, and its base with the user's tree. */
export async function changedSince(
  context: EffectContext,
  child: Child,
  known: Checkpoint,
): Promise<ChangedSince> {
  const folder = child.worktree?.path ?? context.repository.topLevel;
  const last = new Map<string, string | null>();
  for (const entry of [...known.read, ...known.written]) last.set(entry.path, entry.sha256);
  const changed: string[] = [];
  const gone: string[] = [];
  for (const [path, sha256] of [...last].slice(-mostLookedAt)) {
    // A name that was a secret is not known any more.
    if (sha256 === null || path.includes('[redacted ')) continue;
    const now = await context.fileState(folder, path);
    if (now === null) gone.push(path);
    else if (now.sha256 !== sha256) changed.push(path);
  }
  const isShared = context.state().batches[child.batch]?.isolation === 'shared';
  const now = await context.git.inspect(context.repository.topLevel);
  const { head } = context.repository;
  // A base with the user's uncommitted changes in it is no commit of theirs; then HEAD as it was at our start stands in.
  const base = context.settings.worktrees.includeUncommitted ? head : (child.worktree?.base ?? head);
  return {
    changed,
    gone,
    base,
    head: now.ok ? now.head : base,
    movedTo: child.quarantine === null ? null : folder,
    writers: isShared ? await context.shared.writersBeside(child.key) : new Map(),
  };
}
