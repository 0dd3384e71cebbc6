import { plainLine } from '../../protocol/plainText.js';
import type { ChildView } from '../../protocol/view.js';
import { leftLines } from './left.js';

/** So many files are named in one line. */
const mostPaths = 3;

/** Whose work, or `you`, a child's will meet at its apply, and where, while that can still be changed. */
export function overlapLines({ apply }: ChildView): readonly string[] {
  if (apply?.state !== 'forecastConflict') return [];
  const names = [...new Set(apply.with.map(({ who }) => who))].join(', ');
  const paths = [...new Set(apply.with.map(({ path }) => path))];
  const rest = paths.length - mostPaths;
  const files = [...paths.slice(0, mostPaths), ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
  return [plainLine(`will overlap with ${names} in ${files}`)];
}

/** What stands under a child's row. */
export function underLines(child: ChildView): readonly string[] {
  return [...leftLines(child), ...overlapLines(child)];
}
