import type { ApplyView, BatchView, ChildView, GateView, QuarantineView, View } from '../protocol/view.js';
import { queuedFor } from '../protocol/queuedFor.js';
import { counts, markOf, markOfState, type Mark } from './marks.js';
import { reasonInRow } from './reasons.js';
import { t } from './texts.js';
import {
  age,
  clock,
  countsDownBelow,
  epoch,
  fullInstant,
  instant,
  shortCountdown,
  tokens,
  wholeMinutes,
  type Reader,
} from './times.js';

/** What one row of a child says. */
export interface RowModel {
  readonly mark: Mark;
  /** Right of the word. `hidden` is read out instead of a number that changes every second. */
  readonly time: { readonly text: string; readonly hidden: string } | null;
  readonly timeTip: string;
  /** Last line, reason or what comes next. */
  readonly text: string;
  readonly textTip: string;
  readonly files: string;
  readonly tokens: string;
  /** For a screen reader: title, word, order or reason, time, agent. */
  readonly name: string;
}

export interface Moment {
  readonly view: View;
  readonly now: number;
  readonly reader: Reader;
}

export function rowModel(child: ChildView, batch: BatchView, moment: Moment): RowModel {
  const mark = markOf(child);
  const text = rowText(child, batch, moment);
  const timing = rowTime(child, moment);
  const total = child.tokens.input + child.tokens.output;
  const name = [child.title, mark.word.toLowerCase(), text.spoken, timing.spoken, child.executor];
  return {
    mark,
    time: timing.time,
    timeTip: timing.tip,
    text: text.text,
    textTip: text.tip,
    files: child.files.written > 0 ? String(child.files.written) : '',
    tokens: total > 0 ? tokens(total) : '',
    name: name.filter((part) => part !== '').join(', '),
  };
}

/** The accessible name of a batch row: its name and its counts. */
export function batchName(batch: BatchView): string {
  return [
    batch.name,
    ...counts(batch.children).map(({ state, n }) => `${n} ${markOfState(state).word}`),
  ].join(', ');
}

/** What a batch of children says about its end: `1 of 8`. */
export function doneOf(children: readonly ChildView[]): string {
  const done = children.filter((child) => child.status === 'done').length;
  return t('details.plan.n', done, children.length);
}

export interface Note {
  readonly icon: 'worktree' | 'warning';
  readonly text: string;
  readonly tip: string;
}

/** The line under a child whose half-written edits were taken out of the tree. */
export function quarantineNote(quarantine: QuarantineView): { readonly text: string; readonly tip: string } {
  const { moved, left, checked } = quarantine;
  const errors = quarantine.errors ?? 0;
  const tip = t('quarantine.tip', (quarantine.files ?? []).join('\n'));
  if (left > 0) {
    const others = (quarantine.leftWith ?? []).join(', ') || t('quarantine.others');
    const each = (quarantine.leftFiles ?? []).map(({ path, who }) =>
      t('quarantine.tipLeft.one', path, who === 'you' ? t('apply.forecastYou') : who),
    );
    const tips = [
      ...(moved > 0 ? [tip] : []),
      ...(each.length > 0 ? [t('quarantine.tipLeft', each.join('\n'))] : []),
    ];
    return { text: t('quarantine.partly', moved, moved + left, left, others), tip: tips.join('\n\n') };
  }
  if (checked && errors > 0) return { text: t('quarantine.red', moved, errors), tip };
  const key = checked ? 'quarantine.note' : 'quarantine.unchecked';
  return { text: moved === 1 ? t(`${key}.one`) : t(key, moved), tip };
}

/** Whom its work will meet, and where, while that can still be changed. */
function forecastNote({ with: overlaps }: ApplyView, batch: BatchView): Pick<Note, 'text' | 'tip'> {
  const nameOf = (who: string) => (who === 'you' ? t('apply.forecastYou') : titleOf(batch, who));
  const names = [...new Set(overlaps.map(({ who }) => nameOf(who)))].join(', ');
  const paths = [...new Set(overlaps.map(({ path }) => path))];
  return {
    text:
      paths.length === 1 ? t('apply.forecast', names, ...paths) : t('apply.forecasts', names, paths.length),
    tip: overlaps.map(({ path, who }) => t('quarantine.tipLeft.one', path, nameOf(who))).join('\n'),
  };
}

