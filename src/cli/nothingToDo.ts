import type { ChildView } from '../protocol/view.js';
import type { Wish } from './commands/wishes.js';

type ForOne = Exclude<Wish, 'apply'>;

const phases: Readonly<Record<ForOne, readonly ChildView['phase'][]>> = {
  resume: ['paused', 'parking'],
  pause: ['queued', 'preparing', 'running', 'parking', 'paused'],
  stop: ['queued', 'preparing', 'running', 'parking', 'paused'],
  retry: ['failed', 'canceled', 'paused'],
};

/** Whether a wish changes anything for a child as it is. */
export function concerns(kind: ForOne, child: ChildView): boolean {
  // It is held by nothing but its gate, and is let go with it; one that waits for a slot is not.
  if (kind === 'resume' && child.phase === 'queued') return child.status === 'held';
  if (kind === 'pause' && child.phase === 'paused') return child.reason?.class !== 'user';
  return phases[kind].includes(child.phase);
}

/** What is so of children that a wish changes nothing for, and what can be done instead. */
export function nothingToDo(kind: ForOne, children: readonly ChildView[]): string {
  const states = new Map<string, number>();
  for (const child of children) states.set(stateOf(child), (states.get(stateOf(child)) ?? 0) + 1);
  const [only] = children;
  const what =
    children.length === 1 && only !== undefined
      ? `${only.id} ${only.status === 'failed' ? 'has' : 'is'} ${stateOf(only)}`
      : [...states].map(([state, count]) => `${count} ${state}`).join(', ');
  const name = children.length === 1 && only !== undefined ? only.id : '--all';
  return [`Nothing to ${kind}: ${what}.`, ...adviceFor(kind, children, name)].join(' ');
}

function stateOf(child: ChildView): string {
  return child.phase === 'stopping' ? 'stopping' : child.status;
}

function adviceFor(kind: ForOne, children: readonly ChildView[], name: string): readonly string[] {
  const some = (...statuses: readonly ChildView['status'][]) =>
    children.some((child) => statuses.includes(child.status));
  const advice: string[] = [];
  if (kind === 'resume' && some('failed', 'canceled'))
    advice.push(`"swarm retry ${name}" starts failed and canceled children again.`);
  if (kind === 'pause' && some('paused')) advice.push(`"swarm resume ${name}" lets it go on.`);
  if ((kind === 'resume' || kind === 'retry') && some('queued', 'held'))
    advice.push('What is queued starts by itself.');
  if ((kind === 'resume' || kind === 'retry') && children.some((child) => child.actions.includes('apply')))
    advice.push(`"swarm apply ${name}" brings finished work into your tree.`);
  return advice;
}
