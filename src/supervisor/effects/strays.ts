import type { AgentEvent } from '../agents/agent.js';
import type { EffectContext } from './context.js';
import { worktreesFolder } from './places.js';

/**
 * Whether something that a child with a worktree of its own has said is about the shared tree: its transcript may hold
 * old absolute paths. What names no path of the tree is not put down to it; the person works there too.
 */
export function concernsTree(context: EffectContext, event: AgentEvent): boolean {
  switch (event.type) {
    case 'writing':
    case 'write':
      return namesTree(context, event.path);
    case 'shellStarted':
    case 'shell':
      return namesTree(context, event.command);
    case 'text':
    case 'denied':
      return true;
    default:
      return false;
  }
}

function namesTree(context: EffectContext, text: string): boolean {
  const { topLevel } = context.repository;
  const others = text.replaceAll(worktreesFolder(context), '');
  return others
    .split(topLevel)
    .slice(1)
    .some((rest) => rest === '' || /^[\s/'"`;:|&)]/.test(rest));
}
