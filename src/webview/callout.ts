import { html, nothing, type TemplateResult } from 'lit';
import { classMap } from 'lit/directives/class-map.js';
import type { ChildAction, ChildView } from '../protocol/view.js';
import { actionLabel, calloutActions } from './actions.js';
import { codicon, orNothing, rich } from './icons.js';
import { reasonSaid, reasonTodo } from './reasons.js';
import { childNotes } from './rowModels.js';
import { offReason, type Scene, type Seen } from './scene.js';
import { t } from './texts.js';
import { tokens } from './times.js';

/** The calm lines under a child that say where its work is. */
export function noteRow(
  { batch, child }: Seen,
  level: number,
  active: boolean,
  scene: Scene,
): TemplateResult {
  const settling = (['moveLeft', 'keepLeft'] as const).filter((action) => child.actions.includes(action));
  return html`<div
    role="row"
    class=${`detail note lv${level}`}
    data-measure=${`note:${batch.id}/${child.id}`}
    aria-level=${level + 1}
  >
    <span class="indent" aria-hidden="true"></span>
    <div role="gridcell" class="dcell">
      ${childNotes(child, batch).map(
        ({ icon, text, tip }) =>
          html`<div class="said" data-tip=${orNothing(tip)}>${codicon(icon)}<span>${text}</span></div>`,
      )}
      ${
        settling.length === 0
          ? nothing
          : html`<div class="go">${buttons(settling, { batch, child }, active, scene)}</div>`
      }
    </div>
  </div>`;
}

/** Under a child that asks a person: what happened, what to do, and the buttons for it. */
export function callRow(
  { batch, child }: Seen,
  level: number,
  active: boolean,
  scene: Scene,
): TemplateResult {
  const { say, quote } = reasonSaid(child);
  return html`<div
    role="row"
    class=${`detail call lv${level}`}
    data-measure=${`call:${batch.id}/${child.id}`}
    aria-level=${level + 1}
  >
    <div role="gridcell" class="dcell">
      <div>
        <div class="msg">${say}${quote === '' ? nothing : html` <code>${quote}</code>`}</div>
        <div class="todo">${rich(reasonTodo(child, scene.reader))}</div>
      </div>
      <div class="go">${buttons(calloutActions(child), { batch, child }, active, scene)}</div>
    </div>
  </div>`;
}

function buttons(
  actions: readonly ChildAction[],
  { batch, child }: Seen,
  active: boolean,
  scene: Scene,
): readonly TemplateResult[] {
  return actions.map((action, i) => {
    const off = offReason(action, scene.host);
    return html`<vscode-button
      class=${classMap({ btn: true, sec: i > 0 })}
      appearance=${i > 0 ? 'secondary' : 'primary'}
      tabindex=${active ? nothing : '-1'}
      ?disabled=${off !== ''}
      data-tip=${orNothing(off || actionTip(action, child))}
      @click=${() => {
        if (off === '') scene.deeds.act(action, batch.id, child.id);
      }}
      >${actionLabel(action)}</vscode-button
    >`;
  });
}

function actionTip(action: ChildAction, child: ChildView): string {
  if (action === 'why') return t('button.why.tip');
  if (action === 'moveLeft' || action === 'keepLeft') return t(`button.${action}.tip`);
  if (action === 'giveBack') return t('button.giveBack.tip');
  if (action !== 'startFresh') return '';
  return child.resumePrice
    ? t('button.startFresh.tipPrice', tokens(child.resumePrice.fresh))
    : t('button.startFresh.tip');
}
