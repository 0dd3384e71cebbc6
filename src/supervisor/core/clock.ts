import type { Draft } from './draft.js';
import { armGate, type Closed } from './gates.js';
import { defaultPolicy } from './policy.js';
import { armRetry } from './pauses.js';
import type { Child, Gate, Instant } from './state.js';

/** Less than this is the ordinary unrest of a clock. */
const tolerance = 60_000;

/**
 * A clock that was ahead and is set back leaves waits behind that were counted from an instant which is now in the
 * future. What was stated stays as stated; what we counted ourselves is counted again from now, by its own length.
 */
export function mendClock(d: Draft): void {
  if (d.now >= d.state.at - tolerance) return;
  for (const gate of Object.values(d.state.gates)) mendGate(d, gate);
  for (const child of Object.values(d.state.children)) mendChild(d, child);
}

function mendGate(d: Draft, gate: Gate): void {
  const { position } = gate;
  const ahead = 'since' in position ? position.since - d.now : 0;
  if (position.name === 'open' || ahead <= 0) return;
  if (position.name === 'closed') {
    const mended: Gate = {
      ...gate,
      closedAt: d.now,
      position: {
        ...position,
        since: d.now,
        tryAt: tryAgainAt(d, position, ahead),
      },
    };
    d.putGate(mended);
    armGate(d, mended);
  } else d.putGate({ ...gate, position: { ...position, since: d.now } });
}

function tryAgainAt(d: Draft, position: Closed, ahead: number): Instant | null {
  if (position.tryAt === null || position.byUser) return position.tryAt;
  if (position.until !== null && position.until > d.now) return position.until + defaultPolicy.margin;
  return position.tryAt - ahead;
}

function mendChild(d: Draft, child: Child): void {
  const { phase } = child;
  const ahead = phase.since - d.now;
  const sign = phase.name === 'running' ? phase.lastSign - d.now : 0;
  if (ahead <= 0 && sign <= 0) return;
  const since: Instant = Math.min(phase.since, d.now);
  if (phase.name === 'running') {
    d.putChild({ ...child, phase: { ...phase, since, lastSign: Math.min(phase.lastSign, d.now) } });
    const timer = { kind: 'idle', child: child.key, attempt: child.attempt } as const;
    d.order({ type: 'setTimer', timer, at: d.now + child.task.timeout.idle });
  } else if (phase.name === 'paused' && phase.pause.retryAt !== null && !phase.pause.chosen) {
    const retryAt = phase.pause.retryAt - ahead;
    d.putChild({ ...child, phase: { ...phase, since, pause: { ...phase.pause, retryAt } } });
    armRetry(d, child, retryAt);
  } else d.putChild({ ...child, phase: { ...phase, since } });
}
