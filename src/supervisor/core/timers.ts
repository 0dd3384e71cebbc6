import { attemptTimer } from './attempts.js';
import type { Draft } from './draft.js';
import type { TimerId } from './event.js';
import { armGate, rampPatience } from './gates.js';
import { nearTimer } from './near.js';
import { armRetry, stopPatience } from './pauses.js';
import { resumeRequested } from './wishes.js';

/** A timer says only that it may be time; what it is for is looked at anew. */
export function timerFired(d: Draft, timer: TimerId): void {
  d.restless = true;
  switch (timer.kind) {
    case 'gate': {
      const gate = d.gate(timer.gate);
      if (gate?.position.name !== 'closed' || gate.episode !== timer.episode) return;
      if (gate.position.tryAt !== null && d.now < gate.position.tryAt) armGate(d, gate);
      return;
    }
    case 'retry': {
      const child = d.child(timer.child);
      if (child?.phase.name !== 'paused' || child.attempt !== timer.attempt) return;
      const { pause } = child.phase;
      if (pause.retryAt === null) return;
      if (d.now < pause.retryAt) armRetry(d, child, pause.retryAt);
      else if (pause.chosen)
        resumeRequested(d, { type: 'resumeRequested', children: [child.key], how: 'auto' });
      return;
    }
    case 'idle':
    case 'total':
      attemptTimer(d, timer.kind, timer.child, timer.attempt);
      return;
    case 'stop':
      stopTimer(d, timer.child, timer.attempt);
      return;
    case 'near':
      nearTimer(d, timer.gate);
      return;
    case 'quiet':
      return;
    case 'ramp': {
      const gate = d.gate(timer.gate);
      if (gate?.position.name !== 'opening' || gate.episode !== timer.episode) return;
      d.putGate({ ...gate, position: { ...gate.position, allowed: gate.position.allowed + 1 } });
      d.order({ type: 'setTimer', timer, at: d.now + rampPatience });
      return;
    }
    default:
      timer satisfies never;
  }
}

/** It did not stop when asked: its whole tree is killed, again and again (less and less often) until its end is seen. */
function stopTimer(d: Draft, key: string, attempt: number): void {
  const child = d.child(key);
  if (child === undefined || child.attempt !== attempt) return;
  if (child.phase.name !== 'parking' && child.phase.name !== 'stopping') return;
  const timer: TimerId = { kind: 'stop', child: key, attempt };
  const due = child.phase.since + stopPatience;
  if (d.now < due) {
    d.order({ type: 'setTimer', timer, at: due });
    return;
  }
  d.order({ type: 'kill', child: key, attempt });
  const again = Math.min(Math.max(d.now - child.phase.since, stopPatience), 300_000);
  d.order({ type: 'setTimer', timer, at: d.now + again });
}
