import type { Draft } from './draft.js';
import type { Event } from './event.js';
import { fillDisk } from './disk.js';
import type { Applied, Child, Uncaptured } from './state.js';

type Of<T extends Event['type']> = Extract<Event, { type: T }>;

export function snapshotTaken(d: Draft, event: Of<'snapshotTaken'>): void {
  const child = d.child(event.child);
  if (child === undefined || (child.snapshot !== null && child.snapshot.n >= event.n)) return;
  const { ref, commit, n, files } = event;
  const snapshot = { ref, commit, n, at: d.now, ...(files === undefined ? {} : { files }) };
  d.putChild({ ...child, snapshot });
  if (child.applied.state !== 'applied' && child.applied.state !== 'applying') d.order({ type: 'forecast' });
}

export function snapshotFailed(d: Draft, event: Of<'snapshotFailed'>): void {
  if (d.child(event.child) !== undefined && event.disk) fillDisk(d);
}

export function uncaptured(d: Draft, event: Of<'uncaptured'>): void {
  const child = d.child(event.child);
  if (child !== undefined) d.putChild({ ...allCaptured(child), ...uncapturedOf(event.paths) });
}

function uncapturedOf(paths: readonly Uncaptured[]): Pick<Child, 'uncaptured'> {
  return paths.length === 0 ? {} : { uncaptured: paths };
}

/** Its worktree is gone, or made anew from what was captured. */
function allCaptured(child: Child): Child {
  if (child.uncaptured === undefined) return child;
  const { uncaptured: _, ...rest } = child;
  return rest;
}

/** More than these are a flood that nobody reads. */
const mostStrays = 100;

export function strayed(d: Draft, event: Of<'strayed'>): void {
  const child = d.child(event.child);
  if (child === undefined || event.strays.length === 0) return;
  const before = (child.strays ?? []).filter(
    (old) => !event.strays.some((stray) => stray.path === old.path && stray.who === old.who),
  );
  d.putChild({ ...child, strays: [...before, ...event.strays].slice(-mostStrays) });
}

export function worktreeLost(d: Draft, event: Of<'worktreeLost'>): void {
  const child = d.child(event.child);
  if (child === undefined || child.worktree === null) return;
  if (child.phase.name === 'paused') {
    if (child.phase.pause.detail === 'worktreeGone') return;
    d.putChild({
      ...child,
      phase: {
        ...child.phase,
        pause: {
          ...child.phase.pause,
          wanted: false,
          needsUser: true,
          detail: 'worktreeGone',
          retryAt: null,
        },
      },
    });
    d.restless = true;
  } else if (!('launch' in child.phase)) d.putChild({ ...allCaptured(child), worktree: null });
}

export function worktreeRestored(d: Draft, event: Of<'worktreeRestored'>): void {
  const child = d.child(event.child);
  if (child === undefined) return;
  const placed: Child = { ...allCaptured(child), worktree: event.place };
  // Putting it back was the answer that the child waited for.
  const { phase } = child;
  if (phase.name === 'paused' && phase.pause.detail === 'worktreeGone') {
    const pause = { ...phase.pause, needsUser: false, detail: null, wanted: true, declined: false };
    d.putChild({ ...placed, phase: { ...phase, pause } });
    d.restless = true;
  } else if (!('launch' in phase)) d.putChild(placed);
}

export function worktreeMeasured(d: Draft, event: Of<'worktreeMeasured'>): void {
  const child = d.child(event.child);
  if (child !== undefined && child.worktree !== null)
    d.putChild({ ...child, worktree: { ...child.worktree, bytes: event.bytes } });
}

export function worktreeRemoved(d: Draft, event: Of<'worktreeRemoved'>): void {
  const child = d.child(event.child);
  if (child !== undefined && child.worktree !== null && !('launch' in child.phase))
    d.putChild({ ...allCaptured(child), worktree: null });
}

export function restoreRequested(d: Draft, event: Of<'restoreRequested'>): void {
  const child = d.child(event.child);
  if (child === undefined || 'launch' in child.phase) return;
  const said = child.phase.name === 'paused' && child.phase.pause.detail === 'worktreeGone';
  const gone = said || (child.worktree === null && child.attempt > 0);
  if (gone) d.order({ type: 'restoreWorktree', child: child.key });
}

export function quarantineStarted(d: Draft, event: Of<'quarantineStarted'>): void {
  const child = d.child(event.child);
  if (child === undefined || child.quarantine !== null) return;
  d.putChild({
    ...child,
    quarantine: { state: 'moving', moved: [], left: [], checked: false, errors: null },
  });
}

export function quarantined(d: Draft, event: Of<'quarantined'>): void {
  const child = d.child(event.child);
  if (child === undefined || child.quarantine?.state === 'moved') return;
  const { left } = event;
  const moved = [...new Set([...(child.quarantine?.moved ?? []), ...event.moved])];
  d.putChild({ ...child, quarantine: { state: 'moved', moved, left, checked: false, errors: null } });
}

