import { plainLine } from '../../protocol/plainText.js';
import type { ChildView } from '../../protocol/view.js';

/** What a quarantine left in the tree, whose it may be, and the choice. */
export function leftLines(child: ChildView): readonly string[] {
  const left = child.quarantine?.leftFiles ?? [];
  if (left.length === 0) return [];
  const files = left.map(({ path, who }) => plainLine(`${path} (${child.id} and ${who})`)).join(', ');
  return [
    `left in your tree, for several wrote it: ${files}`,
    `swarm settle ${child.id} --move takes it out as it is, --keep leaves it`,
  ];
}
