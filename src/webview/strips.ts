import { html, nothing, type TemplateResult } from 'lit';
import { classMap } from 'lit/directives/class-map.js';
import { repeat } from 'lit/directives/repeat.js';
import { orNothing, statusIcon } from './icons.js';
import { offReason, type Scene } from './scene.js';
import { countdownText, type Segment, type StripButton, type StripModel } from './stripText.js';
import { t } from './texts.js';

/** The strips above the tree. `live` strips have buttons that work; one that is about to go has dead ones. */
export function strips(
  models: readonly StripModel[],
  live: ReadonlySet<string>,
  scene: Pick<Scene, 'now' | 'host' | 'deeds'>,
): TemplateResult | typeof nothing {
  if (models.length === 0) return nothing;
  return html`<div class="strips" role="region" aria-label=${t('panel.strips')}>
    ${repeat(
      models,
      (model) => model.id,
      (model) => strip(model, live.has(model.id), scene),
    )}
  </div>`;
}

function strip(
  model: StripModel,
  live: boolean,
  scene: Pick<Scene, 'now' | 'host' | 'deeds'>,
): TemplateResult {
  const ticks = model.segments.some((segment) => segment.kind === 'countdown');
  return html`<div
    class=${classMap({ strip: true, [`t-${model.tone}`]: true, ticks })}
    role="group"
    data-strip=${model.id}
    aria-label=${`${model.who} ${model.word}`.trim()}
  >
    ${statusIcon(model.icon, null)}
    <div class="body">
      <div class="tx" data-tip=${orNothing(model.tip)}>
        <div class="segs">
          <span class="seg"
            ><b>${model.who}</b
            >${model.word === '' ? nothing : html` <span class=${model.plainWord === true ? '' : 'word'}>${model.word}</span>`}</span
          >${model.segments.map((segment) => segmentPart(segment, scene.now))}
        </div>
      </div>
      ${
        model.buttons.length === 0
          ? nothing
          : html`<div class="go">${model.buttons.map((button) => stripButton(button, live, scene))}</div>`
      }
    </div>
  </div>`;
}

function segmentPart(segment: Segment, now: number): TemplateResult {
  return segment.kind === 'text'
    ? html`<span class="seg">${segment.text}</span>`
    : html`<span class="seg"
        ><span class="cd" aria-hidden="true">${countdownText(segment, now)}</span></span
      >`;
}

function stripButton(
  button: StripButton,
  live: boolean,
  { host, deeds }: Pick<Scene, 'host' | 'deeds'>,
): TemplateResult {
  const off = button.message.type === 'command' ? '' : offReason('any', host);
  return html`<vscode-button
    class=${classMap({ btn: true, sec: !button.primary })}
    appearance=${button.primary ? 'primary' : 'secondary'}
    ?disabled=${off !== '' || !live}
    data-tip=${orNothing(off || button.tip)}
    @click=${() => {
      if (off === '' && live) deeds.post(button.message);
    }}
    >${button.label}</vscode-button
  >`;
}