/** What lies under a child's row: where its work is, if not where one would look for it. */
export function childNotes(child: ChildView, batch: BatchView): readonly Note[] {
  const notes: Note[] = [];
  if (child.quarantine && (child.quarantined || child.quarantine.left > 0))
    notes.push({ icon: 'worktree', ...quarantineNote(child.quarantine) });
  if (child.apply?.state === 'forecastConflict')
    notes.push({ icon: 'warning', ...forecastNote(child.apply, batch) });
  const { uncaptured = [], strays = [] } = child;
  const [only] = uncaptured;
  if (only !== undefined)
    notes.push({
      icon: 'warning',
      text:
        uncaptured.length === 1
          ? t('uncaptured.note', only.path, only.reason)
          : t('uncaptured.notes', uncaptured.length),
      tip: t('uncaptured.tip', uncaptured.map(({ path, reason }) => `${path}: ${reason}`).join('\n')),
    });
  const [first] = strays;
  if (first !== undefined) {
    const places = new Set(
      strays.map(({ who }) =>
        who === 'you' ? t('strays.yourTree') : t('strays.other', titleOf(batch, who)),
      ),
    );
    const where = [...places].join(', ');
    notes.push({
      icon: 'warning',
      text:
        strays.length === 1 ? t('strays.note', first.path, where) : t('strays.notes', strays.length, where),
      tip: strays.map(({ path, moved }) => (moved ? t('strays.moved', path) : path)).join('\n'),
    });
  }
  return notes;
}

/** The instant a paused child counts down to, if it does. */
export function countsTo(child: ChildView, now: number): number | null {
  const until = epoch(child.resetAt);
  const waits = child.display === 'paused' || child.display === 'pausedForYou';
  return waits && until !== null && until > now && until - now < countsDownBelow ? until : null;
}

function rowText(
  child: ChildView,
  batch: BatchView,
  moment: Moment,
): { readonly text: string; readonly tip: string; readonly spoken: string } {
  const plain = (text: string, tip = '') => ({ text, tip, spoken: text });
  switch (child.display) {
    case 'queued':
      switch (queuedFor(child, moment.view.gates)) {
        case 'slot':
          return plain(t('row.slots', child.slots?.busy ?? 0, child.slots?.of ?? 0), t('row.slots.tip'));
        case 'opening':
          return plain(t('row.opening', child.credential), t('row.opening.tip', child.credential));
        case 'budget':
          return plain(t('row.budget', child.credential), t('row.budget.tip'));
        default:
          return plain('');
      }
    case 'held': {
      const near = child.reason?.detail === 'near' || gateOf(child, moment.view)?.display === 'near';
      return near
        ? plain(t('row.near', child.credential), t('row.near.tip'))
        : plain(t('row.held', child.credential), t('row.held.tip', child.credential));
    }
    case 'starting':
    case 'running':
    case 'pausing':
    case 'stopping': {
      const quiet = epoch(child.quietSince);
      if (quiet === null) return { text: child.lastLine, tip: child.lastLine, spoken: '' };
      const long = age(moment.now - quiet);
      const text = child.lastLine === '' ? t('row.quiet', long) : t('row.quietWith', long, child.lastLine);
      return { text, tip: t('row.quiet.tip', long), spoken: t('row.quiet', long) };
    }
    case 'paused': {
      const before = goesAfter(child, batch, moment);
      if (before !== null) return plain(t('row.goesAfter', before), place(child));
      return plain(reasonInRow(child), place(child));
    }
    case 'pausedForYou':
    case 'needsYou':
    case 'failed':
      return plain(reasonInRow(child));
    case 'canceled':
      return plain(child.reason ? reasonInRow(child) : t('reason.cancelled.row'));
    case 'done':
      if (child.apply?.state === 'applying') return plain(t('apply.applying'));
      if (child.apply?.refused !== undefined)
        return plain(t('apply.refused', child.apply.refused), child.apply.refused);
      return plain(t('apply.ready'));
    case 'applied': {
      const at = epoch(child.apply?.at);
      return plain(
        at === null ? t('apply.doneNoTime') : t('apply.done', instant(at, moment.now, moment.reader)),
      );
    }
    case 'conflict': {
      const first = child.apply?.with[0];
      if (!first) return plain(t('apply.conflictPlain'));
      return plain(
        first.who === 'you'
          ? t('apply.conflict', first.path)
          : t('apply.conflictSibling', titleOf(batch, first.who), first.path),
        (child.apply?.with ?? []).map((overlap) => overlap.path).join('\n'),
      );
    }
    case 'checkRed': {
      const errors = child.check?.errors ?? 0;
      return plain(errors === 1 ? t('row.errors.one') : t('row.errors', errors));
    }
    default:
      return child.display satisfies never;
  }
}

