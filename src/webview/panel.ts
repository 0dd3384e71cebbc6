import { html, LitElement, nothing, type TemplateResult } from 'lit';
import type { BatchAction, ChildAction, View } from '../protocol/view.js';
import type { FromPanel, HostState, ToPanel } from '../protocol/messages.js';
import { actionLabel, batchActionLabel, batchMenuSections, keyOf, menuSections } from './actions.js';
import { secondClock } from './clock.js';
import { fitPaths } from './fitPaths.js';
import { keepFocus, spotOf, type FocusSpot } from './focus.js';
import { hello, missingAgents, welcome } from './hello.js';
import { Hold } from './hold.js';
import type { HostLine } from './host.js';
import { onTreeKey } from './keyboard.js';
import { childKey, isRow, isSearching, layout, shownCount, type Item, type LayoutOptions } from './layout.js';
import { announce, nothingSaid } from './live.js';
import { asksAPerson } from './marks.js';
import { menu, placeMenu, type MenuEntry, type OpenMenu } from './menu.js';
import { freshState, manyChildren, readState, type PanelState } from './panelState.js';
import { offReason, type Deeds, type Scene, type Seen } from './scene.js';
import { noAgentStrip, stripModels, type StripModel } from './stripModels.js';
import { strips } from './strips.js';
import { t } from './texts.js';
import { legend } from './timeline.js';
import { axisOf } from './timelineModel.js';
import type { Reader } from './times.js';
import { Tip } from './tip.js';
import { noMatch, tools } from './tools.js';
import { focusField } from './toolkit.js';
import { tree } from './tree.js';
import { slots, TreeHeights, windowedFrom } from './treeWindow.js';

const emptyView: View = {
  schema: 1,
  seq: -1,
  at: '1970-01-01T00:00:00.000Z',
  owner: null,
  problems: [],
  gates: [],
  batches: [],
};

/** A button that changes its meaning is dead for this long. */
const deadFor = 300;
/** Nothing is drawn for this long while the first view is awaited. */
const quietLoading = 400;

/** The panel: draws the last view, keeps what is open and selected, and posts what was asked for. */
export class SwarmPanel extends LitElement {
  static line: HostLine;

  private view: View = emptyView;
  private host: HostState | null = null;
  private loaded = false;
  private slow = false;
  private serial = -1;
  private state: PanelState = freshState;
  private now = Date.now();
  private reader: Reader = { locale: 'en', hour12: null };

  /** The lines and strips as drawn. They stand still while the pointer or the focus is on them. */
  private items: readonly Item[] = [];
  private shownStrips: readonly StripModel[] = [];
  private liveStrips: ReadonlySet<string> = new Set();
  private seen: ReadonlyMap<string, Seen> = new Map();
  private stripsHeight: number | null = null;
  private readonly hold = new Hold(() => {
    this.rearrange();
    this.requestUpdate();
  });

