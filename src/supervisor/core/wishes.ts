import type { Draft } from './draft.js';
import type { Event } from './event.js';
import { choiceOf, gatesOf } from './gateLookup.js';
import { agreeAt, armGate, releaseCanary, tryGateAt } from './gates.js';
import { nextStretch } from './history.js';
import { armRetry, cancel, enterPause, hasEnded, orderStop, park, pauseFor } from './pauses.js';
import { unstart } from './start.js';
import type { Child, Gate, Pause } from './state.js';

type Of<T extends Event['type']> = Extract<Event, { type: T }>;

/** A person wants paused children to go on now. At a closed gate that sends one first; the others wait for its progress. */
export function resumeRequested(d: Draft, event: Of<'resumeRequested'>): void {
  const wanted: Child[] = [];
  for (const key of event.children) {
    const child = d.child(key);
    if (child === undefined) continue;
    const { phase } = child;
    const brief = event.how === 'brief' ? ({ how: 'brief' } as const) : {};
    if (phase.name === 'paused') {
      if (phase.pause.detail === 'worktreeGone') continue;
      const next = want(d, child, { ...phase.pause, ...brief });
      wanted.push(next);
    } else if (phase.name === 'parking')
      d.putChild({ ...child, phase: { ...phase, then: { ...phase.then, ...asWanted, ...brief } } });
    // It is held by nothing but its gates.
    else if (phase.name === 'queued')
      for (const gate of gatesOf(d.state, choiceOf(child)))
        if (gate.position.name === 'closed')
          gateAnswered(d, { type: 'gateAnswered', gate: gate.key, answer: 'resumeNow' });
  }
  for (const child of wanted) for (const gate of gatesOf(d.state, choiceOf(child))) tryNow(d, gate);
  if (wanted.length > 0) d.restless = true;
}

const asWanted = {
  wanted: true,
  declined: false,
  needsUser: false,
  retryAt: null,
  chosen: false,
  detail: null,
} as const;

function want(d: Draft, child: Child, pause: Pause): Child {
  if (pause.retryAt !== null)
    d.order({ type: 'clearTimer', timer: { kind: 'retry', child: child.key, attempt: child.attempt } });
  const next: Child = {
    ...child,
    resumesWithoutProgress: 0,
    crashes: 0,
    unknowns: 0,
    phase: { name: 'paused', since: child.phase.since, pause: { ...pause, ...asWanted } },
  };
  d.putChild(next);
  // What was spent since a wake counts no longer: a person looks at it now.
  for (const gate of gatesOf(d.state, choiceOf(child)))
    if (gate.wake !== null) d.putGate({ ...gate, wake: null });
  return next;
}

/** A closed gate is tried at once, unless it is being tried already. */
function tryNow(d: Draft, gate: Gate): void {
  if (gate.position.name === 'closed') tryGateAt(d, gate, gate.position, d.now);
}

export function resumeAtRequested(d: Draft, event: Of<'resumeAtRequested'>): void {
  for (const key of event.children) {
    const child = d.child(key);
    if (child?.phase.name !== 'paused' || child.phase.pause.detail === 'worktreeGone') continue;
    const { pause } = child.phase;
    const at = Math.max(event.at, d.now);
    d.putChild({
      ...child,
      resumesWithoutProgress: 0,
      unknowns: 0,
      phase: {
        ...child.phase,
        pause: {
          ...pause,
          wanted: false,
          declined: false,
          needsUser: false,
          detail: null,
          retryAt: at,
          chosen: true,
        },
      },
    });
    armRetry(d, child, at);
    d.restless = true;
  }
}

export function declineRequested(d: Draft, event: Of<'declineRequested'>): void {
  for (const key of event.children) {
    const child = d.child(key);
    if (child?.phase.name !== 'paused' || child.phase.pause.declined) continue;
    const { pause } = child.phase;
    if (pause.retryAt !== null)
      d.order({ type: 'clearTimer', timer: { kind: 'retry', child: key, attempt: child.attempt } });
    d.putChild({
      ...child,
      phase: {
        ...child.phase,
        pause: { ...pause, wanted: false, declined: true, retryAt: null, chosen: false },
      },
    });
    d.restless = true;
  }
}

export function pauseRequested(d: Draft, event: Of<'pauseRequested'>): void {
  for (const key of event.children) {
    const child = d.child(key);
    if (child === undefined) continue;
    const byHand = pauseFor('user', '');
    switch (child.phase.name) {
      case 'queued':
        enterPause(d, child, byHand);
        break;
      case 'preparing':
        enterPause(d, unstart(child, child.phase.launch), byHand);
        releaseCanary(d, child);
        break;
      case 'running':
        park(d, child, byHand);
        break;
      case 'parking':
        d.putChild({ ...child, phase: { ...child.phase, then: byHand } });
        break;
      case 'paused': {
        // It waits already; from now on for the person.
        const { pause } = child.phase;
        if (pause.detail === 'worktreeGone') break;
        if (pause.reason === 'user' && !pause.wanted && pause.retryAt === null) break;
        enterPause(d, child, { ...byHand, how: pause.how });
        break;
      }
      case 'stopping':
      case 'succeeded':
      case 'failed':
      case 'canceled':
        break;
      default:
        child.phase satisfies never;
    }
  }
}

