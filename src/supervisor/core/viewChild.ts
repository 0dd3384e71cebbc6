import type { ChildDisplay, ChildStatus, ChildView, ReasonView, StretchView } from '../../protocol/view.js';
import { choiceOf, isShut } from './gateLookup.js';
import { lookUp, parseChildKey } from './keys.js';
import { resumePrice } from './price.js';
import type { Child, Consent, Gate, Instant, Pause, State } from './state.js';
import { actionsOf } from './viewActions.js';
import { applyOf, filesWritten, quarantineOf } from './viewWork.js';
import { iso, type Facts } from './viewFacts.js';
import { needsPerson } from './viewGate.js';
import { asksFirst, consentAt, goesOn, tooDear } from './waiting.js';

/** One child. The same object as long as nothing that it shows has changed. */
export function viewChild(state: State, child: Child, gates: readonly Gate[], facts: Facts): ChildView {
  const past = pastOf(child.history);
  const gate = shutFor(child, gates);
  const status = statusOf(child, gate);
  const asks = asksPerson(state, child, gate);
  const display = displayOf(state, child, gate, status, asks);
  const order = facts.order.get(child.key) ?? null;
  const slots = status === 'queued' ? slotsOf(state, child, facts) : null;
  const runs = past.runsSince === null ? 0 : Math.max(0, state.at - past.runsSince);
  const ranFor = Math.round((past.ran + runs) / 1000);
  const known = drawn.get(child);
  if (
    known !== undefined &&
    known.gate === gate &&
    known.asks === asks &&
    known.view.display === display &&
    known.view.order === order &&
    known.view.ranFor === ranFor &&
    known.view.slots?.busy === slots?.busy &&
    known.view.slots?.of === slots?.of
  )
    return known.view;
  const { phase, report } = child;
  const ended = phase.name === 'succeeded' || phase.name === 'failed' || phase.name === 'canceled';
  const reset = resetOf(child, gate);
  const choice = choiceOf(child);
  const { actions, primary } = actionsOf(child, display, gate);
  // One literal without spreads: it is made for every child that talks, several times a second.
  const view: Drawing = {
    id: parseChildKey(child.key).id,
    title: child.task.title,
    executor: choice.name,
    phase: phase.name,
    attempts: phase.name === 'preparing' ? child.attempt - 1 : child.attempt,
    session: child.session,
    worktree: child.worktree?.path ?? null,
    snapshot: child.snapshot?.ref ?? null,
    quarantined: child.quarantine?.state === 'moved' && child.quarantine.moved.length > 0,
    files: { read: report.read, written: filesWritten(child) },
    tokens: { input: report.input, cachedInput: report.cachedInput, output: report.output },
    lastLine: report.lastLine,
    quietSince: phase.name === 'running' && phase.quiet ? iso(phase.lastSign) : null,
    quarantine: quarantineOf(child),
    apply: applyOf(child),
    check: child.check,
    resumePrice: resumePrice(child),
    since: iso(phase.since),
    startedAt: past.startedAt,
    endedAt: ended ? iso(phase.since) : null,
    history: past.stretches,
    details: report.details,
    status,
    reason: reasonOf(child, gate, display, asks),
    resetAt: iso(reset.at),
    resetSource: reset.source,
    display,
    order,
    actions,
    primary,
    credential: choice.credential,
    model: choice.model,
    ranFor,
    slots,
  };
  if (child.worktree?.bytes !== undefined) view.diskUse = child.worktree.bytes;
  if (child.uncaptured !== undefined) view.uncaptured = child.uncaptured;
  if (child.strays !== undefined) view.strays = child.strays;
  drawn.set(child, { gate, asks, view });
  return view;
}

/** A view that is being made: what most children lack is added to it. */
type Drawing = Omit<ChildView, 'diskUse' | 'uncaptured' | 'strays'> & {
  -readonly [name in 'diskUse' | 'uncaptured' | 'strays']?: ChildView[name];
};

/** What was last drawn of a child, and from what beside the child itself. */
const drawn = new WeakMap<
  Child,
  { readonly gate: Gate | null; readonly asks: Consent; readonly view: ChildView }
