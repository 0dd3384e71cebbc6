import { html, LitElement, nothing, type TemplateResult } from 'lit';
import type { ChildAction } from '../protocol/view.js';
import type { ToPanel } from '../protocol/messages.js';
import { secondClock } from './clock.js';
import { fitPaths } from './fitPaths.js';
import { keepFocus, spotOf, type FocusSpot } from './focus.js';
import { hello, missingAgents, welcome } from './hello.js';
import { Hold } from './hold.js';
import type { HostLine } from './host.js';
import { onTreeKey } from './keyboard.js';
import { childKey, isRow, isSearching, shownCount } from './layout.js';
import { announce, nothingSaid } from './live.js';
import { menu, placeMenu, type OpenMenu } from './menu.js';
import { PanelModel } from './panelModel.js';
import { readState, type PanelState } from './panelState.js';
import { rowMenu } from './rowMenu.js';
import type { Deeds, Scene } from './scene.js';
import { noAgentStrip } from './stripModels.js';
import { strips } from './strips.js';
import { t } from './texts.js';
import { legend } from './timeline.js';
import { axisOf } from './timelineModel.js';
import { Tip } from './tip.js';
import { focusField } from './toolkit.js';
import { noMatch, tools } from './tools.js';
import { tree } from './tree.js';
import { Viewport } from './viewport.js';

/** Nothing is drawn for this long while the first view is awaited. */
const quietLoading = 400;

/** The panel: draws the last view, keeps what is open and selected, and posts what was asked for. */
export class SwarmPanel extends LitElement {
  static line: HostLine;

