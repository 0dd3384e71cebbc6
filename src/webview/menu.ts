import { html, nothing, type TemplateResult } from 'lit';
import { t } from './texts.js';

/** A context menu that is open. */
export interface OpenMenu {
  readonly x: number;
  readonly y: number;
  /** The row it belongs to; focus goes back there. */
  readonly key: string;
  readonly sections: readonly (readonly MenuEntry[])[];
}

export interface MenuEntry {
  readonly label: string;
  readonly hint: string;
  readonly off: string;
  readonly run: () => void;
}

/** The menu, only with what can be done now, always in the same order. */
export function menu(open: OpenMenu | null, close: (back: boolean) => void): TemplateResult | typeof nothing {
  if (!open) return nothing;
  const sections = open.sections.filter((section) => section.length > 0);
  return html`<div
    class="menu"
    role="menu"
    aria-label=${t('action.more')}
    @keydown=${(event: KeyboardEvent) => onKey(event, close)}
    @contextmenu=${(event: Event) => event.preventDefault()}
  >
    ${sections.map(
      (section, i) =>
        html`${i > 0 ? html`<hr role="separator" />` : nothing}${section.map(
          (entry) =>
            html`<button
              role="menuitem"
              tabindex="-1"
              aria-disabled=${entry.off === '' ? nothing : 'true'}
              data-tip=${entry.off === '' ? nothing : entry.off}
              @click=${() => {
                if (entry.off !== '') return;
                close(true);
                entry.run();
              }}
              @pointermove=${(event: Event) => (event.currentTarget as HTMLElement).focus()}
            >
              <span>${entry.label}</span
              >${entry.hint === '' ? nothing : html`<kbd aria-hidden="true">${entry.hint}</kbd>`}
            </button>`,
        )}`,
    )}
  </div>`;
}

/** Puts the menu where it was asked for, inside the page, and focuses its first entry. */
export function placeMenu(box: HTMLElement, open: OpenMenu): void {
  const left = Math.max(4, Math.min(open.x, window.innerWidth - box.offsetWidth - 4));
  const top = Math.max(4, Math.min(open.y, window.innerHeight - box.offsetHeight - 4));
  box.style.left = `${left}px`;
  box.style.top = `${top}px`;
  box.querySelector('button')?.focus();
}

function onKey(event: KeyboardEvent, close: (back: boolean) => void): void {
  const box = event.currentTarget as HTMLElement;
  const entries = [...box.querySelectorAll('button')];
  const at = entries.findIndex((entry) => entry === document.activeElement);
  const go = (index: number) => entries.at(index % entries.length)?.focus();
  switch (event.key) {
    case 'ArrowDown':
      go(at + 1);
      break;
    case 'ArrowUp':
      go(at - 1);
      break;
    case 'Home':
      go(0);
      break;
    case 'End':
      go(-1);
      break;
    case 'Escape':
    case 'Tab':
      close(true);
      break;
    default: {
      const letter = event.key.toLowerCase();
      if (letter.length !== 1 || letter === ' ') return;
      const next = [...entries.slice(at + 1), ...entries].find((entry) =>
        entry.textContent.trim().toLowerCase().startsWith(letter),
      );
      next?.focus();
    }
  }
  event.preventDefault();
  event.stopPropagation();
}
