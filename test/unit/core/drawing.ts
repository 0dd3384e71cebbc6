import type { View, ChildView, GateView } from '../../../src/protocol/view.js';
import type { Effect } from '../../../src/supervisor/core/effect.js';
import type { TimerId } from '../../../src/supervisor/core/event.js';

/** The view as a tree of lines, for people who read traces. */
export function drawTree(view: View): readonly string[] {
  const lines = view.gates.filter((gate) => gate.display !== 'open').map(drawGate);
  for (const batch of view.batches) {
    lines.push(`${batch.id} ${batch.status}`);
    for (const child of batch.children) lines.push('  ' + drawChild(child));
  }
  return lines;
}

function drawGate(gate: GateView): string {
  const parts = [`[${gate.credential}${gate.model === undefined ? '' : ` ${gate.model}`}] ${gate.display}`];
  if (gate.state !== 'open') parts.push(gate.reason);
  if (gate.until !== null)
    parts.push(`until ${clock(gate.until)}${gate.source === null ? '' : ` (${gate.source})`}`);
  if (gate.nextTry !== null && gate.nextTry !== gate.until) parts.push(`try ${clock(gate.nextTry)}`);
  if (gate.canary !== null) parts.push(`first ${gate.canary}`);
  if (gate.resumed !== null) parts.push(`${gate.resumed.done} of ${gate.resumed.of}`);
  if (gate.utilization !== null) parts.push(`${gate.utilization} %`);
  parts.push(`waiting ${gate.waiting}`, `held ${gate.held}`);
  if (gate.needsUser) parts.push('needs you');
  return parts.join(' · ');
}

function drawChild(child: ChildView): string {
  const parts = [`${child.id} ${child.display}`];
  if (child.attempts > 0) parts.push(`#${child.attempts}`);
  if (child.order !== null) parts.push(`place ${child.order}`);
  if (child.reason !== null) {
    const { class: kind, detail } = child.reason;
    parts.push(detail === undefined ? kind : `${kind} (${detail})`);
  }
  if (child.resetAt !== null)
    parts.push(`resumes ${clock(child.resetAt)} (${child.resetSource ?? 'unsaid'})`);
  if (child.executor !== 'claude') parts.push(child.executor);
  if (child.quietSince !== null) parts.push(`quiet since ${clock(child.quietSince)}`);
  if (child.quarantine !== null) parts.push(`quarantine ${child.quarantine.moved}`);
  if (child.apply !== null && child.apply.state !== 'ready') parts.push(child.apply.state);
  if (child.primary !== null) parts.push(`→ ${child.primary}`);
  return parts.join(' · ');
}

/** An order as a line; null for those that every attempt has. */
export function drawEffect(effect: Effect): string | null {
  switch (effect.type) {
    case 'prepare':
    case 'spawn': {
      const { attempt, how, by, canary } = effect.launch;
      const first = canary === null ? '' : `, first at ${canary.gate}/${canary.episode}`;
      return `${effect.type} ${effect.child} #${attempt} ${how} by ${by}${first}`;
    }
    case 'adopt':
      return `adopt ${effect.child} #${effect.launch.attempt}`;
    case 'stop':
    case 'kill':
      return `${effect.type} ${effect.child} #${effect.attempt}`;
    case 'snapshot':
      return `snapshot ${effect.child} ${effect.why}`;
    case 'apply':
      return `apply ${effect.children.join(' ')}`;
    case 'check':
      return `check ${effect.batch}`;
    case 'quarantine':
    case 'restoreWorktree':
    case 'writeResult':
      return `${effect.type} ${effect.child}`;
    case 'setTimer':
      return effect.timer.kind === 'idle' || effect.timer.kind === 'total' || effect.timer.kind === 'ramp'
        ? null
        : `timer ${drawTimer(effect.timer)} at ${clock(new Date(effect.at).toISOString())}`;
    case 'notify':
      return `notify ${effect.notice.kind} ${effect.key}`;
    case 'watchDisk':
      return 'watchDisk';
    case 'forecast':
    case 'clearTimer':
      return null;
    default:
      return effect satisfies never;
  }
}

export function drawTimer(timer: TimerId): string {
  switch (timer.kind) {
    case 'gate':
    case 'ramp':
      return `${timer.kind} ${timer.gate}/${timer.episode}`;
    case 'near':
      return `near ${timer.gate}`;
    case 'quiet':
      return 'quiet';
    case 'retry':
    case 'idle':
    case 'total':
    case 'stop':
      return `${timer.kind} ${timer.child}#${timer.attempt}`;
    default:
      return timer satisfies never;
  }
}

/** The day is written only where it is not the first. */
function clock(iso: string): string {
  const day = iso.slice(0, 10);
  const time = iso.slice(11, iso.endsWith('.000Z') ? 19 : 23);
  return day === '2026-05-04' ? time : `${day} ${time}`;
}