/** What several wrote is left until a person says what becomes of it. */
export function settleLeftRequested(d: Draft, event: Of<'settleLeftRequested'>): void {
  const child = d.child(event.child);
  if (child?.quarantine?.state !== 'moved' || child.quarantine.left.length === 0) return;
  if (event.how === 'keep') d.putChild({ ...child, quarantine: { ...child.quarantine, left: [] } });
  else if (mayMoveLeft(child)) {
    d.putChild({ ...child, quarantine: { ...child.quarantine, state: 'moving', whole: true } });
    d.order({ type: 'quarantine', child: child.key });
  }
}

/** Nobody works in its worktree, and its work is not in the user's tree. */
export function mayMoveLeft(child: Child): boolean {
  const { state } = child.applied;
  return !('launch' in child.phase) && state !== 'applied' && state !== 'applying';
}

export function forecasted(d: Draft, event: Of<'forecasted'>): void {
  for (const { child: key, clean, with: overlaps } of event.forecasts) {
    const child = d.child(key);
    if (child === undefined) continue;
    const { state } = child.applied;
    if (state !== 'none' && state !== 'forecast') continue;
    d.putChild({
      ...child,
      applied: { state: 'forecast', clean, with: overlaps, ...refusalOf(child.applied) },
    });
  }
}

/** Brings finished children into the user's tree; one apply of a batch at a time. */
export function applyRequested(d: Draft, event: Of<'applyRequested'>): void {
  const batch = d.batch(event.batch);
  if (batch === undefined) return;
  const inBatch = batch.children.map((key) => d.child(key));
  if (inBatch.some((child) => child?.applied.state === 'applying')) return;
  const children = inBatch.filter(
    (child): child is Child =>
      child !== undefined &&
      event.children.includes(child.key) &&
      child.phase.name === 'succeeded' &&
      child.applied.state !== 'applied',
  );
  if (children.length === 0) return;
  for (const child of children) {
    d.putChild({ ...child, applied: { state: 'applying' } });
    if (child.worktree !== null) d.order({ type: 'snapshot', child: child.key, why: 'apply' });
  }
  d.order({ type: 'apply', batch: batch.id, children: children.map((child) => child.key) });
}

export function applyWriting(d: Draft, event: Of<'applyWriting'>): void {
  const batch = d.batch(event.batch);
  if (batch === undefined) return;
  const { children, from, to, paths, commit } = event;
  d.putBatch({
    ...batch,
    writing: { children, from, to, paths, ...(commit === undefined ? {} : { commit }) },
  });
}

export function applyEnded(d: Draft, event: Of<'applyEnded'>): void {
  const batches = new Set<string>();
  for (const key of event.children) {
    const child = d.child(key);
    if (child === undefined) continue;
    batches.add(child.batch);
    if (child.applied.state !== 'applying') continue;
    d.putChild({ ...child, applied: outcomeOf(d, event, key) });
  }
  for (const id of batches) {
    const batch = d.batch(id);
    if (batch !== undefined && batch.writing !== null) d.putBatch({ ...batch, writing: null });
  }
  // The tree has moved: what was foreseen of the others may be wrong.
  if (batches.size > 0 && event.applied.length > 0) d.order({ type: 'forecast' });
}

function outcomeOf(d: Draft, event: Of<'applyEnded'>, key: string): Applied {
  if (event.applied.includes(key)) return { state: 'applied', at: d.now };
  const conflict = event.conflicts.find((each) => each.child === key);
  if (conflict !== undefined) return { state: 'conflict', with: conflict.with };
  const red = event.red.find((each) => each.child === key);
  if (red !== undefined) return { state: 'red', errors: red.errors };
  return { state: 'none', ...(event.message === null ? {} : { refused: event.message }) };
}

/** Why the last apply has done nothing, for as long as no other has begun. */
export function refusalOf(applied: Applied): { readonly refused?: string } {
  if (applied.state !== 'none' && applied.state !== 'forecast') return {};
  return applied.refused === undefined ? {} : { refused: applied.refused };
}

/** In a shared tree what is half-written goes out of the way before anything is checked. */
export function checkRequested(d: Draft, event: Of<'checkRequested'>): void {
  const batch = d.batch(event.batch);
  if (batch === undefined || batch.check === null) return;
  if (batch.isolation === 'shared')
    for (const key of batch.children) {
      const child = d.child(key);
      const half = child?.phase.name === 'paused' || child?.phase.name === 'failed';
      if (half && child.worktree !== null && child.quarantine?.state !== 'moved')
        d.order({ type: 'quarantine', child: key });
    }
  d.order({ type: 'check', batch: batch.id });
}

export function checked(d: Draft, event: Of<'checked'>): void {
  const batch = d.batch(event.batch);
  if (batch === undefined) return;
  d.putBatch({ ...batch, lastCheck: event.check });
  for (const { child: key, check } of event.children) {
    const child = d.child(key);
    if (child !== undefined) d.putChild({ ...child, check });
  }
  if (event.check.state !== 'green' && event.check.state !== 'red') return;
  for (const key of batch.children) {
    const child = d.child(key);
    if (child?.quarantine?.state !== 'moved') continue;
    d.putChild({
      ...child,
      quarantine: { ...child.quarantine, checked: true, errors: event.check.errorsInTree },
    });
  }
}