export function stopRequested(d: Draft, event: Of<'stopRequested'>): void {
  for (const key of event.children) {
    const child = d.child(key);
    if (child === undefined) continue;
    const { phase } = child;
    switch (phase.name) {
      case 'queued':
      case 'paused':
        cancel(d, child);
        break;
      case 'preparing':
        cancel(d, unstart(child, phase.launch));
        releaseCanary(d, child);
        break;
      case 'running':
      case 'parking': {
        for (const kind of ['idle', 'total'] as const)
          d.order({ type: 'clearTimer', timer: { kind, child: key, attempt: child.attempt } });
        const { launch, process } = phase;
        d.putChild({
          ...child,
          phase: { name: 'stopping', since: d.now, launch, process, then: 'canceled' },
        });
        orderStop(d, child);
        break;
      }
      case 'stopping':
      case 'succeeded':
      case 'failed':
      case 'canceled':
        break;
      default:
        phase satisfies never;
    }
  }
}

/** Failed and canceled children once more, from where they stand; a finished one only with a new task given back to it. */
export function retryRequested(d: Draft, event: Of<'retryRequested'>): void {
  const paused = event.children.filter((key) => d.child(key)?.phase.name === 'paused');
  if (paused.length > 0) resumeRequested(d, { type: 'resumeRequested', children: paused, how: 'auto' });
  for (const key of event.children) {
    const child = d.child(key);
    if (child === undefined || !hasEnded(child) || child.applied.state === 'applying') continue;
    if (child.phase.name === 'succeeded' && event.prompt === null) continue;
    d.putChild({
      ...child,
      nextPrompt: event.prompt ?? child.nextPrompt,
      resumesWithoutProgress: 0,
      crashes: 0,
      unknowns: 0,
      applied: { state: 'none' },
      phase: { name: 'queued', since: d.now, startNext: true },
      history: nextStretch(child.history, d.now, { kind: 'queued', attempt: null, reason: null, how: null }),
    });
    d.restless = true;
  }
}

export function startNextRequested(d: Draft, event: Of<'startNextRequested'>): void {
  for (const key of event.children) {
    const child = d.child(key);
    if (child?.phase.name !== 'queued' || child.phase.startNext) continue;
    d.putChild({ ...child, phase: { ...child.phase, startNext: true } });
    d.restless = true;
  }
}

/** What a person has decided of a closing. */
export function gateAnswered(d: Draft, event: Of<'gateAnswered'>): void {
  const gate = d.gate(event.gate);
  if (gate === undefined) return;
  const { position } = gate;
  if (position.name !== 'closed') {
    if (event.answer === 'resumeNow' && gate.wake !== null) wakeAnew(d, gate);
    return;
  }
  const { answer } = event;
  if (answer === 'decline') {
    d.order({ type: 'clearTimer', timer: { kind: 'gate', gate: gate.key, episode: gate.episode } });
    d.putGate({ ...gate, position: { ...position, answer: 'decline', needsUser: false, byUser: false } });
    return;
  }
  agreeAt(d, gate);
  if (answer === 'resumeAtReset') {
    const at = position.tryAt ?? position.until ?? d.now;
    const agreed: Gate = {
      ...gate,
      position: { ...position, answer: 'resume', needsUser: false, tryAt: at },
    };
    d.putGate(agreed);
    armGate(d, agreed);
    return;
  }
  const at = answer === 'resumeNow' ? d.now : Math.max(answer.at, d.now);
  tryGateAt(d, gate, { ...position, answer: 'resume' }, at);
  wakeAnew(d, gate);
}

/** A person's word ends what was asked of children behind the gate: the ceiling of the wake, and "asked too often". */
function wakeAnew(d: Draft, gate: Gate): void {
  const known = d.gate(gate.key);
  if (known !== undefined) d.putGate({ ...known, wake: null });
  for (const child of Object.values(d.state.children)) {
    if (child.phase.name !== 'paused') continue;
    const { pause } = child.phase;
    const asks = pause.needsUser && (pause.reason === 'budget' || pause.detail === 'attempts');
    if (!asks || !gatesOf(d.state, choiceOf(child)).some((each) => each.key === gate.key)) continue;
    d.putChild({
      ...child,
      resumesWithoutProgress: 0,
      phase: { ...child.phase, pause: { ...pause, ...asWanted } },
    });
  }
}
