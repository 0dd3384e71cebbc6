import { html, nothing, type TemplateResult } from 'lit';
import type { ChildAction, ChildView, StretchView } from '../protocol/view.js';
import { codicon, statusIcon } from './icons.js';
import { childKey } from './layout.js';
import type { IconName, Tone } from './marks.js';
import { reasonInRow } from './reasons.js';
import { pathText } from './row.js';
import type { Scene, Seen } from './scene.js';
import { t, type TextKey } from './texts.js';
import { age, diskSize, epoch, instant, tokens } from './times.js';
import { whySection } from './why.js';

/** The details of a child: last line, plan, decisions, files, checks, attempts, tokens, resume price, links. */
export function factsRow(seen: Seen, level: number, active: boolean, scene: Scene): TemplateResult {
  const { batch, child } = seen;
  const left = [plan(child), decisions(child), files(seen, active, scene)];
  const right = [checks(seen, active, scene), attempts(child, scene), tokenUse(child), price(child)];
  return html`<div
    role="row"
    class=${`facts lv${level}`}
    data-measure=${`facts:${batch.id}/${child.id}`}
    aria-level=${level + 1}
  >
    <span class="indent" aria-hidden="true"></span>
    <div role="gridcell" class="dcell">
      ${lastLine(child, scene)}${whySection(seen, scene)}
      <div class="col">${left}</div>
      <div class="col">${right}</div>
      ${links(seen, active, scene)}
    </div>
  </div>`;
}

function lastLine(child: ChildView, { now }: Scene): TemplateResult | typeof nothing {
  if (child.lastLine === '') return nothing;
  const at = epoch(child.details?.lastLineAt);
  const ago = at === null ? '' : t('details.lastLine', age(now - at));
  return html`<section class="full">
    <div class="lastline">
      <span class="sr">${t('details.lastLine.label')}</span
      ><span class="cut" data-tip=${child.lastLine}>${child.lastLine}</span><span class="ago">${ago}</span>
    </div>
  </section>`;
}

function plan(child: ChildView): TemplateResult | typeof nothing {
  const steps = child.details?.plan ?? [];
  if (steps.length === 0) return nothing;
  const current = child.status === 'running' ? steps.findIndex((step) => !step.done) : -1;
  return html`<section>
    ${heading('details.plan', t('details.plan.n', steps.filter((step) => step.done).length, steps.length))}
    <ol>
      ${steps.map((step, i) =>
        step.done
          ? line('applied', 'ok', step.text, nothing, true)
          : i === current
            ? line('running', 'run', step.text)
            : line('queued', 'idle', step.text),
      )}
    </ol>
  </section>`;
}

function decisions(child: ChildView): TemplateResult | typeof nothing {
  const made = child.details?.decisions ?? [];
  if (made.length === 0) return nothing;
  return html`<section>
    ${heading('details.decisions', String(made.length))}
    <ul>
      ${made.map((text) => html`<li>${codicon('bookmark')}<span class="two">${text}</span></li>`)}
    </ul>
  </section>`;
}

function files({ batch, child }: Seen, active: boolean, scene: Scene): TemplateResult | typeof nothing {
  const written = child.details?.written ?? [];
  const read = child.details?.read ?? [];
  if (written.length + read.length + child.files.written + child.files.read === 0) return nothing;
  const key = `read:${childKey(batch.id, child.id)}`;
  const open = scene.state.open[key] === true;
  const file = (path: string) => (event: MouseEvent) =>
    scene.deeds.post({ type: 'file', batch: batch.id, child: child.id, path, inWorktree: event.altKey });
  const name = (path: string, kind: string) =>
    html`<button
      class="fn"
      tabindex=${active ? 0 : -1}
      data-tip=${t('details.file.tip', path)}
      @click=${file(path)}
    >
      <span class="sr">${kind === '' ? path : `${path}, ${kind}`}</span
      ><span aria-hidden="true">${pathText(path)}</span>
    </button>`;
  return html`<section>
    ${heading('details.files', t('details.files.n', child.files.written, child.files.read))}
    <ul>
      ${written.map(
        ({ path, kind, added, removed }) =>
          html`<li>
            <span class=${`k ${kind}`} aria-hidden="true">${kind}</span
            >${name(path, t(`details.files.${kind}`))}<span class="r"
              >${[added === undefined ? '' : `+${added}`, removed === undefined ? '' : `−${removed}`].filter(Boolean).join(' ')}</span
            >
          </li>`,
      )}
      ${
        read.length === 0
          ? nothing
          : html`<li>
              <span></span
              ><button
                class="link start"
                tabindex=${active ? 0 : -1}
                aria-expanded=${open}
                @click=${() => scene.deeds.toggle(key, !open)}
              >
                ${child.files.read === 1 ? t('details.files.read.one') : t('details.files.read', child.files.read)}
              </button>
            </li>`
      }
      ${open ? read.map((path) => html`<li class="past"><span></span>${name(path, '')}<span class="r"></span></li>`) : nothing}
    </ul>
  </section>`;
}

