import type { ChildAction } from '../protocol/view.js';
import { letters } from './actions.js';
import { isRow, type Item } from './layout.js';
import { asksAPerson } from './marks.js';
import type { Seen } from './scene.js';

/** What the keys of the tree can ask for. */
export interface KeyDeeds {
  readonly focusRow: (key: string, how: 'only' | 'range') => void;
  readonly selectAll: () => void;
  readonly toggle: (key: string, open: boolean) => void;
  readonly act: (action: ChildAction, keys: readonly string[]) => void;
  readonly openMenu: (key: string) => void;
  /** Focus into the filter box, with a letter that was typed. */
  readonly filter: (letter: string) => void;
  /** True when there was a hover, a menu or a filter to close. */
  readonly escape: () => boolean;
}

export interface KeyScene {
  readonly items: readonly Item[];
  readonly selected: readonly string[];
  readonly seen: ReadonlyMap<string, Seen>;
  readonly letterKeys: boolean;
  /** Rows that fit on the screen. */
  readonly page: number;
}

/** Keys of the tree: arrows walk, Right and Left open, close and reach the actions, the rest acts on the row. */
export function onTreeKey(event: KeyboardEvent, scene: KeyScene, deeds: KeyDeeds): void {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return;
  const rowElement = target.closest<HTMLElement>('.row[data-key]');
  if (rowElement === null) return;
  const rows = scene.items.filter(isRow);
  const at = rows.findIndex((row) => row.key === rowElement.dataset['key']);
  const row = rows[at];
  if (!row) return;
  const onAction = target !== rowElement;
  const handled =
    walk(event, rows, at, scene, deeds) ||
    (event.key === 'ArrowRight' && right(row, rowElement, target, onAction, deeds)) ||
    (event.key === 'ArrowLeft' && left(row, rowElement, target, onAction, rows, at, deeds)) ||
    (!onAction && actOnRow(event, row, rows, at, scene, deeds)) ||
    escape(event, rowElement, onAction, deeds);
  if (handled) {
    event.preventDefault();
    event.stopPropagation();
  }
}

type Row = Extract<Item, { readonly position: number }>;

function walk(
  event: KeyboardEvent,
  rows: readonly Row[],
  at: number,
  scene: KeyScene,
  deeds: KeyDeeds,
): boolean {
  const last = rows.length - 1;
  const to: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: last,
    PageDown: Math.min(last, at + scene.page),
    PageUp: Math.max(0, at - scene.page),
  };
  const index = to[event.key];
  if (index === undefined || event.ctrlKey || event.metaKey || event.altKey) return false;
  const row = rows[index];
  const range = event.shiftKey && (event.key === 'ArrowDown' || event.key === 'ArrowUp');
  if (row) deeds.focusRow(row.key, range ? 'range' : 'only');
  return true;
}

function right(
  row: Row,
  element: HTMLElement,
  target: HTMLElement,
  onAction: boolean,
  deeds: KeyDeeds,
): boolean {
  if (!onAction && !row.open && row.kind !== 'lane') {
    deeds.toggle(row.key, true);
    return true;
  }
  const actions = visibleActions(element);
  const next = onAction ? actions[actions.indexOf(target) + 1] : actions[0];
  next?.focus();
  return true;
}

function left(
  row: Row,
  element: HTMLElement,
  target: HTMLElement,
  onAction: boolean,
  rows: readonly Row[],
  at: number,
  deeds: KeyDeeds,
): boolean {
  if (onAction) {
    const actions = visibleActions(element);
    (actions[actions.indexOf(target) - 1] ?? element).focus();
  } else if (row.open) {
    deeds.toggle(row.key, false);
  } else {
    const parent = rows.slice(0, at).findLast((other) => other.level < row.level);
    if (parent) deeds.focusRow(parent.key, 'only');
  }
  return true;
}

function actOnRow(
  event: KeyboardEvent,
  row: Row,
  rows: readonly Row[],
  at: number,
  scene: KeyScene,
  deeds: KeyDeeds,
): boolean {
  const child = scene.seen.get(row.key)?.child;
  const ctrl = event.ctrlKey || event.metaKey;
  if (ctrl && event.key.toLowerCase() === 'a') {
    deeds.selectAll();
    return true;
  }
  if (ctrl && event.key.toLowerCase() === 'f') {
    deeds.filter('');
    return true;
  }
  if (ctrl || event.altKey) return false;
  switch (event.key) {
    case 'Enter': {
      const asks = child && (asksAPerson(child) || child.status === 'done');
      if (asks && child.primary) deeds.act(child.primary, [row.key]);
      else deeds.toggle(row.key, !row.open);
      return true;
    }
    case ' ':
      deeds.toggle(row.key, !row.open);
      return true;
    case 'Delete':
      deeds.act('stop', chosen(row, scene));
      return true;
    case 'ContextMenu':
      deeds.openMenu(row.key);
      return true;
    case 'F10':
      if (!event.shiftKey) return false;
      deeds.openMenu(row.key);
      return true;
    case 'F8': {
      const next = nextAsking(rows, at, scene, event.shiftKey ? -1 : 1);
      if (next) deeds.focusRow(next.key, 'only');
      return true;
    }
    default:
      return letter(event, row, scene, deeds);
  }
}

function letter(event: KeyboardEvent, row: Row, scene: KeyScene, deeds: KeyDeeds): boolean {
  if (event.key.length !== 1) return false;
  const actions = scene.letterKeys ? letters[event.key.toLowerCase()] : undefined;
  if (!actions) {
    deeds.filter(event.key);
    return true;
  }
  const keys = chosen(row, scene);
  const fit = actions.find((action) =>
    keys.some((key) => scene.seen.get(key)?.child.actions.includes(action)),
  );
  if (fit) deeds.act(fit, keys);
  return true;
}

/** The rows that an action means: all selected ones, if the focused one is among them. */
function chosen(row: Row, scene: KeyScene): readonly string[] {
  return scene.selected.includes(row.key) ? scene.selected : [row.key];
}

function nextAsking(rows: readonly Row[], at: number, scene: KeyScene, step: 1 | -1): Row | undefined {
  for (let n = 1; n <= rows.length; n++) {
    const row = rows[(at + step * n + rows.length * n) % rows.length];
    const child = row ? scene.seen.get(row.key)?.child : undefined;
    if (child && asksAPerson(child)) return row;
  }
  return undefined;
}

function escape(event: KeyboardEvent, element: HTMLElement, onAction: boolean, deeds: KeyDeeds): boolean {
  if (event.key !== 'Escape') return false;
  if (!deeds.escape() && onAction) element.focus();
  return true;
}

function visibleActions(row: HTMLElement): readonly HTMLElement[] {
  return [...row.querySelectorAll<HTMLElement>('.act')].filter((action) => action.offsetParent !== null);
}
