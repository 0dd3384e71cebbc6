import type { CheckedChild, CheckPlace } from '../../protocol/request.js';
import { errorsByWriter } from '../../supervisor/effects/checkedChildren.js';

/** Whose the errors are and what was held back, in a few lines for people; nothing where no child has a part in it. */
export function attribution(place: CheckPlace, errors: readonly { readonly path: string }[]): string {
  const { children, left } = place;
  const lines: string[] = [];
  if (errors.length > 0 && children.length > 0) lines.push(errorLine(errors, children));
  const held = children.filter(({ where }) => where !== 'tree');
  if (held.length > 0)
    lines.push(
      `held back: ${held
        .map((child) => `${count(child.files.length, 'file')} of ${child.id} (${stateOf(child)})`)
        .join(', ')}`,
    );
  for (const { path, who } of left)
    lines.push(`${path} holds work of several that cannot be told apart (${who.join(', ')}); it was left in`);
  return lines.map((line) => `swarm: ${line}\n`).join('');
}

function errorLine(errors: readonly { readonly path: string }[], children: readonly CheckedChild[]): string {
  const { errorsInTree = 0, errorsByChild } = errorsByWriter(errors, children);
  const parts = [
    `${errorsInTree} in your own files`,
    ...errorsByChild.map(({ id, errors: n }) => `${n} in files of ${id}`),
  ];
  return `${count(errors.length, 'error')}: ${parts.join(', ')}`;
}

function stateOf({ phase, where }: CheckedChild): string {
  return where === 'own' ? `${phase}, in its own worktree` : `${phase}, half-written`;
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`;
}
