import type { BatchView, ChildView, GateView, View } from '../protocol/view.js';
import type { Translate } from './vscodeTypes.js';

export interface StatusText {
  readonly text: string;
  /** One line per gate that is not open, then one per batch. */
  readonly tooltip: readonly string[];
  readonly warning: boolean;
}

/** What the status bar says of a view at `now` (epoch milliseconds). */
export function statusText(view: View, now: number, t: Translate): StatusText {
  const children = view.batches.flatMap((batch) => batch.children);
  const count = (test: (child: ChildView) => boolean): number => children.filter(test).length;
  const running = count((child) => child.status === 'running');
  const waiting = count((child) => child.status === 'paused' || child.status === 'held');
  const queued = count((child) => child.status === 'queued');
  const failed = count((child) => child.status === 'failed');
  const needYou = decisions(view);
  const tooltip = [
    ...view.gates.flatMap((gate) => gateLine(gate, now, t)),
    ...view.batches.map((batch) => batchLine(batch, t)),
  ];
  const say = (text: string, warning = false): StatusText => ({ text, tooltip, warning });

  if (needYou === 1) return say(`$(warning) ${t('1 needs you')}`, true);
  if (needYou > 1) return say(`$(warning) ${t('{0} need you', needYou)}`, true);
  if (failed > 0) return say(`$(layers) ${t('{0} running · {1} failed', running, failed)}`);
  if (waiting > 0) {
    const next = nearest(view, now);
    return say(
      next === null
        ? `$(layers) ${t('{0} running · {1} waiting', running, waiting)}`
        : `$(layers) ${t('{0} running · {1} waiting · {2}', running, waiting, countdown(next - now, t))}`,
    );
  }
  if (queued > 0) return say(`$(layers) ${t('{0} running · {1} queued', running, queued)}`);
  if (running > 0) return say(`$(layers) ${t('{0} running', running)}`);
  const ready = count((child) => child.apply?.state === 'ready');
  if (ready > 0) {
    const done = count((child) => child.status === 'done');
    return say(`$(layers) ${t('{0} done · {1} ready to apply', done, ready)}`);
  }
  return say(`$(layers) ${t('Swarm')}`);
}

/**
 * How many decisions wait for a person. Three children behind one expired sign-in are one decision; a child that
 * asks for itself is one more.
 */
export function decisions(view: View): number {
  const gates = view.gates.filter((gate) => gate.needsUser && gate.waiting > 0).length;
  const own = view.batches
    .flatMap((batch) => batch.children)
    .filter(
      (child) => child.display === 'needsYou' || child.display === 'conflict' || child.display === 'checkRed',
    );
  return gates + own.length;
}

/** Time left in whole minutes, as it stands in the status bar: `1 h 12 min`, in the last minute `soon`. */
export function countdown(milliseconds: number, t: Translate): string {
  const minutes = Math.ceil(milliseconds / 60_000);
  if (minutes <= 1) return t('soon');
  const hours = Math.floor(minutes / 60);
  if (hours === 0) return t('{0} min', minutes);
  return hours >= 48 ? t('{0} d', Math.floor(hours / 24)) : t('{0} h {1} min', hours, minutes % 60);
}

/** When the text changes next without a new view: at the next whole minute of the nearest countdown. */
export function nextChange(view: View, now: number): number | null {
  const next = nearest(view, now);
  if (next === null) return null;
  const left = next - now;
  return now + (left % 60_000 || 60_000);
}

function nearest(view: View, now: number): number | null {
  const instants = [
    ...view.gates.map((gate) => gate.until ?? gate.nextTry),
    ...view.batches.flatMap((batch) => batch.children.map((child) => child.resetAt)),
  ]
    .filter((instant) => instant !== null)
    .map((instant) => Date.parse(instant))
    .filter((instant) => instant > now);
  return instants.length === 0 ? null : Math.min(...instants);
}

function gateLine(gate: GateView, now: number, t: Translate): readonly string[] {
  if (gate.state === 'open') return [];
  const name = gate.model === undefined ? gate.credential : `${gate.credential} (${gate.model})`;
  if (gate.state === 'probing') return [t('{0}: trying one first', name)];
  if (gate.needsUser) return [t('{0}: needs you, {1} waiting', name, gate.waiting)];
  const until = gate.until ?? gate.nextTry;
  if (until === null) return [t('{0}: limit reached, {1} waiting', name, gate.waiting)];
  return [
    t('{0}: limit reached, {1}, {2} waiting', name, countdown(Date.parse(until) - now, t), gate.waiting),
  ];
}

function batchLine(batch: BatchView, t: Translate): string {
  const done = batch.children.filter((child) => child.status === 'done').length;
  return t('{0}: {1} of {2} done', batch.name, done, batch.children.length);
}
