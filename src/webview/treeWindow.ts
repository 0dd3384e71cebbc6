import type { Item } from './layout.js';

/** From this many lines on only those near the visible part are in the document. */
export const windowedFrom = 160;

const rowHeight = 22;
const batchGap = 8;
/** How far beyond the visible part lines are kept, in pixels. */
const margin = 330;

/** Heights of the lines; measured where they vary, assumed until then. */
export class TreeHeights {
  private readonly measured = new Map<string, number>();

  of(item: Item): number {
    if (item.kind === 'batch') return rowHeight + (item.position > 1 ? batchGap : 0);
    if (item.kind === 'child' || item.kind === 'group' || item.kind === 'lane') return rowHeight;
    return this.measured.get(item.key) ?? assumed[item.kind];
  }

  /** Takes over heights as they were drawn, by key. Returns whether one was other than thought. */
  learn(drawn: Iterable<readonly [string, number]>): boolean {
    let changed = false;
    for (const [key, height] of drawn) {
      if (height === 0 || this.measured.get(key) === height) continue;
      this.measured.set(key, height);
      changed = true;
    }
    return changed;
  }

  /** Distance of a line from the first one. */
  offset(items: readonly Item[], index: number): number {
    let sum = 0;
    for (let i = 0; i < index; i++) {
      const item = items[i];
      if (item) sum += this.of(item);
    }
    return sum;
  }
}

/** A line to draw, or a gap that stands for lines that are not. */
export type Slot =
  | { readonly kind: 'item'; readonly item: Item; readonly index: number }
  | { readonly kind: 'gap'; readonly key: string; readonly height: number };

/**
 * Which lines are drawn for a scroll position: those near it, the head of the batch they belong to (it sticks to
 * the top) and the one with the focus (it must not vanish from under it).
 */
export function slots(
  items: readonly Item[],
  heights: TreeHeights,
  scroll: { readonly top: number; readonly height: number },
  activeKey: string | null,
): readonly Slot[] {
  if (items.length < windowedFrom) return items.map((item, index) => ({ kind: 'item', item, index }));
  const list: Slot[] = [];
  const keep = keptIndexes(items, heights, scroll, activeKey);
  let gap = 0;
  let gapKey = '';
  items.forEach((item, index) => {
    if (!keep.has(index)) {
      if (gap === 0) gapKey = `gap:${list.length}`;
      gap += heights.of(item);
      return;
    }
    if (gap > 0) list.push({ kind: 'gap', key: gapKey, height: gap });
    gap = 0;
    list.push({ kind: 'item', item, index });
  });
  if (gap > 0) list.push({ kind: 'gap', key: gapKey, height: gap });
  return list;
}

function keptIndexes(
  items: readonly Item[],
  heights: TreeHeights,
  scroll: { readonly top: number; readonly height: number },
  activeKey: string | null,
): ReadonlySet<number> {
  const keep = new Set<number>();
  const from = scroll.top - margin;
  const to = scroll.top + scroll.height + margin;
  let top = 0;
  let head = -1;
  items.forEach((item, index) => {
    const bottom = top + heights.of(item);
    if (item.kind === 'batch' && top <= Math.max(0, scroll.top)) head = index;
    if (bottom >= from && top <= to) keep.add(index);
    if (item.key === activeKey) keep.add(index);
    top = bottom;
  });
  if (head >= 0) keep.add(head);
  return keep;
}

const assumed = { note: 22, call: 66, facts: 420 } as const;