function checks({ batch, child }: Seen, active: boolean, scene: Scene): TemplateResult | typeof nothing {
  const own =
    child.check && child.check.command !== undefined && child.check.state !== 'running'
      ? [
          {
            command: child.check.command,
            good: child.check.state === 'green',
            tree: child.check.tree,
            at: epoch(child.check.at),
            stale: child.check.stale,
            changed: child.check.changedSince,
          },
        ]
      : [];
  const verified = (child.details?.verification ?? []).map((v) => ({
    command: v.command,
    good: v.exitCode === 0,
    tree: v.tree,
    at: epoch(v.at),
    stale: v.stale,
    changed: undefined,
  }));
  const all = [...own, ...verified];
  if (all.length === 0) return nothing;
  return html`<section>
    ${heading('details.checks', '')}
    <ul>
      ${all.map((check) => {
        const time = check.at === null ? '' : instant(check.at, scene.now, scene.reader);
        const short = check.tree.slice(0, 7);
        const tip = !check.stale
          ? t('check.freshTip', short, time)
          : check.changed === undefined
            ? t('check.oldTip', short, time)
            : t('check.oldTip.n', short, time, check.changed);
        const tree = html`<button
          class="fn"
          tabindex=${active ? 0 : -1}
          data-tip=${tip}
          @click=${() => scene.deeds.post({ type: 'tree', batch: batch.id, child: child.id, tree: check.tree })}
        >
          ${check.stale ? t('check.old', short) : t('check.fresh', short, time)}
        </button>`;
        return check.good
          ? line('applied', 'ok', check.command, tree)
          : line('red', 'bad', check.command, tree);
      })}
    </ul>
  </section>`;
}

function attempts(child: ChildView, scene: Scene): TemplateResult | typeof nothing {
  const steps = child.history.filter((stretch) => stretch.kind === 'running' || stretch.kind === 'paused');
  if (steps.length === 0) return nothing;
  return html`<section>
    ${heading('details.attempts', String(child.attempts))}
    <ol>
      ${steps.map((stretch, i) => {
        const from = epoch(stretch.from);
        const time = from === null ? '' : instant(from, scene.now, scene.reader);
        const past = i < steps.length - 1;
        return stretch.kind === 'paused'
          ? line('paused', 'wait', t('attempt.paused', pauseWord(stretch, child)), time, past)
          : line('running', 'run', startWord(stretch, child), time, past);
      })}
    </ol>
  </section>`;
}

function startWord(stretch: StretchView, child: ChildView): string {
  const how = stretch.how ?? 'started';
  return how === 'switched' ? t('attempt.switched', child.executor) : t(`attempt.${how}`);
}

function pauseWord(stretch: StretchView, child: ChildView): string {
  if (stretch.reason === undefined) return child.reason ? reasonInRow(child) : '';
  return t(`reason.${stretch.reason}.row`, child.attempts);
}

function tokenUse({ tokens: use }: ChildView): TemplateResult | typeof nothing {
  const total = use.input + use.output;
  if (total === 0) return nothing;
  return html`<section>
    ${heading('details.tokens', tokens(total))}
    <div class="price">
      <span>${t('tokens.input')}</span><span>${tokens(use.input)}</span> <span>${t('tokens.cached')}</span
      ><span>${tokens(use.cachedInput)}</span> <span>${t('tokens.output')}</span
      ><span>${tokens(use.output)}</span>
    </div>
  </section>`;
}

function price({ resumePrice }: ChildView): TemplateResult | typeof nothing {
  if (!resumePrice) return nothing;
  const about = (n: number) => t('price.value', tokens(n));
  return html`<section>
    <h2 data-tip=${t('price.tip')}>${t('price.title')}</h2>
    <div class="price">
      <span>${t('price.now')}</span><span>${about(resumePrice.sameNow)}</span> <span>${t('price.later')}</span
      ><span>${about(resumePrice.sameLater)}</span> <span>${t('price.fresh')}</span
      ><span>${about(resumePrice.fresh)}</span>
    </div>
  </section>`;
}

function links({ batch, child }: Seen, active: boolean, scene: Scene): TemplateResult {
  const all: readonly (readonly [ChildAction, TextKey, string])[] = [
    ['log', 'link.log', 'output'],
    ['worktree', 'link.worktree', 'worktree'],
    ['checkpoint', 'link.checkpoint', 'bookmark'],
    ['review', 'link.review', 'diff-multiple'],
  ];
  return html`<section class="full links">
    ${all
      .filter(([action]) => child.actions.includes(action))
      .map(
        ([action, key, icon]) =>
          html`<button
              class="link"
              tabindex=${active ? 0 : -1}
              @click=${() => scene.deeds.act(action, batch.id, child.id)}
            >
              ${codicon(icon)}${t(key)}
            </button>
            ${
              action === 'worktree' && child.diskUse !== undefined
                ? html`<span class="dim">${diskSize(child.diskUse)}</span>`
                : nothing
            }`,
      )}
  </section>`;
}

function heading(key: TextKey, aside: string): TemplateResult {
  return html`<h2>${t(key)}${aside === '' ? nothing : html` <span class="dim">${aside}</span>`}</h2>`;
}

function line(
  icon: IconName,
  tone: Tone,
  text: string,
  right: TemplateResult | string | typeof nothing = nothing,
  past = false,
): TemplateResult {
  return html`<li class=${past ? 'past' : ''}>
    ${statusIcon(icon, tone)}<span class="cut" data-tip=${text}>${text}</span><span class="r">${right}</span>
  </li>`;
}
