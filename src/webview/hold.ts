/** How long the pointer must have left before rows may move again. */
const calm = 600;

/**
 * Knows whether lines may move. They may not while the pointer is over the panel or the focus is in the tree;
 * after both have left for a moment, `released` is called once.
 */
export class Hold {
  private pointer = false;
  private focus = false;
  private timer: number | undefined;
  private waiting = false;

  constructor(private readonly released: () => void) {}

  get held(): boolean {
    return this.pointer || this.focus || this.waiting;
  }

  pointerIs(over: boolean): void {
    if (over === this.pointer) return;
    this.pointer = over;
    this.settle();
  }

  focusIs(inside: boolean): void {
    if (inside === this.focus) return;
    this.focus = inside;
    this.settle();
  }

  private settle(): void {
    clearTimeout(this.timer);
    this.waiting = false;
    if (this.pointer || this.focus) return;
    this.waiting = true;
    this.timer = window.setTimeout(() => {
      this.waiting = false;
      this.released();
    }, calm);
  }
}
