import { lstat } from 'node:fs/promises';
import path from 'node:path';
import type { AgentEvent } from '../agents/agent.js';
import { userName } from '../core/keys.js';
import type { Stray } from '../core/state.js';
import type { Attempt } from './attempt.js';
import type { EffectContext } from './context.js';
import { worktreesFolder } from './places.js';
import { pathsNamed } from './shellPaths.js';

/**
 * Whether something that a child with a worktree of its own has said is about the shared tree: its transcript may hold
 * old absolute paths, and a command may go there. What names no path of the tree is not put down to it; the person
 * works there too.
 */
export function concernsTree(context: EffectContext, attempt: Attempt, event: AgentEvent): boolean {
  const { topLevel } = context.repository;
  switch (event.type) {
    case 'writing':
    case 'write':
      return inFolder(topLevel, path.resolve(attempt.work, event.path));
    case 'shellStarted':
    case 'shell':
      return (
        mentions(event.command, topLevel, worktreesFolder(context)) ||
        namedBy(attempt, event).some((file) => inFolder(topLevel, file))
      );
    case 'text':
    case 'denied':
      return true;
    default:
      return false;
  }
}

/** The event with its path as seen from nowhere: relative ones are relative to where the child works. */
export function located(event: AgentEvent, attempt: Attempt): AgentEvent {
  return event.type === 'writing' || event.type === 'write'
    ? { ...event, path: path.resolve(attempt.work, event.path) }
    : event;
}

/**
 * What an event shows a child to have written outside of its worktree: a file that its tool has written, or that its
 * command names and that was changed while the command ran.
 */
export async function straysOf(
  context: EffectContext,
  attempt: Attempt,
  event: AgentEvent,
  since: number | null,
): Promise<readonly Stray[]> {
  if (event.type === 'write') {
    const file = path.resolve(attempt.work, event.path);
    return strayAt(context, attempt, file);
  }
  if (event.type !== 'shell' || since === null) return [];
  const strays: Stray[] = [];
  for (const file of namedBy(attempt, event)) {
    const found = strayAt(context, attempt, file);
    if (found.length > 0 && (await isChangedSince(file, since))) strays.push(...found);
  }
  return strays;
}

/** Whether an event names anything in somebody else's tree; costs no look at the disk. */
export function mayStray(context: EffectContext, attempt: Attempt, event: AgentEvent): boolean {
  if (event.type === 'write') return true;
  if (event.type !== 'shell' && event.type !== 'shellStarted') return false;
  return namedBy(attempt, event).some((file) => strayAt(context, attempt, file).length > 0);
}

/** Whether a command of the attempt has named the file of the shared tree. */
export function hasNamed(context: EffectContext, attempt: Attempt, file: string): boolean {
  return shells.get(attempt)?.ever.has(path.join(context.repository.topLevel, file)) === true;
}

/** Whose tree a file is in, if not in the child's own. */
function strayAt(context: EffectContext, attempt: Attempt, file: string): readonly Stray[] {
  if (inFolder(attempt.work, file)) return [];
  for (const child of Object.values(context.state().children)) {
    const root = child.worktree?.path;
    if (root === undefined || root === context.repository.topLevel || child.key === attempt.key) continue;
    if (inFolder(root, file)) return [{ path: inside(root, file), who: child.task.id, moved: false }];
  }
  const { topLevel } = context.repository;
  return inFolder(topLevel, file) ? [{ path: inside(topLevel, file), who: userName, moved: false }] : [];
}

/** Folders tell nothing: they change with whatever is in them. */
async function isChangedSince(file: string, since: number): Promise<boolean> {
  const stats = await lstat(file).catch(() => null);
  return stats !== null && !stats.isDirectory() && stats.ctimeMs >= since;
}

/** Where the shell of an attempt may stand, and what its last command named. */
interface Shell {
  folder: string;
  command: string | null;
  named: readonly string[];
  readonly ever: Set<string>;
}

const shells = new WeakMap<Attempt, Shell>();
const known = new WeakMap<AgentEvent, readonly string[]>();

/** What a command names, from the child's folder and from where commands before it have gone; counted once. */
function namedBy(
  attempt: Attempt,
  event: AgentEvent & { readonly type: 'shell' | 'shellStarted' },
): readonly string[] {
  const before = known.get(event);
  if (before !== undefined) return before;
  const shell = shells.get(attempt) ?? {
    folder: attempt.work,
    command: null,
    named: [],
    ever: new Set<string>(),
  };
  shells.set(attempt, shell);
  if (event.type === 'shell' && shell.command === event.command) shell.command = null;
  else {
    // Some shells live on between commands, others begin anew.
    const anew = pathsNamed(event.command, attempt.work);
    const on = pathsNamed(event.command, shell.folder);
    const standing = shell.folder === attempt.work ? [] : [shell.folder];
    shell.named = [...new Set([...anew.paths, ...on.paths, ...standing])];
    for (const file of shell.named) shell.ever.add(file);
    shell.folder = on.folder;
    shell.command = event.type === 'shellStarted' ? event.command : null;
  }
  known.set(event, shell.named);
  return shell.named;
}

function mentions(text: string, topLevel: string, worktrees: string): boolean {
  return text
    .replaceAll(worktrees, '')
    .split(topLevel)
    .slice(1)
    .some((rest) => rest === '' || /^[\s/'"`;:|&)]/.test(rest));
}

function inFolder(folder: string, file: string): boolean {
  return file === folder || file.startsWith(folder + path.sep);
}

function inside(folder: string, file: string): string {
  return path.relative(folder, file).split(path.sep).join('/');
}
