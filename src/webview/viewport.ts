import type { Item } from './layout.js';
import { slots, TreeHeights, windowedFrom, type Slot } from './treeWindow.js';

/** So far the wheel may go before lines are drawn anew; the drawn part reaches well beyond the visible one. */
const redrawAfter = 110;
/** Head row and batch row stick to the top. */
const sticky = 52;
const rowHeight = 22;

/** The visible part of the tree: which lines are drawn, and scrolling to one that is not. */
export class Viewport {
  private readonly heights = new TreeHeights();
  private top = 0;
  private height = 600;
  private known: HTMLElement | null = null;

  constructor(private readonly tree: () => HTMLElement | null) {}

  /** Rows that fit on the screen, for the page keys. */
  get page(): number {
    return Math.max(1, Math.floor(this.height / rowHeight) - 2);
  }

  isWindowed(items: readonly Item[]): boolean {
    return items.length >= windowedFrom;
  }

  slots(items: readonly Item[], active: string | null): readonly Slot[] {
    return slots(items, this.heights, { top: this.top, height: this.height }, active);
  }

  /** After drawing. True when heights were other than thought, so it must be drawn once more. */
  drawn(items: readonly Item[]): boolean {
    const tree = this.tree();
    if (!tree) return false;
    // Asking for sizes makes the browser lay out at once; a second that ticks must not.
    if (tree !== this.known) this.read();
    this.known = tree;
    if (!this.isWindowed(items)) return false;
    const varying = [...tree.querySelectorAll<HTMLElement>('[data-measure]')];
    return this.heights.learn(
      varying.map((element) => [element.dataset['measure'] ?? '', element.offsetHeight] as const),
    );
  }

  /** After scrolling. True when other lines must be drawn. */
  scrolled(items: readonly Item[]): boolean {
    const top = this.tree()?.scrollTop ?? 0;
    if (!this.isWindowed(items) || Math.abs(top - this.top) < redrawAfter) return false;
    this.read();
    return true;
  }

  /** Brings a line that may not be drawn yet into the visible part. */
  reveal(items: readonly Item[], key: string): void {
    const tree = this.tree();
    const index = items.findIndex((item) => item.key === key);
    if (!tree || index < 0 || !this.isWindowed(items)) return;
    const top = this.heights.offset(items, index);
    if (top < tree.scrollTop + sticky) tree.scrollTop = Math.max(0, top - sticky);
    else if (top + rowHeight > tree.scrollTop + tree.clientHeight)
      tree.scrollTop = top + rowHeight + 8 - tree.clientHeight;
    this.read();
  }

  /** Takes position and height from the document. */
  read(): void {
    const tree = this.tree();
    if (!tree) return;
    this.top = tree.scrollTop;
    this.height = tree.clientHeight;
  }
}
