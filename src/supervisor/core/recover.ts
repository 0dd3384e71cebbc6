import type { Effect } from './effect.js';
import type { TimerId } from './event.js';
import { lookUp } from './keys.js';
import { hasEnded, stopPatience } from './pauses.js';
import type { Child, State } from './state.js';

/**
 * Everything that must be done again after a restart, from the state alone: what was under way is found again, what
 * may have been lost between the journal and its effect is ordered once more, every timer is armed. Each may have
 * been done already. `reduce` of `opened` orders these; nobody else needs to.
 */
export function recover(state: State): readonly Effect[] {
  const effects: Effect[] = [];
  for (const child of Object.values(state.children)) recoverChild(state, child, effects);
  for (const gate of Object.values(state.gates)) {
    const { position, key, episode } = gate;
    if (position.name === 'closed' && position.tryAt !== null)
      effects.push({ type: 'setTimer', timer: { kind: 'gate', gate: key, episode }, at: position.tryAt });
    if (position.name === 'opening')
      effects.push({ type: 'setTimer', timer: { kind: 'ramp', gate: key, episode }, at: state.at });
    if (gate.near !== null)
      effects.push({
        type: 'setTimer',
        timer: { kind: 'near', gate: key },
        at: gate.near.resetAt ?? state.at + 900_000,
      });
  }
  for (const batch of Object.values(state.batches)) {
    const applying = batch.children.filter(
      (key) => lookUp(state.children, key)?.applied.state === 'applying',
    );
    if (applying.length > 0) effects.push({ type: 'apply', batch: batch.id, children: applying });
    if (batch.lastCheck?.state === 'running') effects.push({ type: 'check', batch: batch.id });
  }
  if (state.diskFullSince !== null) effects.push({ type: 'watchDisk' });
  return effects;
}

function recoverChild(state: State, child: Child, effects: Effect[]): void {
  const { key, attempt, phase } = child;
  const shared = lookUp(state.batches, child.batch)?.isolation === 'shared';
  switch (phase.name) {
    case 'queued':
      return;
    case 'preparing':
      if (child.quarantine?.state === 'moving') effects.push({ type: 'quarantine', child: key });
      effects.push({ type: 'prepare', child: key, launch: phase.launch });
      return;
    case 'running':
      // Ordered and never confirmed: the order stands, and finds what it has started if it has.
      if (phase.process === null) effects.push({ type: 'spawn', child: key, launch: phase.launch });
      else effects.push({ type: 'adopt', child: key, launch: phase.launch, process: phase.process });
      return;
    case 'parking':
    case 'stopping': {
      effects.push({ type: 'adopt', child: key, launch: phase.launch, process: phase.process });
      const timer: TimerId = { kind: 'stop', child: key, attempt };
      effects.push({ type: 'setTimer', timer, at: state.at + stopPatience });
      return;
    }
    case 'paused':
    case 'failed':
    case 'canceled':
    case 'succeeded':
      break;
    default:
      phase satisfies never;
  }
  const ended = hasEnded(child);
  if (child.worktree !== null && child.applied.state !== 'applied')
    effects.push({ type: 'snapshot', child: key, why: ended ? 'ended' : 'paused' });
  const half = phase.name !== 'succeeded';
  const moving = child.quarantine?.state === 'moving';
  if (shared && (half || moving) && child.worktree !== null && child.quarantine?.state !== 'moved')
    effects.push({ type: 'quarantine', child: key });
  if (ended) effects.push({ type: 'writeResult', child: key });
  if (phase.name === 'paused' && phase.pause.retryAt !== null)
    effects.push({
      type: 'setTimer',
      timer: { kind: 'retry', child: key, attempt },
      at: phase.pause.retryAt,
    });
}
