import type { Draft } from './draft.js';
import { releaseCanary } from './gates.js';
import { enterPause, park, pauseFor } from './pauses.js';
import { unstart } from './start.js';

/** The disk is full: nothing more is started, what runs is parked, and somebody is told once. */
export function fillDisk(d: Draft): void {
  if (d.state.diskFullSince !== null) return;
  d.set({ diskFullSince: d.now });
  let waiting = 0;
  for (const child of Object.values(d.state.children)) {
    const { phase } = child;
    if (phase.name === 'running') park(d, child, pauseFor('disk', ''));
    else if (phase.name === 'preparing') {
      enterPause(d, unstart(child, phase.launch), pauseFor('disk', ''));
      releaseCanary(d, child);
    } else if (phase.name !== 'paused' || phase.pause.reason !== 'disk') continue;
    waiting++;
  }
  d.order({ type: 'watchDisk' });
  d.order({ type: 'notify', key: `disk/${d.now}`, notice: { kind: 'disk', waiting } });
}

/** There is space again: who was paused for it goes on. */
export function freeDisk(d: Draft): void {
  if (d.state.diskFullSince === null) return;
  d.set({ diskFullSince: null });
  for (const child of Object.values(d.state.children)) {
    const { phase } = child;
    // What the full disk broke off is ended before anyone goes on.
    if (child.quarantine?.state === 'moving') d.order({ type: 'quarantine', child: child.key });
    if (phase.name === 'paused' && phase.pause.reason === 'disk' && !phase.pause.declined)
      d.putChild({ ...child, phase: { ...phase, pause: { ...phase.pause, retryAt: d.now } } });
    else if (phase.name === 'parking' && phase.then.reason === 'disk')
      d.putChild({ ...child, phase: { ...phase, then: { ...phase.then, retryAt: d.now } } });
  }
  d.restless = true;
}
