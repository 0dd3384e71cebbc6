import type { ChildView, StretchView, View } from '../protocol/view.js';
import { countsDownBelow, epoch } from './times.js';

/** The one axis that all rows of the timeline share. */
export interface Axis {
  readonly from: number;
  readonly to: number;
  readonly now: number;
  /** The nearest reset of an account, where there is one ahead. */
  readonly reset: number | null;
  readonly grid: readonly number[];
  readonly labels: readonly number[];
}

export type Bar = {
  readonly kind: 'run' | 'wait' | 'plan' | 'held' | 'queue';
  readonly from: number;
  readonly to: number;
};

const minute = 60_000;
const hour = 60 * minute;

/**
 * From the start of the first batch to 20 minutes after the nearest reset, at least one hour. `offset`: of the
 * reader's zone from UTC in milliseconds, so that whole hours are the reader's.
 */
export function axisOf(view: View, now: number, offset = 0): Axis {
  const starts = view.batches.flatMap((batch) => [
    epoch(batch.createdAt) ?? now,
    ...batch.children.flatMap((child) =>
      child.history.slice(0, 1).map((stretch) => epoch(stretch.from) ?? now),
    ),
  ]);
  const resets = view.gates
    .filter((gate) => gate.state !== 'open')
    .map((gate) => epoch(gate.until))
    .filter((at): at is number => at !== null && at > now && at - now < countsDownBelow);
  const reset = resets.length > 0 ? Math.min(...resets) : null;
  const start = Math.min(now, ...starts);
  const from = start - 5 * minute;
  const to = Math.max(from + hour, (reset ?? now) + 20 * minute);
  const step = stepFor(to - from);
  return {
    from,
    to,
    now,
    reset,
    grid: marks(from, to, step / 2, offset),
    labels: marks(from, to, step, offset).filter((at) => at - from > step / 8 && to - at > step / 8),
  };
}

/** The stretches of a child, and what will follow them. */
export function barsOf(child: ChildView, axis: Axis): readonly Bar[] {
  const past = child.history.flatMap((stretch): Bar[] => {
    const from = epoch(stretch.from);
    if (from === null) return [];
    return [{ kind: kinds[stretch.kind], from, to: Math.max(from, epoch(stretch.to) ?? axis.now) }];
  });
  const end = Math.min(axis.to, epoch(child.resetAt) ?? axis.reset ?? axis.now);
  if (end <= axis.now) return past;
  if (child.display === 'paused' && epoch(child.resetAt) !== null)
    return [...past, { kind: 'plan', from: axis.now, to: end }];
  const last = past.at(-1);
  if (child.display === 'held' && last?.kind === 'held') return [...past.slice(0, -1), { ...last, to: end }];
  return past;
}

/** A place on the axis in percent, kept inside it. */
export function percent(at: number, axis: Axis): number {
  const share = (100 * (at - axis.from)) / (axis.to - axis.from);
  return Math.round(Math.max(0, Math.min(100, share)) * 100) / 100;
}

const kinds: Readonly<Record<StretchView['kind'], Bar['kind']>> = {
  queued: 'queue',
  held: 'held',
  running: 'run',
  paused: 'wait',
};

function stepFor(span: number): number {
  for (const hours of [1, 2, 3, 6, 12, 24]) if (span / (hours * hour) <= 5) return hours * hour;
  return Math.ceil(span / (5 * 24 * hour)) * 24 * hour;
}

function marks(from: number, to: number, step: number, offset: number): readonly number[] {
  const list: number[] = [];
  for (let at = Math.ceil((from + offset) / step) * step - offset; at < to; at += step) list.push(at);
  return list;
}
