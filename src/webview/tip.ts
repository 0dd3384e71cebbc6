/** Hovers of our own: text only, after a moment, on pointer and on keyboard focus, closed by Escape. */
export class Tip {
  private timer: number | undefined;
  private over: Element | null = null;

  constructor(
    private readonly root: HTMLElement,
    private readonly box: HTMLElement,
  ) {
    root.addEventListener('pointerover', (event) => this.wait(event.target, 500));
    root.addEventListener('pointerleave', () => this.hide());
    root.addEventListener('pointerdown', () => this.hide());
    root.addEventListener('focusin', (event) => {
      const target = event.target;
      if (target instanceof Element && target.matches(':focus-visible')) this.wait(target, 700);
      else this.hide();
    });
  }

  get shown(): boolean {
    return !this.box.hidden;
  }

  hide(): void {
    clearTimeout(this.timer);
    this.box.hidden = true;
    this.over?.removeAttribute('aria-describedby');
    this.over = null;
  }

  private wait(target: EventTarget | null, after: number): void {
    const element = target instanceof Element ? target.closest('[data-tip]') : null;
    if (element !== null && element === this.over && this.shown) return;
    this.hide();
    if (element) this.timer = window.setTimeout(() => this.show(element), after);
  }

  private show(element: Element): void {
    const text = element.getAttribute('data-tip');
    if (text === null || !this.root.contains(element)) return;
    this.over = element;
    this.box.textContent = text;
    this.box.hidden = false;
    if (element.matches('button, vscode-button')) element.setAttribute('aria-describedby', this.box.id);
    const at = element.getBoundingClientRect();
    const under = (element.closest('.strip') ?? element).getBoundingClientRect().bottom;
    const fitsUnder = under + 4 + this.box.offsetHeight <= window.innerHeight;
    const left = Math.max(4, Math.min(at.left, window.innerWidth - this.box.offsetWidth - 6));
    this.box.style.left = `${left}px`;
    this.box.style.top = `${Math.max(2, fitsUnder ? under + 4 : at.top - this.box.offsetHeight - 4)}px`;
  }
}
