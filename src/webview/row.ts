import { html, nothing, type TemplateResult } from 'lit';
import { classMap } from 'lit/directives/class-map.js';
import type { BatchView, ChildAction, ChildView } from '../protocol/view.js';
import {
  actionIcons,
  actionLabel,
  batchActionIcons,
  batchActionLabel,
  primaryStays,
  rowActions,
} from './actions.js';
import { codicon, orNothing, statusIcon } from './icons.js';
import { calloutOpen, type Item } from './layout.js';
import { alarms, counts, groupTitle, markOfState } from './marks.js';
import { isPath } from './paths.js';
import { batchName, countsTo, doneOf, rowModel, type RowModel } from './rowModels.js';
import { offReason, type Scene, type Seen } from './scene.js';
import { t } from './texts.js';
import { shortCountdown } from './times.js';
import { laneCell, lineCell, timelineCell, type Axis } from './timeline.js';

/** What all rows share: where they are, whether they are the roving tab stop, selected, and their number. */
export interface RowPlace {
  readonly active: boolean;
  readonly selected: boolean;
  /** Number among all rows, where not all are in the document. */
  readonly index: number | null;
  readonly axis: Axis | null;
}

type ItemOf<K extends Item['kind']> = Extract<Item, { kind: K }>;

/** One child: twistie, icon, title, status, last line, agent, files, tokens, actions. */
export function childRow(
  item: ItemOf<'child'>,
  { batch, child }: Seen,
  place: RowPlace,
  scene: Scene,
): TemplateResult {
  const model = rowModel(child, batch, scene);
  const { deeds } = scene;
  return html`<div
    role="row"
    class="row"
    id=${`row-${item.key}`}
    data-key=${item.key}
    tabindex=${place.active ? 0 : -1}
    aria-level=${item.level}
    aria-posinset=${item.position}
    aria-setsize=${item.size}
    aria-rowindex=${place.index ?? nothing}
    aria-expanded=${item.open}
    aria-selected=${place.selected}
    aria-label=${model.name}
    @dblclick=${(event: Event) => {
      if (!onButton(event)) deeds.toggle(item.key, !item.open);
    }}
  >
    <div role="gridcell" class=${`cell task lv${item.level}`}>
      ${twistie(item)}
      <span class="status" data-tip=${iconTip(model)}>${statusIcon(model.mark.icon, model.mark.tone)}</span>
      <span class="ttl cut">${isPath(child.title) ? pathText(child.title) : child.title}</span>
      <span class="aside cut">${model.text}</span>
    </div>
    ${
      place.axis
        ? timelineCell(child, place.axis, scene)
        : html`${statusCell(model, item.grouped)}
            <div role="gridcell" class="cell now" data-tip=${orNothing(model.textTip)}>
              <span class="cut">${model.text}</span>
            </div>
            <div role="gridcell" class="cell agent"><span class="cut">${child.executor}</span></div>
            <div role="gridcell" class="cell files">${model.files}</div>
            <div role="gridcell" class="cell tok">${model.tokens}</div>`
    }
    ${actionsCell(item, batch, child, scene)}
  </div>`;
}

/** A batch: its name and its counts. */
export function batchRow(
  item: ItemOf<'batch'>,
  batch: BatchView,
  place: RowPlace,
  scene: Scene,
): TemplateResult {
  const all = counts(batch.children);
  const action = batch.actions.find((a) => a === 'pauseAll' || a === 'resumeAll');
  const off = action === undefined ? '' : offReason(action, scene.host);
  return html`<div
    role="row"
    class=${classMap({ row: true, batch: true, later: item.position > 1 })}
    id=${`row-${item.key}`}
    data-key=${item.key}
    tabindex=${place.active ? 0 : -1}
    aria-level="1"
    aria-posinset=${item.position}
    aria-setsize=${item.size}
    aria-rowindex=${place.index ?? nothing}
    aria-expanded=${item.open}
    aria-selected=${place.selected}
    aria-label=${batchName(batch)}
    @dblclick=${(event: Event) => {
      if (!onButton(event)) scene.deeds.toggle(item.key, !item.open);
    }}
  >
    <div role="gridcell" class="cell task lv1">
      ${twistie(item)}<span class="ttl cut">${batch.name}</span>
    </div>
    ${
      place.axis
        ? lineCell(place.axis)
        : html`<div role="gridcell" class=${classMap({ cell: true, cnts: true, many: all.length > 4 })}>
            ${all.map(({ state, n }) => {
              const mark = markOfState(state);
              return html`<span class=${classMap({ cnt: true, minor: !alarms.includes(state) })}
                >${statusIcon(mark.icon, mark.tone)}<span class="sr">${n} ${mark.word}</span
                ><span aria-hidden="true">${n}<span class="w"> ${mark.word}</span></span></span
              >`;
            })}<span class="frac">${doneOf(batch.children)}</span>
          </div>`
    }
    <div role="gridcell" class="acts">
      ${
        action === undefined
          ? nothing
          : html`<button
              class="act"
              tabindex="-1"
              aria-label=${batchActionLabel(action)}
              aria-disabled=${off === '' ? nothing : 'true'}
              data-tip=${off || batchActionLabel(action)}
              @click=${() => {
                if (off === '') scene.deeds.actOnBatch(action, batch.id);
              }}
            >
              ${codicon(batchActionIcons[action])}
            </button>`
      }
      ${moreButton(item.key, scene)}
    </div>
  </div>`;
}

