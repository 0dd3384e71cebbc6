import { countedStates, type CountedState } from './marks.js';

/** What only the panel knows: kept by `setState`, so that it outlives hiding and reloading. */
export interface PanelState {
  readonly open: Readonly<Record<string, boolean>>;
  readonly selected: readonly string[];
  /** The row that has, or had last, the focus. */
  readonly active: string | null;
  readonly filter: string;
  readonly chips: readonly CountedState[];
  /** Null: on by itself from many children on. */
  readonly showFilter: boolean | null;
  readonly grouped: boolean | null;
  readonly timeline: boolean;
  /** The form for a new batch is open though batches exist. */
  readonly form: boolean;
  readonly draft: string;
  readonly executor: string | null;
  readonly isolation: 'worktree' | 'shared';
}

/** From this many children on the filter and the groups are on by themselves. */
export const manyChildren = 24;

export const freshState: PanelState = {
  open: {},
  selected: [],
  active: null,
  filter: '',
  chips: [],
  showFilter: null,
  grouped: null,
  timeline: false,
  form: false,
  draft: '',
  executor: null,
  isolation: 'worktree',
};

/** Reads what an earlier panel kept; what does not fit is as if it had not been kept. */
export function readState(kept: unknown): PanelState {
  if (typeof kept !== 'object' || kept === null) return freshState;
  const k = kept as Readonly<Record<string, unknown>>;
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  const flag = (value: unknown) => (typeof value === 'boolean' ? value : null);
  const texts = (value: unknown) =>
    Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
  const open =
    typeof k['open'] === 'object' && k['open'] !== null
      ? Object.fromEntries(
          Object.entries(k['open']).filter((pair): pair is [string, boolean] => typeof pair[1] === 'boolean'),
        )
      : {};
  return {
    open,
    selected: texts(k['selected']),
    active: text(k['active']),
    filter: text(k['filter']) ?? '',
    chips: countedStates.filter((state) => texts(k['chips']).includes(state)),
    showFilter: flag(k['showFilter']),
    grouped: flag(k['grouped']),
    timeline: flag(k['timeline']) ?? false,
    form: flag(k['form']) ?? false,
    draft: text(k['draft']) ?? '',
    executor: text(k['executor']),
    isolation: k['isolation'] === 'shared' ? 'shared' : 'worktree',
  };
}
