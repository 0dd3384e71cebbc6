import type { BatchAction, BatchView, ChildAction, ChildView, View } from '../protocol/view.js';
import type { FromPanel, HostState } from '../protocol/messages.js';
import type { LayoutOptions } from './layout.js';
import type { PanelState } from './panelState.js';
import { t } from './texts.js';
import type { Reader } from './times.js';

/** All that a part of the panel needs to draw itself; nothing in it is decided here. */
export interface Scene {
  readonly view: View;
  readonly host: HostState | null;
  readonly now: number;
  readonly reader: Reader;
  readonly state: PanelState;
  readonly options: LayoutOptions;
  /** Answers to "Why?" by child key; null while the log is read. */
  readonly why: ReadonlyMap<string, readonly string[] | null>;
  readonly deeds: Deeds;
}

/** What a click or a key can do. */
export interface Deeds {
  readonly post: (message: FromPanel) => void;
  readonly act: (action: ChildAction, batch: string, child: string) => void;
  readonly actOnBatch: (action: BatchAction, batch: string) => void;
  readonly change: (patch: Partial<PanelState>) => void;
  readonly toggle: (key: string, open: boolean) => void;
  readonly menu: (key: string, x: number, y: number) => void;
}

/** A child and its batch, as last seen. */
export interface Seen {
  readonly batch: BatchView;
  readonly child: ChildView;
}

/** Why an action cannot be clicked now; empty where it can. Looking needs no supervisor. */
export function offReason(action: ChildAction | BatchAction | 'any', host: HostState | null): string {
  const looks = [
    'log',
    'worktree',
    'checkpoint',
    'review',
    'reviewAll',
    'why',
    'showErrors',
    'openSetting',
    'copyReport',
  ];
  if (looks.includes(action)) return '';
  if (host?.supervisor === 'gone') return t('button.off.gone');
  if (host?.supervisor === 'readOnly') return t('button.off.readOnly');
  return '';
}