function rowTime(
  child: ChildView,
  { now, reader }: Moment,
): { readonly time: RowModel['time']; readonly tip: string; readonly spoken: string } {
  const none = { time: null, tip: '', spoken: '' };
  switch (child.display) {
    case 'paused':
    case 'pausedForYou': {
      const until = epoch(child.resetAt);
      if (until !== null && until > now) return waitTime(child, until, now, reader);
      if (child.order === null) return none;
      const text = child.order === 1 ? t('status.order.first') : t('status.order.next');
      return { time: { text, hidden: '' }, tip: place(child), spoken: text };
    }
    case 'running': {
      if (child.order === 1)
        return {
          time: { text: t('status.order.first'), hidden: '' },
          tip: '',
          spoken: t('status.order.first'),
        };
      const since = epoch(child.since);
      if (since === null) return none;
      const text = wholeMinutes(now - since);
      return {
        time: { text, hidden: '' },
        tip: t('time.runningSince', instant(since, now, reader)),
        spoken: text,
      };
    }
    case 'done':
    case 'applied': {
      if (child.ranFor <= 0) return none;
      const text = wholeMinutes(child.ranFor * 1000);
      return { time: { text, hidden: '' }, tip: '', spoken: '' };
    }
    case 'queued':
    case 'held':
    case 'starting':
    case 'pausing':
    case 'needsYou':
    case 'stopping':
    case 'conflict':
    case 'checkRed':
    case 'failed':
    case 'canceled':
      return none;
    default:
      return child.display satisfies never;
  }
}

function waitTime(child: ChildView, until: number, now: number, reader: Reader): ReturnType<typeof rowTime> {
  const guess = child.resetSource === 'probe';
  const at = instant(until, now, reader);
  const said =
    child.reason?.zoneAssumed === true && child.resetSource === 'text' ? 'textZone' : child.resetSource;
  const source = said === null ? '' : said === 'probe' ? t('source.probe', at) : t(`source.${said}`);
  const spoken = guess ? t('time.nextTry', at) : t('time.resumes', at);
  const tip = guess ? source : t('time.resumesTip', fullInstant(until, now, reader), source);
  if (until - now >= countsDownBelow)
    return { time: { text: guess ? t('time.guess', at) : at, hidden: '' }, tip, spoken };
  const count = shortCountdown(until, now);
  const text = guess ? t('time.guess', count) : count;
  return { time: { text, hidden: t('time.until', clock(until, reader)) }, tip, spoken };
}

/** While one is tried first, the others say whom they follow. */
function goesAfter(child: ChildView, batch: BatchView, { view }: Moment): string | null {
  const gate = gateOf(child, view);
  if (child.order === null || child.order < 2 || gate?.display !== 'probing') return null;
  const wanted = child.order - 1;
  for (const other of [batch, ...view.batches]) {
    const before = other.children.find(
      (sibling) => sibling.order === wanted && sibling.credential === child.credential,
    );
    if (before) return before.title;
  }
  return gate.canary;
}

function place(child: ChildView): string {
  return child.order !== null && child.order > 1 ? t('status.order.place', child.order) : '';
}

function gateOf(child: ChildView, view: View): GateView | undefined {
  const own = view.gates.filter((gate) => gate.credential === child.credential);
  return (
    own.find((gate) => gate.model !== undefined && gate.model === child.model) ??
    own.find((g) => g.model === undefined) ??
    own[0]
  );
}

function titleOf(batch: BatchView, id: string): string {
  return batch.children.find((child) => child.id === id)?.title ?? id;
}
