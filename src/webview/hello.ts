import { html, nothing, type TemplateResult } from 'lit';
import type { FromPanel, HostState } from '../protocol/messages.js';
import { codicon } from './icons.js';
import { offReason, type Scene } from './scene.js';
import { t, type TextKey } from './texts.js';

/** The form for a new batch: first use, and whenever a person asks for one. */
export function hello(scene: Scene, firstUse: boolean): TemplateResult {
  const { state, deeds, host } = scene;
  const choices = executorChoices(host);
  const executor = choices.find(({ value }) => value === state.executor)?.value ?? choices[0]?.value;
  const tasks = tasksIn(state.draft);
  const off =
    executor === undefined
      ? t('button.off.noAgent')
      : tasks.length === 0
        ? t('button.off.noTask')
        : offReason('any', host);
  const start = () => {
    if (off !== '' || executor === undefined) return;
    deeds.post({ type: 'launch', tasks: [...tasks], executor, isolation: state.isolation });
    deeds.change({ draft: '', form: false });
  };
  return html`<div class="hello">
    ${firstUse ? html`<p>${t('empty.what')}</p>` : nothing}
    <div>
      <vscode-text-area
        class="tasks"
        resize="vertical"
        placeholder=${t('empty.placeholder')}
        .value=${state.draft}
        @input=${(event: Event) => deeds.change({ draft: valueOf(event) })}
        @keydown=${(event: KeyboardEvent) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) start();
        }}
        >${t('empty.tasks')}</vscode-text-area
      >
      <div class="opts">
        <select
          aria-label=${t('empty.agent')}
          ?disabled=${choices.length === 0}
          @change=${(event: Event) => deeds.change({ executor: valueOf(event) })}
        >
          ${choices.length === 0 ? html`<option>${t('empty.agent.none')}</option>` : nothing}
          ${choices.map(({ value, label }) => html`<option value=${value} ?selected=${value === executor}>${label}</option>`)}
        </select>
        <select
          aria-label=${t('empty.isolation')}
          @change=${(event: Event) =>
            deeds.change({ isolation: valueOf(event) === 'shared' ? 'shared' : 'worktree' })}
        >
          ${(['worktree', 'shared'] as const).map(
            (isolation) =>
              html`<option value=${isolation} ?selected=${isolation === state.isolation}>
                ${t(`empty.isolation.${isolation}`)}
              </option>`,
          )}
        </select>
      </div>
      <vscode-button
        class="btn wide"
        appearance="primary"
        ?disabled=${off !== ''}
        data-tip=${off || nothing}
        @click=${start}
        >${startLabel(tasks.length)}</vscode-button
      >
    </div>
    <hr />
    <div class="or">
      ${alternative('file', 'empty.file', 'launchFromFile', deeds.post)}
      ${alternative('play', 'empty.demo', 'demo', deeds.post)}
      ${
        firstUse
          ? nothing
          : html`<div class="alt">
              ${codicon('arrow-left')}
              <div>
                <button class="link" @click=${() => deeds.change({ form: false })}>${t('empty.back')}</button>
              </div>
            </div>`
      }
    </div>
  </div>`;
}

/** Why nothing can be launched here, and the one way out. */
export function welcome(
  workspace: 'noFolder' | 'noGit' | 'untrusted',
  post: (m: FromPanel) => void,
): TemplateResult {
  const commands = { noFolder: 'openFolder', noGit: 'initRepository', untrusted: 'manageTrust' } as const;
  const command = commands[workspace];
  return html`<div class="hello">
    <p>${t(`empty.${workspace}`)}</p>
    <vscode-button class="btn wide" appearance="primary" @click=${() => post({ type: 'command', command })}
      >${t(`empty.${workspace}.button`)}</vscode-button
    >
  </div>`;
}

/** Names of the agents that were looked for, where none was found; else null. */
export function missingAgents(host: HostState | null): readonly string[] | null {
  const real = agentsOf(host);
  return host === null || real.some((executor) => executor.found) ? null : real.map(({ name }) => name);
}

/** The tasks that were typed: one a line, empty lines are none. */
export function tasksIn(draft: string): readonly string[] {
  return draft
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** What can be chosen: first the two first agents as a chain, then each by itself. A chain is joined by commas. */
export function executorChoices(
  host: HostState | null,
): readonly { readonly value: string; readonly label: string }[] {
  const found = agentsOf(host).filter((executor) => executor.found);
  const single = found.map(({ name }) => ({ value: name, label: name }));
  const [first, second] = found;
  if (!first || !second) return single;
  return [
    { value: `${first.name},${second.name}`, label: t('empty.agent.then', first.name, second.name) },
    ...single,
  ];
}

function agentsOf(host: HostState | null): HostState['executors'] {
  return (host?.executors ?? []).filter(
    ({ name }) => name !== 'demo' && name !== 'local' && name !== 'command',
  );
}

function alternative(
  icon: string,
  key: 'empty.file' | 'empty.demo',
  command: 'launchFromFile' | 'demo',
  post: (message: FromPanel) => void,
): TemplateResult {
  const sub: TextKey = `${key}.sub`;
  return html`<div class="alt">
    ${codicon(icon)}
    <div>
      <button class="link" @click=${() => post({ type: 'command', command })}>${t(key)}</button>
      <div>${t(sub)}</div>
    </div>
  </div>`;
}

function startLabel(n: number): string {
  if (n === 0) return t('empty.start');
  return n === 1 ? t('empty.start.one') : t('empty.start.many', n);
}

function valueOf(event: Event): string {
  const target = event.currentTarget as Partial<HTMLInputElement> | null;
  return target?.value ?? '';
}
