import { childPlace } from '../protocol/places.js';
import type { Answer, Request } from '../protocol/request.js';
import { durably, refused, type RequestContext } from './answers.js';
import { cleanUp, removeBatch } from './cleaning.js';
import type { Event } from './core/event.js';
import { childKey, gateKey, lookUp, userName } from './core/keys.js';
import { mayMoveLeft } from './core/work.js';
import type { Child, ChildKey } from './core/state.js';
import type { EffectContext } from './effects/context.js';
import { noteCheck } from './effects/checkedChildren.js';
import { launch } from './launch.js';
import { redact } from './verdict/redact.js';

/** What a person wants, as the event it becomes. The answer comes when the event is in the journal. */
export async function answerRequest(own: RequestContext, wanted: Request): Promise<Answer> {
  const { context } = own;
  const children = (targets: readonly Target[], make: (keys: readonly ChildKey[]) => Event) =>
    forChildren(context, targets, make);
  switch (wanted.type) {
    case 'launch':
      return launch(own, wanted);
    case 'resume':
      return children(wanted.targets, (keys) => ({
        type: 'resumeRequested',
        children: keys,
        how: wanted.how,
      }));
    case 'resumeAt':
      return children(wanted.targets, (keys) => ({
        type: 'resumeAtRequested',
        children: keys,
        at: wanted.at,
      }));
    case 'dontResume':
      return children(wanted.targets, (keys) => ({ type: 'declineRequested', children: keys }));
    case 'pause':
      return children(wanted.targets, (keys) => ({ type: 'pauseRequested', children: keys }));
    case 'stop':
      return children(wanted.targets, (keys) => ({ type: 'stopRequested', children: keys }));
    case 'retry':
      return children(wanted.targets, (keys) => ({
        type: 'retryRequested',
        children: keys,
        prompt: wanted.prompt === null ? null : redact(wanted.prompt),
      }));
    case 'startNext':
      return children(wanted.targets, (keys) => ({ type: 'startNextRequested', children: keys }));
    case 'gate':
      return durably(context, {
        type: 'gateAnswered',
        gate: gateKey(wanted.credential, wanted.model ?? null),
        answer: wanted.answer,
      });
    case 'apply':
      return applyTargets(context, wanted.targets);
    case 'check':
      return checkBatch(context, wanted.batch);
    case 'placeCheck': {
      const placed = await context.shared.placeCheck(null, { pid: wanted.pid });
      return placed.ok ? placed : refused(3, placed.message, placed.fix);
    }
    case 'checkEnded':
      return noteCheck(context, wanted);
    case 'restore':
      return children([wanted.target], (keys) => ({ type: 'restoreRequested', child: keys[0] ?? '' }));
    case 'giveBack':
      return giveBack(context, wanted.target);
    case 'settleLeft':
      return settleLeft(context, wanted.targets, wanted.how);
    case 'removeBatch':
      return removeBatch(context, wanted.batch);
    case 'clean':
      return cleanUp(context, wanted.dry);
    case 'settings':
      return durably(context, {
        type: 'settingsChanged',
        settings: { ...context.state().settings, maxConcurrent: wanted.maxConcurrent },
      });
    case 'handOver':
      return { ok: true };
    default:
      return wanted satisfies never;
  }
}

interface Target {
  readonly batch: string;
  readonly child: string;
}

async function forChildren(
  context: EffectContext,
  targets: readonly Target[],
  make: (keys: readonly ChildKey[]) => Event,
): Promise<Answer> {
  const unknown = targets.filter((target) => childOf(context, target) === null);
  if (unknown.length > 0)
    return {
      ok: false,
      code: 2,
      errors: unknown.map((target) => ({
        line: null,
        message: `There is no child ${target.batch}/${target.child}`,
        fix: 'swarm status lists them.',
      })),
    };
  return durably(context, make(targets.map((target) => childKey(target.batch, target.child))));
}

function childOf(context: EffectContext, target: Target): Child | null {
  return lookUp(context.state().children, childKey(target.batch, target.child)) ?? null;
}

async function applyTargets(context: EffectContext, targets: readonly Target[]): Promise<Answer> {
  for (const batch of new Set(targets.map((target) => target.batch))) {
    const mine = targets.filter((target) => target.batch === batch);
    const answer = await forChildren(context, mine, (children) => ({
      type: 'applyRequested',
      batch,
      children,
    }));
    if (!answer.ok) return answer;
  }
  return { ok: true };
}

async function checkBatch(context: EffectContext, id: string): Promise<Answer> {
  const batch = lookUp(context.state().batches, id);
  if (batch === undefined) return refused(2, `There is no batch ${id}`, 'swarm status lists them.');
  if (batch.check === null)
    return refused(
      2,
      'This batch has no check command',
      'Name one as check in the manifest or the settings.',
    );
  return durably(context, { type: 'checkRequested', batch: id });
}

/** What a quarantine left: moved as it is, or kept. */
async function settleLeft(
  context: EffectContext,
  targets: readonly Target[],
  how: 'move' | 'keep',
): Promise<Answer> {
  for (const target of targets) {
    const child = childOf(context, target);
    if (child !== null && (child.quarantine?.left.length ?? 0) === 0)
      return refused(
        2,
        `Nothing of ${target.batch}/${target.child} was left in your tree`,
        'swarm status shows it.',
      );
    if (child !== null && how === 'move' && !mayMoveLeft(child))
      return refused(2, `${target.batch}/${target.child} is at work, or applied`, 'Pause it first.');
    const answer = await forChildren(context, [target], ([key = '']) => ({
      type: 'settleLeftRequested',
      child: key,
      how,
    }));
    if (!answer.ok) return answer;
  }
  return { ok: true };
}

/** A conflict or a red check becomes the child's next task. */
async function giveBack(context: EffectContext, target: Target): Promise<Answer> {
  const child = childOf(context, target);
  if (child === null)
    return refused(2, `There is no child ${target.batch}/${target.child}`, 'swarm status lists them.');
  const { applied } = child;
  if (applied.state !== 'conflict' && applied.state !== 'red')
    return refused(2, 'Its work was not refused', 'Only a conflict or a red check is given back.');
  const output = await context.store.read(`${childPlace(target.batch, target.child)}/check.txt`);
  const prompt =
    applied.state === 'conflict'
      ? conflictPrompt(context, applied.with)
      : checkPrompt(applied.errors, context.state().batches[child.batch]?.check ?? [], output ?? '');
  return durably(context, { type: 'retryRequested', children: [child.key], prompt });
}

function conflictPrompt(
  context: EffectContext,
  overlaps: readonly { readonly who: string; readonly path: string }[],
): string {
  const top = context.repository.topLevel;
  return [
    'Your work does not merge into the main tree. These files were changed on both sides:',
    ...overlaps.map(({ who, path }) => `- ${path} (${who === userName ? 'by the user' : `by ${who}`})`),
    '',
    `Their present state in the main tree is under ${top}. Read it there, write nothing there, and change your own files so that both changes hold.`,
  ].join('\n');
}

function checkPrompt(errors: number, check: readonly string[], output: string): string {
  return [
    `Merged into the main tree, your work makes the check \`${check.join(' ')}\` fail with ${errors} ${errors === 1 ? 'error' : 'errors'}. Correct it.`,
    ...(output === '' ? [] : ['', 'The end of its output:', '', output.slice(-8000)]),
  ].join('\n');
}
