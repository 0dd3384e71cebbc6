import { plainLine } from '../../protocol/plainText.js';
import { userName } from './keys.js';
import type { Stray } from './state.js';

/** What a child has written outside of its worktree, as the end of a sentence about it. */
export function strayWords({ path, who, moved }: Stray): string {
  const place = who === userName ? 'your tree' : `the worktree of ${who}`;
  return `wrote ${plainLine(path)} in ${place}${moved ? ', moved to its worktree' : ''}`;
}
