import { html, nothing, type TemplateResult } from 'lit';
import { childKey } from './layout.js';
import type { Scene, Seen } from './scene.js';
import { t } from './texts.js';

/** "Why?": how the stop was read, step by step, and the last lines of the log. All of it plain text. */
export function whySection({ batch, child }: Seen, scene: Scene): TemplateResult | typeof nothing {
  const lines = scene.why.get(childKey(batch.id, child.id));
  if (lines === undefined) return nothing;
  const steps = child.reason?.steps ?? [];
  const message = child.reason?.message ?? '';
  return html`<section class="full why" aria-label=${t('details.why')}>
    ${
      message === ''
        ? nothing
        : html`<h2>${t('details.message')}</h2>
            <pre>${message}</pre>`
    }
    ${
      steps.length === 0
        ? nothing
        : html`<h2>${t('details.why.steps')}</h2>
            <ol class="steps">
              ${steps.map(
                (step) =>
                  html`<li>
                    <span class="dim">${t(`step.${step.step}`)}</span
                    ><span class="two">${step.rule} <code>${step.found}</code></span
                    ><span class="r">${t(`confidence.${step.confidence}`)}</span>
                  </li>`,
              )}
            </ol>`
    }
    <h2>${t('details.why.lines')}</h2>
    ${
      lines === null
        ? html`<div class="dim">${t('details.why.loading')}</div>`
        : html`<pre class="log" tabindex="0" role="log" aria-live="off" aria-label=${t('details.why.lines')}>
${lines.join('\n')}</pre>`
    }
  </section>`;
}