>();

interface Past {
  readonly stretches: readonly StretchView[];
  readonly startedAt: string | null;
  /** Of the stretches that have ended, in ms. */
  readonly ran: number;
  readonly runsSince: Instant | null;
}

const pasts = new WeakMap<Child['history'], Past>();

/** A child's past changes seldom, what it reports all the time. */
function pastOf(history: Child['history']): Past {
  const before = pasts.get(history);
  if (before !== undefined) return before;
  const runs = history.filter((stretch) => stretch.kind === 'running');
  const now: Past = {
    stretches: history.map(stretchOf),
    startedAt: iso(runs[0]?.from ?? null),
    ran: runs.reduce((sum, stretch) => sum + (stretch.to === null ? 0 : stretch.to - stretch.from), 0),
    runsSince: runs.find((stretch) => stretch.to === null)?.from ?? null,
  };
  pasts.set(history, now);
  return now;
}

function stretchOf(stretch: Child['history'][number]): StretchView {
  const { kind, from, to, attempt, reason, how } = stretch;
  return {
    kind,
    from: iso(from),
    to: iso(to),
    attempt,
    ...(reason === null ? {} : { reason }),
    ...(how === null ? {} : { how }),
  };
}

/** The gate that a child waits behind: one that is shut, for a new child also one that is near its limit. */
function shutFor(child: Child, gates: readonly Gate[]): Gate | null {
  if (child.phase.name !== 'queued' && child.phase.name !== 'paused') return null;
  if (child.phase.name === 'paused' && child.phase.pause.gate === null && child.phase.pause.reason === 'user')
    return null;
  const shut = gates.filter((gate) => isShut(gate));
  const asks = shut.find((gate) => needsPerson(gate));
  if (asks !== undefined) return asks;
  if (shut.length > 0) return shut.reduce((a, b) => (untilOf(b) > untilOf(a) ? b : a));
  const startsNext = child.phase.name === 'queued' && child.phase.startNext;
  return child.phase.name === 'queued' && !startsNext
    ? (gates.find((gate) => gate.near !== null) ?? null)
    : null;
}

function untilOf(gate: Gate): number {
  const { position } = gate;
  if (position.name === 'closed') return position.until ?? position.tryAt ?? Infinity;
  return position.name === 'probing' ? (position.until ?? position.since) : 0;
}

function statusOf(child: Child, gate: Gate | null): ChildStatus {
  switch (child.phase.name) {
    case 'queued':
      return gate === null ? 'queued' : 'held';
    case 'preparing':
    case 'running':
    case 'parking':
    case 'stopping':
      return 'running';
    case 'paused':
      return 'paused';
    case 'succeeded':
      return 'done';
    case 'failed':
      return 'failed';
    case 'canceled':
      return 'canceled';
    default:
      return child.phase satisfies never;
  }
}

function displayOf(
  state: State,
  child: Child,
  gate: Gate | null,
  status: ChildStatus,
  asks: Consent,
): ChildDisplay {
  const { phase } = child;
  switch (phase.name) {
    case 'queued':
      return status === 'held' ? 'held' : 'queued';
    case 'preparing':
      return 'starting';
    case 'parking':
      return 'pausing';
    case 'stopping':
      return 'stopping';
    case 'running':
      return 'running';
    case 'paused':
      if (phase.pause.needsUser) return 'needsYou';
      if (phase.pause.declined || phase.pause.wanted) return 'paused';
      if (asks === 'ask') return 'pausedForYou';
      return goesOn(child, state.at) && tooDear(state, child, state.at) && gate === null
        ? 'needsYou'
        : 'paused';
    case 'succeeded':
      if (child.applied.state === 'applied') return 'applied';
      if (child.applied.state === 'conflict') return 'conflict';
      return child.applied.state === 'red' ? 'checkRed' : 'done';
    case 'failed':
      return 'failed';
    case 'canceled':
      return 'canceled';
    default:
      return phase satisfies never;
  }
}