/** A group of children in one state. */
export function groupRow(
  item: ItemOf<'group'>,
  children: readonly ChildView[],
  place: RowPlace,
  scene: Scene,
): TemplateResult {
  const mark = markOfState(item.state);
  const ends = children.flatMap((child) => countsTo(child, scene.now) ?? []);
  const nearest = ends.length === 0 ? null : Math.min(...ends);
  return html`<div
    role="row"
    class="row grp"
    id=${`row-${item.key}`}
    data-key=${item.key}
    tabindex=${place.active ? 0 : -1}
    aria-level=${item.level}
    aria-posinset=${item.position}
    aria-setsize=${item.size}
    aria-rowindex=${place.index ?? nothing}
    aria-expanded=${item.open}
    aria-selected=${place.selected}
    aria-label=${`${groupTitle(item.state)}, ${item.children.length}`}
    @dblclick=${() => scene.deeds.toggle(item.key, !item.open)}
  >
    <div role="gridcell" class=${`cell task lv${item.level}`}>
      ${twistie(item)}${statusIcon(mark.icon, mark.tone)}<span class="ttl cut">${groupTitle(item.state)}</span
      ><span class="n">${item.children.length}</span>
    </div>
    ${
      place.axis
        ? lineCell(place.axis)
        : html`<div role="gridcell" class="cell st">
              ${
                nearest === null || item.open
                  ? nothing
                  : html`<span class="word"></span
                      ><span class="time" aria-hidden="true">${shortCountdown(nearest, scene.now)}</span>`
              }
            </div>
            <div role="gridcell" class="cell now"></div>`
    }
  </div>`;
}

/** In the timeline: when an account was closed. */
export function laneRow(item: ItemOf<'lane'>, place: RowPlace, scene: Scene): TemplateResult {
  const gate = scene.view.gates.find((g) => g.credential === item.credential);
  const axis = place.axis;
  const lane = gate && axis ? laneCell(gate, axis, scene) : null;
  return html`<div
    role="row"
    class="row lane"
    id=${`row-${item.key}`}
    data-key=${item.key}
    tabindex=${place.active ? 0 : -1}
    aria-level=${item.level}
    aria-rowindex=${place.index ?? nothing}
    aria-selected=${place.selected}
    aria-label=${lane?.name ?? item.credential}
  >
    <div role="gridcell" class=${`cell task lv${item.level}`}>
      <span class="tw"></span>${statusIcon('paused', gate?.needsUser === true ? 'need' : 'wait')}<span
        class="ttl cut"
        >${item.credential}</span
      >
    </div>
    ${lane?.cell ?? nothing}
  </div>`;
}

/** A path that is cut in its middle after drawing; the document only holds the whole of it. */
export function pathText(path: string): TemplateResult {
  return html`<span class="mid" data-path=${path} data-tip=${path}><span></span></span>`;
}

function twistie(item: { readonly key: string; readonly open: boolean }): TemplateResult {
  return html`<span class="tw" data-twistie>${codicon(item.open ? 'chevron-down' : 'chevron-right')}</span>`;
}

function iconTip(model: RowModel): string {
  return [model.mark.word, model.text].filter((part) => part !== '').join(' · ');
}

function statusCell({ mark, time, timeTip }: RowModel, grouped: boolean): TemplateResult {
  return html`<div
    role="gridcell"
    class=${classMap({ cell: true, st: true, ingrp: grouped })}
    data-tip=${orNothing(timeTip)}
  >
    <span class=${classMap({ word: true, loud: mark.loud, [`c-${mark.tone}`]: mark.loud })}>${mark.word}</span
    >${
      time === null
        ? nothing
        : time.hidden === ''
          ? html`<span class="time">${time.text}</span>`
          : html`<span class="time"
              ><span aria-hidden="true">${time.text}</span><span class="sr">${time.hidden}</span></span
            >`
    }
  </div>`;
}

function actionsCell(
  item: ItemOf<'child'>,
  batch: BatchView,
  child: ChildView,
  scene: Scene,
): TemplateResult {
  const stays = primaryStays(child, calloutOpen(child, scene.options, batch.id));
  const button = (action: ChildAction, primary: boolean) => {
    const off = offReason(action, scene.host);
    return html`<button
      class=${classMap({ act: true, minor: !primary, keep: primary && stays })}
      tabindex="-1"
      aria-label=${actionLabel(action)}
      aria-disabled=${off === '' ? nothing : 'true'}
      data-tip=${off || actionLabel(action)}
      data-act=${action}
      @click=${() => {
        if (off === '') scene.deeds.act(action, batch.id, child.id);
      }}
    >
      ${codicon(actionIcons[action])}
    </button>`;
  };
  return html`<div role="gridcell" class="acts">
    ${rowActions(child).map(({ action, primary }) => button(action, primary))}${moreButton(item.key, scene)}
  </div>`;
}

function moreButton(key: string, scene: Scene): TemplateResult {
  return html`<button
    class="act"
    tabindex="-1"
    aria-label=${t('action.more')}
    aria-haspopup="menu"
    data-tip=${t('action.more')}
    @click=${(event: MouseEvent) => {
      const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
      scene.deeds.menu(key, box.left, box.bottom);
    }}
  >
    ${codicon('ellipsis')}
  </button>`;
}

function onButton(event: Event): boolean {
  return event.target instanceof Element && event.target.closest('button, [data-twistie]') !== null;
}
