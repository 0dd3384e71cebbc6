import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { styled } from './styled.js';
import { callRow, noteRow } from './callout.js';
import { factsRow } from './details.js';
import { childKey, isRow, type Item } from './layout.js';
import { batchRow, childRow, groupRow, laneRow, type RowPlace } from './row.js';
import type { Scene, Seen } from './scene.js';
import { t } from './texts.js';
import { timelineHead, type Axis } from './timeline.js';
import type { Slot } from './treeWindow.js';

/** What the tree draws: the lines of the moment, and the children and batches they stand for. */
export interface TreeModel {
  readonly slots: readonly Slot[];
  readonly total: number;
  readonly windowed: boolean;
  readonly seen: ReadonlyMap<string, Seen>;
  readonly axis: Axis | null;
  /** The row that is the tab stop. */
  readonly active: string | null;
}

/** Batches, groups, children and their details, as one treegrid with one tab stop. */
export function tree(
  model: TreeModel,
  scene: Scene,
  on: {
    readonly keydown: (event: KeyboardEvent) => void;
    readonly click: (event: MouseEvent) => void;
    readonly contextmenu: (event: MouseEvent) => void;
    readonly scroll: () => void;
  },
): TemplateResult {
  return html`<div
    class=${model.axis ? 'tree tl-mode' : 'tree'}
    role="treegrid"
    aria-label=${t('panel.tree')}
    aria-readonly="true"
    aria-multiselectable="true"
    aria-rowcount=${model.windowed ? model.total + 1 : nothing}
    @keydown=${on.keydown}
    @click=${on.click}
    @contextmenu=${on.contextmenu}
    @scroll=${on.scroll}
  >
    ${model.axis ? timelineHead(model.axis, scene, model.windowed) : headRow(model.windowed)}
    ${repeat(
      model.slots,
      (slot) => (slot.kind === 'gap' ? slot.key : slot.item.key),
      (slot) =>
        slot.kind === 'gap'
          ? html`<div class="gap" role="presentation" style=${styled({ height: `${slot.height}px` })}></div>`
          : line(slot.item, slot.index, model, scene),
    )}
  </div>`;
}

function line(item: Item, index: number, model: TreeModel, scene: Scene): TemplateResult | typeof nothing {
  const place: RowPlace = {
    active: item.key === model.active,
    selected: scene.state.selected.includes(item.key),
    index: model.windowed ? index + 2 : null,
    axis: model.axis,
  };
  const seen = isRow(item) && item.kind !== 'child' ? undefined : model.seen.get(keyOfChild(item));
  const active = seen !== undefined && keyOfChild(item) === model.active;
  switch (item.kind) {
    case 'batch': {
      const batch = scene.view.batches.find((b) => b.id === item.batch) ?? firstOf(model, item.batch);
      return batch ? batchRow(item, batch, place, scene) : nothing;
    }
    case 'group': {
      const members = item.children.flatMap((id) => model.seen.get(childKey(item.batch, id))?.child ?? []);
      return groupRow(item, members, place, scene);
    }
    case 'lane':
      return laneRow(item, place, scene);
    case 'child':
      return seen ? childRow(item, seen, place, scene) : nothing;
    case 'note':
      return seen ? noteRow(seen, item.level, active, scene) : nothing;
    case 'call':
      return seen ? callRow(seen, item.level, active, scene) : nothing;
    case 'facts':
      return seen ? factsRow(seen, item.level, active, scene) : nothing;
    default:
      return item satisfies never;
  }
}

function keyOfChild(item: Item): string {
  return 'child' in item ? childKey(item.batch, item.child) : item.key;
}

function firstOf(model: TreeModel, batch: string): Seen['batch'] | undefined {
  for (const seen of model.seen.values()) if (seen.batch.id === batch) return seen.batch;
  return undefined;
}

/** The names of the columns; drawn only where there are columns. */
function headRow(indexed: boolean): TemplateResult {
  return html`<div role="row" class="row head" aria-rowindex=${indexed ? 1 : nothing}>
    <div role="columnheader" class="cell task">${t('column.task')}</div>
    <div role="columnheader" class="cell">${t('column.status')}</div>
    <div role="columnheader" class="cell now">${t('column.now')}</div>
    <div role="columnheader" class="cell agent">${t('column.agent')}</div>
    <div role="columnheader" class="cell files">${t('column.files')}</div>
    <div role="columnheader" class="cell tok">${t('column.tokens')}</div>
    <div role="columnheader" class="acts"><span class="sr">${t('column.actions')}</span></div>
  </div>`;
}
