/** What has the focus: its kind and its place among its kind. */
export interface FocusSpot {
  readonly kind: keyof typeof kinds;
  readonly index: number;
  readonly element: Element;
}

const kinds = {
  strip: '.strip vscode-button:not([disabled])',
  chip: '.chip',
  tool: '.tools vscode-text-field, .tools .act',
  details: '.facts button, .call vscode-button',
  row: '.row[data-key]',
} as const;

/**
 * When the focused element has gone, the focus goes to the next of its kind, else to the one before, else to the
 * tree; never to the document. Returns where it is now.
 */
export function keepFocus(root: HTMLElement, before: FocusSpot | null): FocusSpot | null {
  const active = document.activeElement;
  if (before && (active === null || active === document.body) && !before.element.isConnected) {
    const same = [...root.querySelectorAll<HTMLElement>(kinds[before.kind])];
    const next =
      same[before.index] ?? same.at(-1) ?? root.querySelector<HTMLElement>('.row[data-key][tabindex="0"]');
    next?.focus({ preventScroll: true });
  }
  return spotOf(root);
}

/** The element with the focus, if it is one that can vanish. */
export function spotOf(root: HTMLElement): FocusSpot | null {
  const active = document.activeElement;
  if (!active || !root.contains(active)) return null;
  for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) {
    const index = [...root.querySelectorAll(kinds[kind])].indexOf(active);
    if (index >= 0) return { kind, index, element: active };
  }
  return null;
}