  private readonly heights = new TreeHeights();
  private viewport = { top: 0, height: 600 };
  private readonly why = new Map<string, readonly string[] | null>();
  private openMenu: OpenMenu | null = null;
  private readonly meanings = new Map<string, { readonly action: string; readonly since: number }>();
  private said = nothingSaid;
  private sentence = '';
  private anchor: string | null = null;
  private focusNext: (() => void) | null = null;
  private spot: FocusSpot | null = null;
  private tip: Tip | null = null;
  private readonly clock = secondClock(() => {
    this.now = Date.now();
    this.requestUpdate();
  });

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.state = readState(SwarmPanel.line.kept());
    window.addEventListener('message', (event: MessageEvent<ToPanel>) => this.receive(event.data));
    this.addEventListener('pointerenter', () => this.setHeld(() => this.hold.pointerIs(true)));
    this.addEventListener('pointerleave', () => this.hold.pointerIs(false));
    const focus = () =>
      this.setHeld(() =>
        this.hold.focusIs(
          document.hasFocus() && this.querySelector('.tree')?.contains(document.activeElement) === true,
        ),
      );
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
      this.stripsHeight = null;
      this.readScroll();
      this.requestUpdate();
    }).observe(this);
    window.setTimeout(() => {
      if (this.loaded) return;
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
    const list = this.querySelector('.tree');
    if (list && this.items.length >= windowedFrom && this.heights.measure(list)) this.requestUpdate();
    fitPaths(this);
    const stripsBox = this.querySelector<HTMLElement>('.strips');
    if (stripsBox) stripsBox.style.height = this.stripsHeight === null ? '' : `${this.stripsHeight}px`;
    if (list) this.readScroll();
    const next = this.focusNext;
    this.focusNext = null;
    next?.();
    this.spot = keepFocus(this, this.spot);
    this.clock.run(this.counts());
  }

  /** What the host says. An older view than the last drawn is dropped. */
  private receive(message: ToPanel): void {
    switch (message.type) {
      case 'view':
        this.receiveView(message);
        break;
      case 'toggle':
        if (message.what === 'timeline') this.change({ timeline: !this.state.timeline, form: false });
        else if (message.what === 'filter') this.toggleFilter();
        else this.change({ grouped: !this.options().grouped });
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
        this.requestUpdate();
        break;
      default:
        message satisfies never;
    }
  }

  private receiveView(message: Extract<ToPanel, { readonly type: 'view' }>): void {
    if (message.serial <= this.serial || message.view.seq < this.view.seq) return;
    const before = this.view;
    const first = !this.loaded;
    this.serial = message.serial;
    this.view = message.view;
    this.host = message.host;
    this.loaded = true;
    this.now = Date.now();
    this.reader = { locale: message.host.locale, hour12: message.host.hour12 };
    const old = this.seen;
    const seen = new Map<string, Seen>();
    for (const batch of this.view.batches)
      for (const child of batch.children) seen.set(childKey(batch.id, child.id), { batch, child });
    // A child that is gone is still drawn while lines may not move.
    if (this.hold.held) for (const [key, value] of old) if (!seen.has(key)) seen.set(key, value);
    this.seen = seen;
    this.noteMeanings();
    if (first || !this.hold.held) this.rearrange();
    else this.refreshStrips();
    if (!first) this.announceFrom(before);
    this.requestUpdate();
  }

  private content(): TemplateResult | typeof nothing {
    if (!this.loaded) return this.slow ? html`<p class="loading" role="status">${t('loading')}</p>` : nothing;
    const scene = this.scene();
    const empty = this.view.batches.length === 0;
    const workspace = this.host?.workspace ?? 'ready';
    if (empty && workspace !== 'ready') return welcome(workspace, scene.deeds.post);
    const form = empty || this.state.form;
    const missing = form ? missingAgents(this.host) : null;
    const all = missing === null ? this.shownStrips : [noAgentStrip(missing), ...this.shownStrips];
    const live = new Set([...this.liveStrips, 'host:noAgent']);
    const above = strips(all, live, scene);
    if (form) return html`${above}${hello(scene, empty)}`;
    const axis = this.state.timeline ? axisOf(this.view, this.now) : null;
    const filter = this.filterShown() ? tools(scene, () => this.focusTree()) : nothing;
    const list = tree(
      {
        slots: slots(this.items, this.heights, this.viewport, this.activeKey()),
        total: this.items.length,
        windowed: this.items.length >= windowedFrom,
        seen: this.seen,
        axis,
        active: this.activeKey(),
      },
      scene,
      {
        keydown: (event) => this.onTreeKey(event),
        click: (event) => this.onTreeClick(event),
        contextmenu: (event) => this.onTreeMenu(event),
        scroll: () => this.onScroll(),
      },
    );
    const none = this.items.length === 0 && isSearching(scene.options) ? noMatch(scene.deeds) : nothing;
    return html`${above}${filter}${none}${list}${axis ? legend() : nothing}`;
  }

  private scene(): Scene {
    return {
      view: this.view,
      host: this.host,
      now: this.now,
      reader: this.reader,
      state: this.state,
      options: this.options(),
      why: this.why,
      deeds: this.deeds,
    };
  }

  private readonly deeds: Deeds = {
    post: (message) => this.post(message),
    act: (action, batch, child) => this.act(action, [childKey(batch, child)]),
    actOnBatch: (action, batch) => this.post({ type: 'batch', action, batch }),
    change: (patch) => this.change(patch),
    toggle: (key, open) => this.change({ open: { ...this.state.open, [key]: open } }),
    select: (key, how) => this.select(key, how),
    menu: (key, x, y) => this.showMenu(key, x, y),
  };

  private options(): LayoutOptions {
    const many = this.seen.size >= manyChildren;
    const shown = this.filterShown();
    return {
      open: this.state.open,
      filter: shown ? this.state.filter : '',
      chips: shown ? this.state.chips : [],
      grouped: this.state.grouped ?? many,
      timeline: this.state.timeline,
    };
  }

  private filterShown(): boolean {
    return this.state.showFilter ?? this.seen.size >= manyChildren;
  }

  /** Puts lines and strips where they belong now. */
  private rearrange(): void {
    const seen = new Map<string, Seen>();
    for (const batch of this.view.batches)
      for (const child of batch.children) seen.set(childKey(batch.id, child.id), { batch, child });
    this.seen = seen;
    this.items = layout(this.view, this.options());
    this.shownStrips = stripModels(this.view, this.host, this.now, this.reader);
    this.liveStrips = new Set(this.shownStrips.map((strip) => strip.id));
    this.stripsHeight = null;
  }

  /** While lines may not move: the strips that are there say the new truth, none comes or goes. */
  private refreshStrips(): void {
    const fresh = stripModels(this.view, this.host, this.now, this.reader);
    this.liveStrips = new Set(fresh.map((strip) => strip.id));
    this.shownStrips = this.shownStrips.map((old) => fresh.find((strip) => strip.id === old.id) ?? old);
  }

  private setHeld(settle: () => void): void {
    const before = this.hold.held;
    settle();
    const box = this.querySelector<HTMLElement>('.strips');
    if (!before && this.hold.held && box) this.stripsHeight = box.getBoundingClientRect().height;
  }

  private change(patch: Partial<PanelState>): void {
    const before = this.state;
    this.state = { ...this.state, ...patch };
    SwarmPanel.line.keep(this.state);
    const shape = ['open', 'filter', 'chips', 'grouped', 'timeline', 'showFilter', 'form'] as const;
    if (shape.some((key) => before[key] !== this.state[key])) this.rearrange();
    if (before.filter !== this.state.filter || before.chips !== this.state.chips) {
      const options = this.options();
      if (isSearching(options)) this.say(t('live.filter', shownCount(this.view, options), this.seen.size));
    }
    this.requestUpdate();
  }

  private toggleFilter(): void {
    const show = !this.filterShown();
    this.change({ showFilter: show, form: false });
    if (show) this.focusNext = () => focusField(this.querySelector('vscode-text-field'));
  }

  private post(message: FromPanel): void {
    SwarmPanel.line.post(message);
  }

  private act(action: ChildAction, keys: readonly string[]): void {
    const able = keys.flatMap((key) => {
      const seen = this.seen.get(key);
      return seen?.child.actions.includes(action) || (seen && action === 'why') ? [seen] : [];
    });
    const first = able[0];
    if (!first || offReason(action, this.host) !== '') return;
    const key = childKey(first.batch.id, first.child.id);
    const meaning = this.meanings.get(key);
    if (able.length === 1 && meaning?.action === action && Date.now() - meaning.since < deadFor) return;
    if (action === 'why') {
      this.why.set(key, this.why.get(key) ?? null);
      this.change({ open: { ...this.state.open, [key]: true } });
    }
    this.post({
      type: 'child',
      action,
      targets: able.map(({ batch, child }) => ({ batch: batch.id, child: child.id })),
    });
  }

  private noteMeanings(): void {
    for (const [key, { child }] of this.seen) {
      const action = child.primary ?? '';
      const old = this.meanings.get(key);
      if (old?.action !== action) this.meanings.set(key, { action, since: old ? Date.now() : 0 });
    }
  }

  private activeKey(): string | null {
    const rows = this.items.filter(isRow);
    if (this.state.active !== null && rows.some((row) => row.key === this.state.active))
      return this.state.active;
    const asking = rows.find((row) => {
      const child = this.seen.get(row.key)?.child;
      return child !== undefined && asksAPerson(child);
    });
    return (asking ?? rows[0])?.key ?? null;
  }

  private select(key: string, how: 'only' | 'add' | 'range'): void {
    const rows = this.items.filter(isRow).map((row) => row.key);
    const { selected } = this.state;
    if (how === 'range') {
      const from = rows.indexOf(this.anchor ?? this.state.active ?? key);
      const to = rows.indexOf(key);
      const range = rows.slice(Math.min(from, to), Math.max(from, to) + 1);
      this.change({ selected: range, active: key });
      return;
    }
    this.anchor = key;
    const added = selected.includes(key) ? selected.filter((other) => other !== key) : [...selected, key];
    this.change({ selected: how === 'only' ? [key] : added, active: key });
  }

  private focusRow(key: string, how: 'only' | 'range'): void {
    this.select(key, how);
    this.focusNext = () => this.focusElementOf(key);
    const index = this.items.findIndex((item) => item.key === key);
    if (this.items.length >= windowedFrom) this.scrollToIndex(index);
    this.requestUpdate();
  }

  private focusElementOf(key: string): void {
    const row = this.querySelector<HTMLElement>(`[id="${CSS.escape(`row-${key}`)}"]`);
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: 'nearest' });
  }

  private focusTree(): void {
    const key = this.activeKey();
    if (key !== null) this.focusRow(key, 'only');
  }

  private revealNeedsYou(): void {
    const rows = this.items.filter(isRow);
    const asks = (row: Item) => {
      const child = this.seen.get(row.key)?.child;
      return child !== undefined && (asksAPerson(child) || child.display === 'pausedForYou');
    };
    const at = rows.findIndex((row) => row.key === this.state.active);
    const next = rows.slice(at + 1).find(asks) ?? rows.find(asks);
    if (this.state.form) this.change({ form: false });
    if (next) this.focusRow(next.key, 'only');
    else this.querySelector<HTMLElement>('.strip vscode-button')?.focus();
  }

  private onTreeKey(event: KeyboardEvent): void {
    onTreeKey(
      event,
      {
        items: this.items,
        active: this.activeKey(),
        selected: this.state.selected,
        seen: this.seen,
        letterKeys: this.host?.letterKeys === true,
        page: Math.max(1, Math.floor(this.viewport.height / 22) - 2),
      },
      {
        focusRow: (key, how) => this.focusRow(key, how),
        selectAll: () =>
          this.change({
            selected: this.items.filter((item) => item.kind === 'child').map((item) => item.key),
          }),
        toggle: this.deeds.toggle,
        act: (action, keys) => this.act(action, keys),
        openMenu: (key) => {
          const box = this.querySelector(`[id="${CSS.escape(`row-${key}`)}"]`)?.getBoundingClientRect();
          if (box) this.showMenu(key, box.left + 40, box.bottom);
        },
        filter: (letter) => {
          this.change({ showFilter: true, filter: this.state.filter + letter });
          this.focusNext = () => focusField(this.querySelector('vscode-text-field'));
        },
        escape: () => this.escape(),
      },
    );
  }

  /** Keys that work everywhere in the panel. */
  private onKey(event: KeyboardEvent): void {
    if (event.key === 'Escape') {
      if (this.escape()) return;
      if (this.state.form && this.view.batches.length > 0) {
        this.change({ form: false });
        this.focusTree();
      }
    } else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f' && this.items.length > 0) {
      event.preventDefault();
      this.change({ showFilter: true, form: false });
      this.focusNext = () => focusField(this.querySelector('vscode-text-field'));
    }
  }

  /** Closes the hover, then the menu, then clears the filter. */
  private escape(): boolean {
    if (this.tip?.shown === true) {
      this.tip.hide();
      return true;
    }
    if (this.openMenu) {
      this.closeMenu(true);
      return true;
    }
    if (isSearching(this.options())) {
      this.change({ filter: '', chips: [] });
      return true;
    }
    return false;
  }

  private onTreeClick(event: MouseEvent): void {
    const target = event.target instanceof Element ? event.target : null;
    const row = target?.closest<HTMLElement>('.row[data-key]');
    const key = row?.dataset['key'];
    if (!row || key === undefined) return;
    const how = event.shiftKey ? 'range' : event.ctrlKey || event.metaKey ? 'add' : 'only';
    this.select(key, how);
    if (target?.closest('button') === null) row.focus({ preventScroll: true });
    if (target?.closest('[data-twistie]')) {
      const item = this.items.filter(isRow).find((other) => other.key === key);
      if (item) this.deeds.toggle(key, !item.open);
    }
  }

  private onTreeMenu(event: MouseEvent): void {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>('.row[data-key]') : null;
    const key = row?.dataset['key'];
    event.preventDefault();
    if (!row || key === undefined) return;
    if (!this.state.selected.includes(key)) this.select(key, 'only');
    row.focus({ preventScroll: true });
    this.showMenu(key, event.clientX, event.clientY);
  }

  private showMenu(key: string, x: number, y: number): void {
    const item = this.items.find((other) => other.key === key);
    if (!item) return;
    const sections = item.kind === 'batch' ? this.batchMenu(item.batch) : this.childMenu(key);
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

  private childMenu(key: string): readonly (readonly MenuEntry[])[] {
    const keys = this.state.selected.includes(key) ? this.state.selected : [key];
    const able = (action: ChildAction) =>
      keys.filter((k) => this.seen.get(k)?.child.actions.includes(action) === true);
    return menuSections.map((section) =>
      section.flatMap((action): MenuEntry[] => {
        const targets = able(action);
        if (targets.length === 0) return [];
        const label = actionLabel(action);
        return [
          {
            label: keys.length > 1 ? t('action.many', label, targets.length) : label,
            hint: keyOf(action, this.host?.letterKeys === true),
            off: offReason(action, this.host),
            run: () => this.act(action, targets),
          },
        ];
      }),
    );
  }

  private batchMenu(id: string): readonly (readonly MenuEntry[])[] {
    const batch = this.view.batches.find((b) => b.id === id);
    return batchMenuSections.map((section: readonly BatchAction[]) =>
      section
        .filter((action) => batch?.actions.includes(action) === true)
        .map((action) => ({
          label: batchActionLabel(action),
          hint: '',
          off: offReason(action, this.host),
          run: () => this.deeds.actOnBatch(action, id),
        })),
    );
  }

  private closeMenu(back: boolean): void {
    const open = this.openMenu;
    if (!open) return;
    this.openMenu = null;
    if (back) this.focusNext = () => this.focusElementOf(open.key);
    this.requestUpdate();
  }

  private announceFrom(before: View): void {
    const { sentences, said } = announce(before, this.view, this.said, this.now, this.reader);
    this.said = said;
    if (sentences.length > 0) this.say(sentences.join(' '));
  }

  private say(sentence: string): void {
    this.sentence = sentence;
    this.requestUpdate();
  }

  private onScroll(): void {
    const before = this.viewport.top;
    this.tip?.hide();
    if (this.items.length < windowedFrom) return;
    const top = this.querySelector('.tree')?.scrollTop ?? 0;
    // The drawn part reaches well beyond the visible one, so not every step of the wheel draws anew.
    if (Math.abs(top - before) < 110) return;
    this.readScroll();
    this.requestUpdate();
  }

  private readScroll(): void {
    const list = this.querySelector('.tree');
    if (list) this.viewport = { top: list.scrollTop, height: list.clientHeight };
  }

  private scrollToIndex(index: number): void {
    const list = this.querySelector('.tree');
    const item = this.items[index];
    if (!list || !item) return;
    const top = this.heights.offset(this.items, index);
    const sticky = 52;
    if (top < list.scrollTop + sticky) list.scrollTop = Math.max(0, top - sticky);
    else if (top + 22 > list.scrollTop + list.clientHeight) list.scrollTop = top + 30 - list.clientHeight;
    this.readScroll();
  }

  /** Whether a second makes a difference to what is drawn. */
  private counts(): boolean {
    return (
      this.view.gates.some((gate) => gate.state !== 'open') ||
      this.view.batches.some((batch) =>
        batch.children.some((child) => child.status === 'running' || child.resetAt !== null),
      )
    );
  }
}
