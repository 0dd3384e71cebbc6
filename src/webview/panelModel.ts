import type { ChildAction, View } from '../protocol/view.js';
import type { HostState, ToPanel } from '../protocol/messages.js';
import { childKey, isRow, layout, type Item, type LayoutOptions } from './layout.js';
import { asksAPerson } from './marks.js';
import { freshState, manyChildren, type PanelState } from './panelState.js';
import { offReason, type Seen } from './scene.js';
import { stripModels } from './stripModels.js';
import type { StripModel } from './stripText.js';
import type { Reader } from './times.js';

/** A button that changes its meaning is dead for this long. */
const deadFor = 300;

/**
 * What the panel draws: the last view, and the lines and strips as they stand. While they may not move (`held`)
 * a new view changes what they say and not which there are.
 */
export class PanelModel {
  view: View = emptyView;
  host: HostState | null = null;
  state: PanelState = freshState;
  loaded = false;
  reader: Reader = { locale: 'en', hour12: null };
  items: readonly Item[] = [];
  strips: readonly StripModel[] = [];
  /** Strips that are still true; another is only kept until lines may move. */
  liveStrips: ReadonlySet<string> = new Set();
  seen: ReadonlyMap<string, Seen> = new Map();
  private serial = -1;
  private anchor: string | null = null;
  private readonly meanings = new Map<string, { readonly action: string; readonly since: number }>();

  /** Takes a view over. False: it is older than the last one and was dropped. */
  receive(message: Extract<ToPanel, { readonly type: 'view' }>, held: boolean, now: number): boolean {
    if (message.serial <= this.serial || message.view.seq < this.view.seq) return false;
    const first = !this.loaded;
    const before = this.seen;
    const known = new Set(this.view.batches.map(({ id }) => id));
    // A new batch is there because a person has just asked for it; to wait for the pointer to leave would look broken.
    const launched = message.view.batches.some(({ id }) => !known.has(id));
    this.serial = message.serial;
    this.view = message.view;
    this.host = message.host;
    this.loaded = true;
    const { locale, hour12 } = message.host;
    if (this.reader.locale !== locale || this.reader.hour12 !== hour12) this.reader = { locale, hour12 };
    this.seen = seenIn(this.view);
    if (held && !first && !launched) {
      // A child that is gone is still drawn while lines may not move.
      this.seen = new Map([...before, ...this.seen]);
      this.refreshStrips(now);
    } else this.rearrange(now);
    this.noteMeanings(now);
    return true;
  }

  /** Puts lines and strips where they belong now. */
  rearrange(now: number): void {
    this.seen = seenIn(this.view);
    this.items = layout(this.view, this.options());
    this.strips = stripModels(this.view, this.host, now, this.reader);
    this.liveStrips = new Set(this.strips.map((strip) => strip.id));
  }

  options(): LayoutOptions {
    const shown = this.filterShown();
    return {
      open: this.state.open,
      filter: shown ? this.state.filter : '',
      chips: shown ? this.state.chips : [],
      grouped: this.state.grouped ?? this.seen.size >= manyChildren,
      timeline: this.state.timeline,
    };
  }

  filterShown(): boolean {
    return this.state.showFilter ?? this.seen.size >= manyChildren;
  }

  /** The row that is the tab stop: the one that had the focus last, else the first that asks, else the first. */
  activeKey(): string | null {
    const rows = this.items.filter(isRow);
    const { active } = this.state;
    if (active !== null && rows.some((row) => row.key === active)) return active;
    return (rows.find((row) => this.asks(row)) ?? rows[0])?.key ?? null;
  }

  /** The next row after the active one that waits for a person. */
  nextAsking(): string | null {
    const rows = this.items.filter(isRow);
    const at = rows.findIndex((row) => row.key === this.state.active);
    const asks = (row: Item) => this.asks(row) || this.seen.get(row.key)?.child.display === 'pausedForYou';
    return (rows.slice(at + 1).find(asks) ?? rows.find(asks))?.key ?? null;
  }

  /** Selection after a click or a key on a row. */
  selection(key: string, how: 'only' | 'add' | 'range'): Pick<PanelState, 'selected' | 'active'> {
    const { selected } = this.state;
    if (how === 'range') {
      const rows = this.items.filter(isRow).map((row) => row.key);
      const from = rows.indexOf(this.anchor ?? this.state.active ?? key);
      const to = rows.indexOf(key);
      return { selected: rows.slice(Math.min(from, to), Math.max(from, to) + 1), active: key };
    }
    this.anchor = key;
    if (how === 'only') return { selected: [key], active: key };
    const rest = selected.filter((other) => other !== key);
    return { selected: rest.length === selected.length ? [...selected, key] : rest, active: key };
  }

  /** Rows that a menu or a key on this row means. */
  chosen(key: string): readonly string[] {
    return this.state.selected.includes(key) ? this.state.selected : [key];
  }

  /** Those of the children on which the action can be done now. */
  able(action: ChildAction, keys: readonly string[]): readonly Seen[] {
    if (offReason(action, this.host) !== '') return [];
    return keys.flatMap((key) => {
      const seen = this.seen.get(key);
      return seen?.child.actions.includes(action) === true ? [seen] : [];
    });
  }

  /** The row's button meant something else a moment ago. */
  isDead(action: ChildAction, key: string, now: number): boolean {
    const meaning = this.meanings.get(key);
    return meaning?.action === action && now - meaning.since < deadFor;
  }

  /** Whether a second makes a difference to what is drawn. */
  counts(): boolean {
    return (
      this.view.gates.some((gate) => gate.state !== 'open') ||
      this.view.batches.some((batch) =>
        batch.children.some((child) => child.status === 'running' || child.resetAt !== null),
      )
    );
  }

  private asks(row: Item): boolean {
    const child = this.seen.get(row.key)?.child;
    return child !== undefined && asksAPerson(child);
  }

  /** The strips that are there say the new truth; none comes or goes. */
  private refreshStrips(now: number): void {
    const fresh = stripModels(this.view, this.host, now, this.reader);
    this.liveStrips = new Set(fresh.map((strip) => strip.id));
    this.strips = this.strips.map((old) => fresh.find((strip) => strip.id === old.id) ?? old);
  }

  private noteMeanings(now: number): void {
    for (const [key, { child }] of this.seen) {
      const action = child.primary ?? '';
      const old = this.meanings.get(key);
      if (old?.action !== action) this.meanings.set(key, { action, since: old ? now : 0 });
    }
  }
}

function seenIn(view: View): ReadonlyMap<string, Seen> {
  return new Map(
    view.batches.flatMap((batch) =>
      batch.children.map((child) => [childKey(batch.id, child.id), { batch, child }] as const),
    ),
  );
}

const emptyView: View = {
  schema: 1,
  seq: -1,
  at: '1970-01-01T00:00:00.000Z',
  owner: null,
  problems: [],
  gates: [],
  batches: [],
};
