import type { Draft } from './draft.js';
import { shutGateOf } from './gateLookup.js';
import { nextStretch } from './history.js';
import { wayToGoOn } from './price.js';
import { enterPause, pauseBehind } from './pauses.js';
import type { Child, Launch } from './state.js';

export interface Start {
  readonly by: Launch['by'];
  readonly canary: Launch['canary'];
}

/** Orders the next attempt of a child; the caller has seen that it may. */
export function start(d: Draft, child: Child, how: Start): void {
  const { phase } = child;
  const launch: Launch = {
    attempt: child.attempt + 1,
    how: wayToGoOn(child, d.now),
    by: how.by,
    counted: how.by === 'auto' && counts(child),
    canary: how.canary,
  };
  if (phase.name === 'paused' && phase.pause.retryAt !== null)
    d.order({ type: 'clearTimer', timer: { kind: 'retry', child: child.key, attempt: child.attempt } });
  d.putChild({
    ...child,
    attempt: launch.attempt,
    resumesWithoutProgress: child.resumesWithoutProgress + (launch.counted ? 1 : 0),
    phase: { name: 'preparing', since: d.now, launch },
  });
  d.order({ type: 'prepare', child: child.key, launch });
}

/** A resume that leads nowhere counts; not the disk's doing, and not the first try with another executor. */
function counts(child: Child): boolean {
  if (child.attempt === 0 || child.phase.name !== 'paused' || child.phase.pause.reason === 'disk')
    return false;
  return child.history.at(-1)?.how !== 'switched';
}

/** How the timeline calls the beginning of an attempt. */
export function beginningOf(child: Child, launch: Launch): NonNullable<Child['history'][number]['how']> {
  if (launch.attempt === 1) return 'started';
  const before = child.history.findLast((stretch) => stretch.kind === 'paused');
  if (before?.how === 'switched') return 'switched';
  if (launch.by === 'user') return 'resumedYou';
  return launch.how === 'session' ? 'resumedSelf' : 'resumedFresh';
}

/** An order that was taken back before anything ran spends neither an attempt nor a resume. */
export function unstart(child: Child, launch: Launch): Child {
  return { ...uncount(child, launch), attempt: launch.attempt - 1 };
}

/** What ended this resume was not the child's doing. */
export function uncount(child: Child, launch: Launch): Child {
  if (!launch.counted || child.resumesWithoutProgress === 0) return child;
  return { ...child, resumesWithoutProgress: child.resumesWithoutProgress - 1 };
}

/** It waits as before, now behind the gate that is shut. */
export function holdBack(d: Draft, child: Child, launch: Launch): void {
  const gate = shutGateOf(d.state, child);
  const unspent = unstart(child, launch);
  if (launch.attempt === 1 || gate === null)
    d.putChild({
      ...unspent,
      phase: { name: 'queued', since: d.now, startNext: launch.by === 'user' },
      history: nextStretch(child.history, d.now, { kind: 'queued', attempt: null, reason: null, how: null }),
    });
  else
    enterPause(d, unspent, {
      ...pauseBehind(gate, { key: gate.key, episode: gate.episode }),
      how: launch.how === 'brief' ? 'brief' : 'session',
    });
  d.restless = true;
}
