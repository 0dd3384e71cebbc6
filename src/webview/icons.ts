import { html, nothing, svg, type TemplateResult } from 'lit';
import { classMap } from 'lit/directives/class-map.js';
import type { IconName, Tone } from './marks.js';

/** A status icon. A filled disc is at work or asks for something, an outline is at rest; shape alone tells. */
export function statusIcon(name: IconName, tone: Tone | null): TemplateResult {
  return html`<svg
    class=${classMap({ ic: true, spin: name === 'busy', [`c-${tone ?? ''}`]: tone !== null })}
    viewBox="0 0 16 16"
    aria-hidden="true"
  >
    ${shapes[name]}
  </svg>`;
}

/** An icon from the codicon font. */
export function codicon(name: string): TemplateResult {
  return html`<span class="codicon codicon-${name}" aria-hidden="true"></span>`;
}

/** `**bold**` in a text of ours, as elements. */
export function rich(text: string): readonly (TemplateResult | string)[] {
  return text.split('**').map((part, i) => (i % 2 === 1 ? html`<b>${part}</b>` : part));
}

/** An attribute that is left out while its text is empty. */
export function orNothing(text: string): string | typeof nothing {
  return text === '' ? nothing : text;
}

const disc = 'M8 1.25a6.75 6.75 0 1 1 0 13.5a6.75 6.75 0 0 1 0-13.5z';
const ring = disc + 'm0 1.1a5.65 5.65 0 1 0 0 11.3a5.65 5.65 0 0 0 0-11.3z';
const cross = 'M5.6 4.7l-.9.9L7.1 8l-2.4 2.4.9.9L8 8.9l2.4 2.4.9-.9L8.9 8l2.4-2.4-.9-.9L8 7.1z';
const shape = (d: string) => svg`<path fill-rule="evenodd" d=${d}></path>`;

const shapes: Readonly<Record<IconName, TemplateResult>> = {
  running: shape(disc + 'M6.4 4.9v6.2l5-3.1z'),
  paused: shape(disc + 'M5.4 5v6h1.7V5zM8.9 5v6h1.7V5z'),
  held: shape(ring + 'M4.75 7.4h6.5v1.2h-6.5z'),
  queued: shape(ring),
  done: shape(ring + 'M7.1 10.9 4.5 8.3l.8-.8 1.8 1.8 3.6-3.8.8.8z'),
  applied: shape('M6.3 12.4 2.2 8.3l.9-.9 3.2 3.2 6.6-7 .9.9z'),
  failed: shape(disc + cross),
  needs: shape(
    'M8 1.2a.9.9 0 0 1 .78.45l6.1 10.9A.9.9 0 0 1 14.1 14H1.9a.9.9 0 0 1-.78-1.45l6.1-10.9A.9.9 0 0 1 8 1.2zM7.3 5.4v4h1.4v-4zM7.3 10.6V12h1.4v-1.4z',
  ),
  canceled: shape(
    disc +
      'm0 1.1a5.65 5.65 0 0 0-4.35 9.25l7.95-7.95A5.6 5.6 0 0 0 8 2.35zm4.35 2.05L4.4 12.35A5.65 5.65 0 0 0 12.35 4.4z',
  ),
  busy: svg`<path fill-rule="evenodd" d="M8 1.25A6.75 6.75 0 0 1 14.75 8h-1.7A5.05 5.05 0 0 0 8 2.95z"></path><path
    opacity=".4" fill-rule="evenodd" d=${disc + 'm0 1.7a5.05 5.05 0 1 0 0 10.1a5.05 5.05 0 0 0 0-10.1z'}></path>`,
  red: shape(
    'M3 1.6h10A1.4 1.4 0 0 1 14.4 3v10a1.4 1.4 0 0 1-1.4 1.4H3A1.4 1.4 0 0 1 1.6 13V3A1.4 1.4 0 0 1 3 1.6z' +
      cross,
  ),
};
