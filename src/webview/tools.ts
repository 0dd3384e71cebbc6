import { html, type TemplateResult } from 'lit';
import { codicon, statusIcon } from './icons.js';
import { isSearching, shownCount } from './layout.js';
import { counts, countedStates, markOfState, type CountedState } from './marks.js';
import type { Scene } from './scene.js';
import { t } from './texts.js';

/** The filter box, the switch for groups and the chips with their counts. */
export function tools(scene: Scene, focusTree: () => void): TemplateResult {
  const { view, state, options, deeds } = scene;
  const children = view.batches.flatMap((batch) => batch.children);
  const shown = isSearching(options) ? t('filter.shown', shownCount(view, options)) : String(children.length);
  return html`<div class="tools">
    <div class="filter">
      <vscode-text-field
        placeholder=${t('filter.placeholder')}
        .value=${state.filter}
        @input=${(event: Event) =>
          deeds.change({ filter: (event.currentTarget as Partial<HTMLInputElement>).value ?? '' })}
        @keydown=${(event: KeyboardEvent) => {
          if (event.key === 'Escape' && isSearching(options)) {
            event.stopPropagation();
            deeds.change({ filter: '', chips: [] });
          } else if (event.key === 'Escape' || event.key === 'ArrowDown') {
            event.preventDefault();
            event.stopPropagation();
            focusTree();
          }
        }}
        >${t('filter.label')}</vscode-text-field
      >
      <span class="n" aria-hidden="true">${shown}</span>
      <button
        class="act"
        aria-label=${t('filter.group')}
        aria-pressed=${options.grouped}
        data-tip=${options.grouped ? t('filter.grouped') : t('filter.group')}
        @click=${() => deeds.change({ grouped: !options.grouped })}
      >
        ${codicon('group-by-ref-type')}
      </button>
    </div>
    <div class="chips" role="group" aria-label=${t('filter.only')}>
      ${counts(children).map(({ state: kind, n }) => chip(kind, n, scene))}
    </div>
  </div>`;
}

/** The line that stands in for the tree when nothing matches. */
export function noMatch(deeds: Scene['deeds']): TemplateResult {
  return html`<div class="nomatch">
    ${t('filter.none')}
    <button class="link" @click=${() => deeds.change({ filter: '', chips: [] })}>${t('filter.clear')}</button>
  </div>`;
}

function chip(kind: CountedState, n: number, { state, deeds }: Scene): TemplateResult {
  const mark = markOfState(kind);
  const pressed = state.chips.includes(kind);
  return html`<button
    class="chip"
    data-chip=${kind}
    aria-label=${`${n} ${mark.word}`}
    aria-pressed=${pressed}
    data-tip=${t('filter.onlyTip', mark.word)}
    @click=${(event: MouseEvent) =>
      deeds.change({ chips: chosen(state.chips, kind, event.ctrlKey || event.metaKey) })}
  >
    ${statusIcon(mark.icon, mark.tone)}<span>${n}<span class="w dim"> ${mark.word}</span></span>
  </button>`;
}

/** A click shows only that state, again all; with Ctrl or Cmd it is added to or taken from the choice. */
function chosen(chips: readonly CountedState[], kind: CountedState, add: boolean): readonly CountedState[] {
  const on = chips.includes(kind);
  if (!add) return on && chips.length === 1 ? [] : [kind];
  return countedStates.filter((state) => (state === kind ? !on : chips.includes(state)));
}
