import { html, nothing, type TemplateResult } from 'lit';
import { styled } from './styled.js';
import type { ChildView, GateView } from '../protocol/view.js';
import { orNothing, statusIcon } from './icons.js';
import { markOf } from './marks.js';
import type { Scene } from './scene.js';
import { t, type TextKey } from './texts.js';
import { barsOf, percent, type Axis, type Bar } from './timelineModel.js';
import { epoch, instant } from './times.js';

export type { Axis } from './timelineModel.js';

type Clocked = Pick<Scene, 'now' | 'reader'>;

/** The bars of one child. */
export function timelineCell(child: ChildView, axis: Axis, scene: Clocked): TemplateResult {
  const bars = barsOf(child, axis);
  const say = (bar: Bar) => barName(bar, scene);
  const ended = child.status === 'done' || child.status === 'failed' ? epoch(child.endedAt) : null;
  const mark = markOf(child);
  return html`<div role="gridcell" class="cell tl">
    <span class="sr">${bars.map(say).join(', ')}</span>
    ${gridLines(axis)}
    ${bars.map(
      (bar) =>
        html`<span
          class=${`bar ${bar.kind}`}
          data-tip=${orNothing(say(bar))}
          style=${styled(span(bar, axis))}
        ></span>`,
    )}
    ${
      ended === null
        ? nothing
        : html`<span class="end" style=${styled({ left: `${percent(ended, axis)}%` })}
            >${statusIcon(mark.icon, mark.tone)}</span
          >`
    }
    ${lines(axis)}
  </div>`;
}

/** An empty stretch of the axis, for rows without bars. */
export function lineCell(axis: Axis): TemplateResult {
  return html`<div role="gridcell" class="cell tl">${gridLines(axis)}${lines(axis)}</div>`;
}

/** When an account was closed, as a band. */
export function laneCell(
  gate: GateView,
  axis: Axis,
  { now, reader }: Clocked,
): { readonly name: string; readonly cell: TemplateResult } {
  const since = epoch(gate.since) ?? now;
  const until = epoch(gate.until);
  const at = (ms: number) => instant(ms, now, reader);
  const name =
    until === null
      ? t('timeline.gateLabelOpen', gate.credential, at(since))
      : t('timeline.gateLabel', gate.credential, at(since), at(until));
  const band = span({ from: since, to: Math.max(since, until ?? axis.to) }, axis);
  return {
    name,
    cell: html`<div role="gridcell" class="cell tl">
      ${gridLines(axis)}<span class="band" style=${styled(band)}><span>${t('timeline.gate')}</span></span
      >${lines(axis)}
    </div>`,
  };
}

/** The axis: whole hours, now, the nearest reset. */
export function timelineHead(axis: Axis, { now, reader }: Clocked, indexed: boolean): TemplateResult {
  const at = (ms: number) => instant(ms, now, reader);
  const left = (ms: number) => styled({ left: `${percent(ms, axis)}%` });
  return html`<div role="row" class="row head" aria-rowindex=${indexed ? 1 : nothing}>
    <div role="columnheader" class="cell task"><span class="sr">${t('column.task')}</span></div>
    <div role="columnheader" class="cell tl" aria-label=${t('timeline.axis', at(axis.from), at(axis.to))}>
      ${axis.labels.map((ms) => html`<span class="lab tick" style=${left(ms)}>${at(ms)}</span>`)}
      <span class="lab cur" style=${left(axis.now)}
        >${t('timeline.now')}<span class="w"> ${at(axis.now)}</span></span
      >
      ${
        axis.reset === null
          ? nothing
          : html`<span class="lab reset" style=${left(axis.reset)}
              ><span class="w">${t('timeline.resets', '')}</span>${at(axis.reset)}</span
            >`
      }
      ${lines(axis)}
    </div>
  </div>`;
}

/** What the bars mean. */
export function legend(): TemplateResult {
  const part = (kind: Bar['kind'], key: TextKey) =>
    html`<span
      ><i><b class=${`bar ${kind}`}></b></i>${t(key)}</span
    >`;
  return html`<div class="legend" aria-hidden="true">
    ${part('run', 'timeline.running')}${part('wait', 'timeline.paused')}${part('plan', 'timeline.plan')}${part('held', 'timeline.held')}${part('queue', 'timeline.queued')}
  </div>`;
}

function barName(bar: Bar, { now, reader }: Clocked): string {
  const words: Readonly<Record<Bar['kind'], TextKey>> = {
    run: 'timeline.ran',
    wait: 'timeline.paused',
    plan: 'timeline.plan',
    held: 'timeline.held',
    queue: 'timeline.queued',
  };
  return t('timeline.bar', t(words[bar.kind]), instant(bar.from, now, reader), instant(bar.to, now, reader));
}

function span(
  bar: { readonly from: number; readonly to: number },
  axis: Axis,
): Readonly<Record<string, string>> {
  const left = percent(bar.from, axis);
  return { left: `${left}%`, width: `${Math.round((percent(bar.to, axis) - left) * 100) / 100}%` };
}

function gridLines(axis: Axis): readonly TemplateResult[] {
  return axis.grid.map(
    (ms) => html`<span class="grid" style=${styled({ left: `${percent(ms, axis)}%` })}></span>`,
  );
}

function lines(axis: Axis): TemplateResult {
  return html`<span class="line" style=${styled({ left: `${percent(axis.now, axis)}%` })}></span>${
      axis.reset === null
        ? nothing
        : html`<span class="line reset" style=${styled({ left: `${percent(axis.reset, axis)}%` })}></span>`
    }`;
}
