import type { BatchAction, BatchView, ChildAction, ChildDisplay, ChildView } from '../../protocol/view.js';
import type { Batch, Child, Gate } from './state.js';
import { mayMoveLeft } from './work.js';

export interface Actions {
  readonly actions: readonly ChildAction[];
  readonly primary: ChildAction | null;
}

const look: readonly ChildAction[] = ['why', 'log', 'worktree', 'checkpoint', 'copyReport'];

/** What can be done with a child now, and the one sensible next click. The order is the menu's. */
export function actionsOf(child: Child, display: ChildDisplay, gate: Gate | null): Actions {
  const { actions, primary } = actionsByPhase(child, display, gate);
  const { quarantine } = child;
  if (quarantine?.state !== 'moved' || quarantine.left.length === 0) return { actions, primary };
  const settle: readonly ChildAction[] = [...(mayMoveLeft(child) ? (['moveLeft'] as const) : []), 'keepLeft'];
  return { actions: [...settle, ...actions], primary };
}

function actionsByPhase(child: Child, display: ChildDisplay, gate: Gate | null): Actions {
  const { phase } = child;
  const seen = child.worktree === null ? (child.attempt > 0 ? (['why', 'log'] as const) : []) : look;
  switch (phase.name) {
    case 'queued': {
      const next = !phase.startNext && (gate === null || gate.position.name === 'open');
      return {
        actions: [...(next ? (['startNext'] as const) : []), 'pause', ...seen, 'stop'],
        primary: next ? 'startNext' : null,
      };
    }
    case 'preparing':
    case 'running':
      return { actions: ['pause', ...seen, 'stop'], primary: 'pause' };
    case 'parking':
      return { actions: ['resume', ...seen, 'stop'], primary: null };
    case 'stopping':
      return { actions: seen, primary: null };
    case 'paused':
      return pausedActions(child, display, gate, seen);
    case 'succeeded':
      return doneActions(child, seen);
    case 'failed':
      return failedActions(child, seen);
    case 'canceled': {
      const review = child.worktree === null ? [] : (['review'] as const);
      return { actions: ['retry', ...review, ...seen], primary: 'retry' };
    }
    default:
      return phase satisfies never;
  }
}

function pausedActions(
  child: Child,
  display: ChildDisplay,
  gate: Gate | null,
  seen: readonly ChildAction[],
): Actions {
  if (child.phase.name !== 'paused') return { actions: seen, primary: null };
  const { pause } = child.phase;
  const rest: readonly ChildAction[] = [...seen, 'stop'];
  const fresh: readonly ChildAction[] = child.attempt > 0 ? ['startFresh'] : [];
  if (pause.detail === 'worktreeGone') return { actions: ['restore', ...rest], primary: 'restore' };
  if (display === 'needsYou') {
    const resume: ChildAction = pause.reason === 'process_crash' ? 'retry' : 'resume';
    const primary: ChildAction =
      pause.detail === 'attempts'
        ? 'log'
        : pause.reason === 'unknown'
          ? 'why'
          : pause.reason === 'context_overflow'
            ? 'startFresh'
            : resume;
    return { actions: [resume, 'resumeAt', ...fresh, ...rest], primary };
  }
  const reason = gate?.position.name === 'closed' ? gate.position.reason : null;
  if (display === 'pausedForYou' && reason === 'auth_expired')
    return { actions: ['signIn', 'resumeNow', ...fresh, ...rest], primary: 'signIn' };
  if (display === 'pausedForYou' && reason === 'auth_denied')
    return { actions: ['openSetting', 'resumeNow', ...rest], primary: 'openSetting' };
  if (pause.reason === 'user' || pause.reason === 'disk' || (gate === null && pause.retryAt === null))
    return { actions: ['resume', 'resumeAt', ...fresh, ...rest], primary: 'resume' };
  const stay: readonly ChildAction[] = pause.declined ? [] : ['dontResume'];
  return { actions: ['resumeNow', 'resumeAt', ...stay, ...fresh, ...rest], primary: 'resumeNow' };
}

function doneActions(child: Child, seen: readonly ChildAction[]): Actions {
  const restore: readonly ChildAction[] = child.worktree === null ? ['restore'] : [];
  switch (child.applied.state) {
    case 'applied':
      return { actions: ['review', ...seen, ...restore], primary: 'review' };
    case 'applying':
      return { actions: ['review', ...seen], primary: null };
    case 'conflict':
      return { actions: ['review', 'apply', 'giveBack', ...seen, ...restore], primary: 'review' };
    case 'red':
      return {
        actions: ['review', 'showErrors', 'giveBack', 'apply', ...seen, ...restore],
        primary: 'review',
      };
    case 'none':
    case 'forecast':
      return { actions: ['review', 'apply', 'check', ...seen, ...restore], primary: 'review' };
    default:
      return child.applied satisfies never;
  }
}

function failedActions(child: Child, seen: readonly ChildAction[]): Actions {
  if (child.phase.name !== 'failed') return { actions: seen, primary: null };
  const { class: reason } = child.phase.reason;
  const fresh: readonly ChildAction[] = child.attempt > 0 ? ['startFresh'] : [];
  const setting = reason === 'invalid_request' || reason === 'auth_denied';
  const review: readonly ChildAction[] = child.worktree === null ? [] : ['review'];
  const primary: ChildAction = setting
    ? 'openSetting'
    : reason === 'context_overflow' && child.attempt > 0
      ? 'startFresh'
      : 'retry';
  return {
    actions: ['retry', ...fresh, ...(setting ? (['openSetting'] as const) : []), ...review, ...seen],
    primary,
  };
}

export function batchActions(
  batch: Batch,
  children: readonly ChildView[],
  ended: boolean,
): BatchView['actions'] {
  const some = (...phases: readonly ChildView['phase'][]) =>
    children.some((child) => phases.includes(child.phase));
  const ready = children.some((child) => child.actions.includes('apply'));
  const actions: BatchAction[] = [];
  if (some('queued', 'preparing', 'running')) actions.push('pauseAll');
  if (some('paused')) actions.push('resumeAll');
  if (!ended) actions.push('stopAll');
  if (batch.check !== null) actions.push('check');
  if (ready) actions.push('reviewAll', 'applyAll');
  if (ended) actions.push('remove');
  return actions;
}