  private readonly model = new PanelModel();
  private readonly viewport = new Viewport(() => this.querySelector<HTMLElement>('.tree'));
  private readonly hold = new Hold(() => {
    this.rearrange();
    this.requestUpdate();
  });
  private readonly clock = secondClock(() => {
    this.now = Date.now();
    this.requestUpdate();
  });
  private readonly why = new Map<string, readonly string[] | null>();
  private now = Date.now();
  private slow = false;
  private width = 0;
  /** Fixed while lines may not move: what a strip says may grow, the tree below it stays. */
  private stripsHeight: number | null = null;
  private openMenu: OpenMenu | null = null;
  private said = nothingSaid;
  private sentence = '';
  private focusNext: (() => void) | null = null;
  private spot: FocusSpot | null = null;
  private tip: Tip | null = null;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.model.state = readState(SwarmPanel.line.kept());
    this.listen();
    window.setTimeout(() => {
      if (this.model.loaded) return;
      this.slow = true;
      this.requestUpdate();
    }, quietLoading);
    SwarmPanel.line.post({ type: 'ready' });
  }

  protected override render(): TemplateResult {
    return html`<main class="sp" aria-label=${t('panel.label')}>
        <h1 class="sr">${t('panel.label')}</h1>
        ${this.content()}
      </main>
      <div class="tip" id="tip" role="tooltip" hidden></div>
      ${menu(this.openMenu, (back) => this.closeMenu(back))}
      <div class="sr" role="status" aria-live="polite">${this.sentence}</div>`;
  }

  protected override firstUpdated(): void {
    const box = this.querySelector<HTMLElement>('.tip');
    if (box) this.tip = new Tip(this, box);
  }

  protected override updated(): void {
    if (this.viewport.drawn(this.model.items)) this.requestUpdate();
    fitPaths(this, this.width);
    const box = this.querySelector<HTMLElement>('.strips');
    if (box) box.style.height = this.stripsHeight === null ? '' : `${this.stripsHeight}px`;
    const next = this.focusNext;
    this.focusNext = null;
    next?.();
    this.spot = keepFocus(this, this.spot);
    this.clock.run(this.model.counts());
  }

  private listen(): void {
    window.addEventListener('message', (event: MessageEvent<ToPanel>) => this.receive(event.data));
    this.addEventListener('pointerenter', () => this.hush(() => this.hold.pointerIs(true)));
    this.addEventListener('pointerleave', () => this.hold.pointerIs(false));
    const focus = () =>
      this.hush(() => {
        const list = this.querySelector('.tree');
        this.hold.focusIs(document.hasFocus() && list?.contains(document.activeElement) === true);
      });
    this.addEventListener('focusin', () => {
      focus();
      this.spot = spotOf(this) ?? this.spot;
    });
    this.addEventListener('focusout', () => queueMicrotask(focus));
    window.addEventListener('blur', focus);
    window.addEventListener('focus', focus);
    document.addEventListener('pointerdown', (event) => {
      if (event.target instanceof Element && !event.target.closest('.menu')) this.closeMenu(false);
    });
    document.addEventListener('keydown', (event) => this.onKey(event));
    new ResizeObserver(() => {
      this.width = this.clientWidth;
      this.viewport.read();
      this.stripsHeight = null;
      this.requestUpdate();
    }).observe(this);
  }

  /** What the host says. */
  private receive(message: ToPanel): void {
    switch (message.type) {
      case 'view': {
        const before = this.model.loaded ? this.model.view : null;
        this.now = Date.now();
        if (!this.model.receive(message, this.hold.held, this.now)) return;
        if (!this.hold.held) this.stripsHeight = null;
        if (before) {
          const news = announce(before, this.model.view, this.said, this.now, this.model.reader);
          this.said = news.said;
          if (news.sentences.length > 0) this.sentence = news.sentences.join(' ');
        }
        break;
      }
      case 'toggle':
        this.toggleOption(message.what);
        break;
      case 'revealNeedsYou':
        this.revealNeedsYou();
        break;
      case 'newBatch':
        this.change({ form: true });
        this.focusNext = () => focusField(this.querySelector('vscode-text-area'));
        break;
      case 'why':
        this.why.set(childKey(message.batch, message.child), message.lines);
        break;
      default:
        message satisfies never;
    }
    this.requestUpdate();
  }

  private content(): TemplateResult | typeof nothing {
    const { model } = this;
    if (!model.loaded) return this.slow ? html`<p class="loading">${t('loading')}</p>` : nothing;
    const scene = this.scene();
    const empty = model.view.batches.length === 0;
    const workspace = model.host?.workspace ?? 'ready';
    if (empty && workspace !== 'ready') return welcome(workspace, scene.deeds.post);
    const form = empty || model.state.form;
    const missing = form ? missingAgents(model.host) : null;
    const all = missing === null ? model.strips : [noAgentStrip(missing), ...model.strips];
    const above = strips(all, new Set([...model.liveStrips, 'host:noAgent']), scene);
    return form ? html`${above}${hello(scene, empty)}` : html`${above}${this.batches(scene)}`;
  }

  private batches(scene: Scene): TemplateResult {
    const { items, seen } = this.model;
    const active = this.model.activeKey();
    const axis = scene.state.timeline ? axisOf(scene.view, this.now, zoneOffset(this.now)) : null;
    const list = tree(
      {
        slots: this.viewport.slots(items, active),
        total: items.length,
        windowed: this.viewport.isWindowed(items),
        seen,
        axis,
        active,
      },
      scene,
      {
        keydown: (event) => this.onTreeKey(event),
        click: (event) => this.onTreeClick(event),
        contextmenu: (event) => this.onTreeMenu(event),
        scroll: () => {
          this.tip?.hide();
          if (this.viewport.scrolled(this.model.items)) this.requestUpdate();
        },
      },
    );
    return html`${this.model.filterShown() ? tools(scene, () => this.focusTree()) : nothing}${
      items.length === 0 && isSearching(scene.options) ? noMatch(scene.deeds) : nothing
    }${list}${axis ? legend() : nothing}`;
  }

  private scene(): Scene {
    const { view, host, reader, state } = this.model;
    return {
      view,
      host,
      reader,
      state,
      now: this.now,
      options: this.model.options(),
      why: this.why,
      deeds: this.deeds,
    };
  }

  private readonly deeds: Deeds = {
    post: (message) => SwarmPanel.line.post(message),
    act: (action, batch, child) => this.act(action, [childKey(batch, child)]),
    actOnBatch: (action, batch) => SwarmPanel.line.post({ type: 'batch', action, batch }),
    change: (patch) => this.change(patch),
    toggle: (key, open) => this.change({ open: { ...this.model.state.open, [key]: open } }),
    menu: (key, x, y) => this.showMenu(key, x, y),
  };

  private rearrange(): void {
    this.model.rearrange(this.now);
    this.stripsHeight = null;
  }

  /** Before the pointer or the focus may hold the lines: how high the strips are. */
  private hush(settle: () => void): void {
    const before = this.hold.held;
    settle();
    const box = this.querySelector<HTMLElement>('.strips');
    if (!before && this.hold.held && box) this.stripsHeight = box.getBoundingClientRect().height;
  }

  private change(patch: Partial<PanelState>): void {
    const before = this.model.state;
    const after = { ...before, ...patch };
    this.model.state = after;
    SwarmPanel.line.keep(after);
    const shape = ['open', 'filter', 'chips', 'grouped', 'timeline', 'showFilter', 'form'] as const;
    if (shape.some((key) => before[key] !== after[key])) this.rearrange();
    const options = this.model.options();
    if ((before.filter !== after.filter || before.chips !== after.chips) && isSearching(options))
      this.sentence = t('live.filter', shownCount(this.model.view, options), this.model.seen.size);
    this.requestUpdate();
  }

  private toggleOption(what: 'timeline' | 'filter' | 'group'): void {
    if (what === 'timeline') this.change({ timeline: !this.model.state.timeline, form: false });
    else if (what === 'group') this.change({ grouped: !this.model.options().grouped });
    else if (this.model.filterShown()) this.change({ showFilter: false, form: false });
    else this.openFilter('');
  }

  private openFilter(letter: string): void {
    this.change({ showFilter: true, form: false, filter: this.model.state.filter + letter });
    this.focusNext = () => focusField(this.querySelector('vscode-text-field'));
  }

  private act(action: ChildAction, keys: readonly string[]): void {
    const able = this.model.able(action, keys);
    const [first] = able;
    if (!first) return;
    const key = childKey(first.batch.id, first.child.id);
    if (able.length === 1 && this.model.isDead(action, key, Date.now())) return;
    if (action === 'why') {
      this.why.set(key, this.why.get(key) ?? null);
      this.deeds.toggle(key, true);
    }
    const targets = able.map(({ batch, child }) => ({ batch: batch.id, child: child.id }));
    SwarmPanel.line.post({ type: 'child', action, targets });
  }

  private focusRow(key: string, how: 'only' | 'range'): void {
    this.change(this.model.selection(key, how));
    this.viewport.reveal(this.model.items, key);
    this.focusNext = () => this.focusElementOf(key);
    this.requestUpdate();
  }

  private rowElement(key: string): HTMLElement | null {
    return this.querySelector<HTMLElement>(`[id="${CSS.escape(`row-${key}`)}"]`);
  }

  private focusElementOf(key: string): void {
    const row = this.rowElement(key);
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: 'nearest' });
  }

  private focusTree(): void {
    const key = this.model.activeKey();
    if (key !== null) this.focusRow(key, 'only');
  }

  private revealNeedsYou(): void {
    if (this.model.state.form) this.change({ form: false });
    const next = this.model.nextAsking();
    if (next !== null) this.focusRow(next, 'only');
    else this.querySelector<HTMLElement>('.strip vscode-button')?.focus();
  }

  private onTreeKey(event: KeyboardEvent): void {
    const { items, seen, state, host } = this.model;
    onTreeKey(
      event,
      {
        items,
        seen,
        selected: state.selected,
        letterKeys: host?.letterKeys === true,
        page: this.viewport.page,
      },
      {
        focusRow: (key, how) => this.focusRow(key, how),
        selectAll: () =>
          this.change({ selected: items.filter((item) => item.kind === 'child').map((item) => item.key) }),
        toggle: this.deeds.toggle,
        act: (action, keys) => this.act(action, keys),
        openMenu: (key) => {
          const box = this.rowElement(key)?.getBoundingClientRect();
          if (box) this.showMenu(key, box.left + 40, box.bottom);
        },
        filter: (letter) => this.openFilter(letter),
        escape: () => this.escape(),
      },
    );
  }

  /** Keys that work everywhere in the panel. */
  private onKey(event: KeyboardEvent): void {
    if (event.key === 'Escape') {
      if (this.escape() || !this.model.state.form || this.model.view.batches.length === 0) return;
      this.change({ form: false });
      this.focusTree();
    } else if (
      (event.ctrlKey || event.metaKey) &&
      event.key.toLowerCase() === 'f' &&
      this.model.items.length > 0
    ) {
      event.preventDefault();
      this.openFilter('');
    }
  }

  /** Closes the hover, then the menu, then clears the filter. */
  private escape(): boolean {
    if (this.tip?.shown === true) this.tip.hide();
    else if (this.openMenu) this.closeMenu(true);
    else if (isSearching(this.model.options())) this.change({ filter: '', chips: [] });
    else return false;
    return true;
  }

  private onTreeClick(event: MouseEvent): void {
    const target = event.target instanceof Element ? event.target : null;
    const row = target?.closest<HTMLElement>('.row[data-key]');
    const key = row?.dataset['key'];
    if (!row || key === undefined) return;
    const how = event.shiftKey ? 'range' : event.ctrlKey || event.metaKey ? 'add' : 'only';
    this.change(this.model.selection(key, how));
    if (target?.closest('button') === null) row.focus({ preventScroll: true });
    const item = this.model.items.filter(isRow).find((other) => other.key === key);
    if (item && target?.closest('[data-twistie]')) this.deeds.toggle(key, !item.open);
  }

  private onTreeMenu(event: MouseEvent): void {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>('.row[data-key]') : null;
    const key = row?.dataset['key'];
    event.preventDefault();
    if (!row || key === undefined) return;
    if (!this.model.state.selected.includes(key)) this.change(this.model.selection(key, 'only'));
    row.focus({ preventScroll: true });
    this.showMenu(key, event.clientX, event.clientY);
  }

  private showMenu(key: string, x: number, y: number): void {
    const sections = rowMenu(this.model, key, {
      act: (action, keys) => this.act(action, keys),
      actOnBatch: this.deeds.actOnBatch,
    });
    if (sections.every((section) => section.length === 0)) return;
    const open: OpenMenu = { x, y, key, sections };
    this.tip?.hide();
    this.openMenu = open;
    this.focusNext = () => {
      const box = this.querySelector<HTMLElement>('.menu');
      if (box) placeMenu(box, open);
    };
    this.requestUpdate();
  }

  private closeMenu(back: boolean): void {
    const open = this.openMenu;
    if (!open) return;
    this.openMenu = null;
    if (back) this.focusNext = () => this.focusElementOf(open.key);
    this.requestUpdate();
  }
}

function zoneOffset(now: number): number {
  return -new Date(now).getTimezoneOffset() * 60_000;
}