/** What its batch's consent says to the wait it is in; `auto` where nobody needs to be asked (any more). */
function asksPerson(state: State, child: Child, gate: Gate | null): Consent {
  const { phase } = child;
  const batch = lookUp(state.batches, child.batch);
  if (batch === undefined || (phase.name !== 'paused' && phase.name !== 'queued')) return 'auto';
  if (phase.name === 'paused' && (phase.pause.wanted || phase.pause.agreed || phase.pause.retryAt !== null))
    return 'auto';
  if (gate?.position.name === 'closed' || gate?.position.name === 'probing') {
    const { answer } = gate.position;
    if (answer !== null) return answer === 'decline' ? 'never' : 'auto';
    return consentAt(gate.position, batch.policy);
  }
  if (gate !== null || phase.name === 'queued') return 'auto';
  return asksFirst(phase.pause, batch.policy) ? 'ask' : 'auto';
}

function reasonOf(child: Child, gate: Gate | null, display: ChildDisplay, asks: Consent): ReasonView | null {
  const { phase } = child;
  if (phase.name === 'failed') return phase.reason;
  if (phase.name === 'queued') return gate === null ? null : heldReason(gate, asks);
  if (phase.name !== 'paused') return null;
  const { pause } = phase;
  const detail = detailOf(pause, display, asks);
  return {
    class: pause.reason,
    message: pause.message,
    needsUser: display === 'needsYou' || display === 'pausedForYou',
    ...(pause.window === null ? {} : { window: pause.window }),
    ...(pause.zoneAssumed ? { zoneAssumed: true } : {}),
    ...(detail === null ? {} : { detail }),
    ...(pause.steps.length === 0 ? {} : { steps: pause.steps }),
  };
}

function detailOf(
  pause: Pause,
  display: ChildDisplay,
  asks: Consent,
): NonNullable<ReasonView['detail']> | null {
  if (pause.detail !== null && pause.detail !== undefined) return pause.detail;
  if (pause.declined || asks === 'never') return 'dontResume';
  const asked = display === 'pausedForYou' || display === 'needsYou';
  return asked && !pause.needsUser ? 'consent' : null;
}

function heldReason(gate: Gate, asks: Consent): ReasonView {
  const { position } = gate;
  const shut = position.name === 'closed' || position.name === 'probing';
  return {
    class: shut && position.reason !== 'none' ? position.reason : 'usage_limit',
    message: shut ? position.message : '',
    needsUser: asks === 'ask',
    ...(shut && position.window !== null ? { window: position.window } : {}),
    ...(shut ? {} : { detail: 'near' as const }),
    ...(asks === 'never' ? { detail: 'dontResume' as const } : {}),
  };
}

/** When it is expected to go on: the gate's time where it waits behind one, else its own. */
function resetOf(child: Child, gate: Gate | null): { at: Instant | null; source: ChildView['resetSource'] } {
  const { phase } = child;
  const none = { at: null, source: null };
  if (phase.name !== 'paused' && phase.name !== 'queued') return none;
  const own = phase.name === 'paused' ? phase.pause : null;
  if (own !== null && own.retryAt !== null) return { at: own.retryAt, source: 'probe' };
  if (own?.declined === true) return { at: own.resetAt, source: own.source };
  if (gate !== null) {
    const { position } = gate;
    if (position.name === 'closed') {
      if (position.until !== null && !position.byUser) return { at: position.until, source: position.source };
      return position.tryAt === null ? none : { at: position.tryAt, source: 'probe' };
    }
    if (position.name === 'probing') return { at: position.until, source: position.source };
    return { at: gate.near?.resetAt ?? null, source: null };
  }
  return own === null ? none : { at: own.resetAt, source: own.source };
}

function slotsOf(state: State, child: Child, facts: Facts): ChildView['slots'] {
  const batch = lookUp(state.batches, child.batch);
  if (batch === undefined) return null;
  const own = facts.busyByBatch.get(batch.id) ?? 0;
  if (own >= batch.maxConcurrent) return { busy: own, of: batch.maxConcurrent };
  return { busy: facts.busy, of: state.settings.maxConcurrent };
}
