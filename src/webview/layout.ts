import type { BatchView, ChildView, View } from '../protocol/view.js';
import { asksAPerson, countedAs, groupTitle, markOf, type CountedState } from './marks.js';
import { reasonInRow } from './reasons.js';
import { childNotes } from './rowModels.js';

/** One line of the tree. Its key stays the same as long as it stands for the same thing. */
export type Item =
  | (Place & { readonly kind: 'batch'; readonly batch: string })
  | (Place & { readonly kind: 'lane'; readonly batch: string; readonly credential: string })
  | (Place & {
      readonly kind: 'group';
      readonly batch: string;
      readonly state: CountedState;
      readonly children: readonly string[];
    })
  | (Place & {
      readonly kind: 'child';
      readonly batch: string;
      readonly child: string;
      readonly grouped: boolean;
    })
  | {
      readonly kind: 'note' | 'call' | 'facts';
      readonly key: string;
      readonly batch: string;
      readonly child: string;
      readonly level: number;
    };

interface Place {
  readonly key: string;
  readonly level: number;
  readonly position: number;
  readonly size: number;
  readonly open: boolean;
}

/** What of the panel's own state decides which lines there are. */
export interface LayoutOptions {
  /** Open or closed by hand, by key. */
  readonly open: Readonly<Record<string, boolean>>;
  readonly filter: string;
  readonly chips: readonly CountedState[];
  readonly grouped: boolean;
  readonly timeline: boolean;
}

/** Order of the groups; an empty one is not drawn. */
const groupOrder: readonly CountedState[] = [
  'needsYou',
  'pausedForYou',
  'failed',
  'conflict',
  'checkRed',
  'running',
  'paused',
  'held',
  'queued',
  'done',
  'applied',
  'canceled',
];
const groupsOpenAtFirst: readonly CountedState[] = [
  'needsYou',
  'pausedForYou',
  'failed',
  'conflict',
  'checkRed',
  'running',
];

export const batchKey = (batch: string) => `b:${batch}`;
export const groupKey = (batch: string, state: CountedState) => `g:${batch}/${state}`;
export const childKey = (batch: string, child: string) => `c:${batch}/${child}`;

/** All lines of the tree, top to bottom. */
export function layout(view: View, options: LayoutOptions): readonly Item[] {
  const searching = isSearching(options);
  const batches = view.batches
    .map((batch) => ({ batch, shown: batch.children.filter((child) => isShown(child, options)) }))
    .filter(({ shown }) => !searching || shown.length > 0);
  const laned = new Set<string>();
  return batches.flatMap(({ batch, shown }, i) => {
    const key = batchKey(batch.id);
    const open = options.open[key] ?? true;
    const head: Item = {
      kind: 'batch',
      key,
      batch: batch.id,
      level: 1,
      position: i + 1,
      size: batches.length,
      open,
    };
    if (!open) return [head];
    const lanes = options.timeline ? lanesOf(view, batch, laned) : [];
    return [
      head,
      ...lanes,
      ...(options.grouped ? grouped(batch, shown, options) : flat(batch, shown, options)),
    ];
  });
}

/** Lines that can have the focus. */
export function isRow(item: Item): item is Extract<Item, Place> {
  return item.kind !== 'note' && item.kind !== 'call' && item.kind !== 'facts';
}

/** How many children the filter lets through. */
export function shownCount(view: View, options: LayoutOptions): number {
  return view.batches.flatMap((batch) => batch.children).filter((child) => isShown(child, options)).length;
}

export function isSearching(options: LayoutOptions): boolean {
  return options.filter.trim() !== '' || options.chips.length > 0;
}

/** Whether the callout under a child that asks a person is open: it is, until it is closed by hand. */
export function calloutOpen(child: ChildView, options: LayoutOptions, batch: string): boolean {
  return (
    asksAPerson(child) && !options.timeline && (options.open[childKey(batch, child.id)] ?? !options.grouped)
  );
}

function flat(batch: BatchView, shown: readonly ChildView[], options: LayoutOptions): readonly Item[] {
  return shown.flatMap((child, i) => childLines(batch, child, 2, i, shown.length, false, options));
}

function grouped(batch: BatchView, shown: readonly ChildView[], options: LayoutOptions): readonly Item[] {
  const groups = groupOrder
    .map((state) => ({ state, members: shown.filter((child) => countedAs(child.display) === state) }))
    .filter(({ members }) => members.length > 0);
  return groups.flatMap(({ state, members }, i) => {
    const key = groupKey(batch.id, state);
    const open = isSearching(options) || (options.open[key] ?? groupsOpenAtFirst.includes(state));
    const head: Item = {
      kind: 'group',
      key,
      batch: batch.id,
      state,
      children: members.map((child) => child.id),
      level: 2,
      position: i + 1,
      size: groups.length,
      open,
    };
    if (!open) return [head];
    return [
      head,
      ...members.flatMap((child, j) => childLines(batch, child, 3, j, members.length, true, options)),
    ];
  });
}

function childLines(
  batch: BatchView,
  child: ChildView,
  level: number,
  index: number,
  size: number,
  inGroup: boolean,
  options: LayoutOptions,
): readonly Item[] {
  const key = childKey(batch.id, child.id);
  const byHand = options.open[key];
  const call = calloutOpen(child, options, batch.id);
  // A callout that opened by itself has no details under it yet: the row stays short until a person asks.
  const facts = byHand === true;
  const below = (kind: 'note' | 'call' | 'facts'): Item => ({
    kind,
    key: `${kind}:${batch.id}/${child.id}`,
    batch: batch.id,
    child: child.id,
    level,
  });
  return [
    {
      kind: 'child',
      key,
      batch: batch.id,
      child: child.id,
      level,
      position: index + 1,
      size,
      open: call || facts,
      grouped: inGroup,
    },
    ...(childNotes(child, batch).length > 0 && !options.timeline && !inGroup ? [below('note')] : []),
    ...(call ? [below('call')] : []),
    ...(facts ? [below('facts')] : []),
  ];
}

/** A lane for each closed account, once, in the first batch that has children on it. */
function lanesOf(view: View, batch: BatchView, laned: Set<string>): readonly Item[] {
  const closed = view.gates.filter(
    (gate) =>
      gate.state !== 'open' &&
      gate.since !== null &&
      !laned.has(gate.credential) &&
      batch.children.some((child) => child.credential === gate.credential),
  );
  return closed.map((gate) => {
    laned.add(gate.credential);
    return {
      kind: 'lane',
      key: `l:${batch.id}/${gate.credential}`,
      batch: batch.id,
      credential: gate.credential,
      level: 2,
      position: 1,
      size: 1,
      open: false,
    };
  });
}

function isShown(child: ChildView, options: LayoutOptions): boolean {
  const state = countedAs(child.display);
  if (options.chips.length > 0 && !options.chips.includes(state)) return false;
  const words = options.filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return true;
  const text = [
    child.title,
    child.id,
    markOf(child).word,
    groupTitle(state),
    child.executor,
    reasonInRow(child),
    child.lastLine,
  ]
    .join(' ')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}
