import type { Adapter, Executor } from '../agents/agent.js';
import { adapters } from '../agents/index.js';
import type { Effect } from '../core/effect.js';
import type { PrepareFailure } from '../core/event.js';
import type { Child, ChildKey, Place } from '../core/state.js';
import type { Refusal } from '../ports.js';
import { isDiskFailing, messageOf, plannedTask, sentences, type EffectContext } from './context.js';
import { resolveEnvironment } from './environment.js';
import { placeOf, worktreeRequest } from './places.js';
import { quarantineChild, quarantineTurn, worksAlone } from './snapshots.js';

/** Program, variables, session and worktree, in this order: what costs nothing is asked first. */
export async function prepare(
  context: EffectContext,
  { child: key, launch }: Effect & { readonly type: 'prepare' },
): Promise<void> {
  const fail = (failure: PrepareFailure) =>
    context.post({ type: 'prepareFailed', child: key, attempt: launch.attempt, failure });
  const child = context.state().children[key];
  if (child === undefined) return;
  try {
    const planned = await plannedTask(context, key);
    const executor = planned?.plan.executors[child.task.chain[child.chosen]?.name ?? ''];
    const adapter = executor === undefined ? undefined : adapters[executor.adapter];
    if (planned === null || executor === undefined || adapter === undefined)
      return fail({ kind: 'setup', message: `batch.json of ${child.batch} cannot be read` });
    const program = await resolveProgram(context, executor, adapter);
    if (!program.ok) return fail({ kind: 'programMissing', message: sentences(program) });
    const env = resolveEnvironment(context.env, executor);
    if (!env.ok)
      return fail({
        kind: 'setup',
        message: `The environment variable ${env.missing} of executor "${executor.name}" is not set. Set it and resume.`,
      });
    const taken = launch.how === 'session' ? sessionHolder(context, child) : null;
    if (taken !== null) return fail({ kind: 'session', message: `Its session is in use by ${taken}` });
    if (!context.mayAct()) return;
    const place = await context.turns.run(`git ${key}`, () => findPlace(context, key));
    if (!context.mayAct()) return;
    if ('kind' in place) return fail(place);
    context.post({ type: 'prepared', child: key, attempt: launch.attempt, place });
  } catch (error) {
    if (!context.mayAct()) return;
    const disk = await isDiskFailing(context, error);
    if (context.mayAct()) fail({ kind: disk ? 'disk' : 'setup', message: messageOf(error) });
  }
}

/** The program of an executor: its own, or the first of its adapter's that is there. */
export async function resolveProgram(
  context: Pick<EffectContext, 'processes' | 'env'> & { readonly repository: { readonly topLevel: string } },
  executor: Executor,
  adapter: Adapter,
): ReturnType<EffectContext['processes']['resolve']> {
  if (executor.command[0] === undefined && adapter.needsNoProgram === true) return { ok: true, file: '' };
  const names = executor.command[0] === undefined ? adapter.programs : [executor.command[0]];
  const path = executor.env['PATH'] ?? context.env['PATH'];
  let first: Awaited<ReturnType<EffectContext['processes']['resolve']>> | null = null;
  for (const name of names) {
    const found = await context.processes.resolve(name, path, context.repository.topLevel);
    if (found.ok) return found;
    first ??= found;
  }
  return (
    first ?? {
      ok: false,
      message: `Executor "${executor.name}" names no program`,
      fix: 'Give it a command.',
    }
  );
}

/** One session must not be worked on by two processes at once: its history would be torn. */
function sessionHolder(context: EffectContext, child: Child): ChildKey | null {
  if (child.session === null) return null;
  for (const key of context.attempts.keys())
    if (key !== child.key && context.state().children[key]?.session === child.session) return key;
  return null;
}

async function findPlace(context: EffectContext, key: ChildKey): Promise<Place | PrepareFailure> {
  // Edits that are being moved out of the shared tree are moved before their child goes on.
  await context.turns.run(quarantineTurn(key), () => Promise.resolve());
  if (isBegun(context, key)) await quarantineChild(context, { type: 'quarantine', child: key });
  const child = context.state().children[key];
  const batch = child === undefined ? undefined : context.state().batches[child.batch];
  if (child === undefined || batch === undefined) return { kind: 'setup', message: `${key} is unknown` };
  if (batch.isolation === 'shared' && child.quarantine === null) {
    // Before it writes anything, what is there now must be known.
    await context.shared.wake();
    return { path: context.repository.topLevel, base: batch.base, inputs: [] };
  }
  // Without them it would begin again, and what lies in the tree would be nobody's.
  if (isBegun(context, key))
    return { kind: 'repository', message: 'Its edits could not be taken out of the tree; the log says why' };
  const own = worksAlone(context, child) ? child.worktree : null;
  if (own !== null) {
    const state = await context.git.worktreeState(context.repository, own.path);
    if (state === 'missing') return { kind: 'worktreeGone', message: `${own.path} is gone` };
    if (state === 'foreign')
      return { kind: 'worktreeGone', message: `${own.path} is not its worktree any more` };
  }
  const made = await context.git.ensureWorktree(
    context.repository,
    worktreeRequest(context, { ...child, worktree: own }, own?.base ?? batch.base),
  );
  return made.ok ? placeOf(made) : failureOf(made);
}

function isBegun(context: EffectContext, key: ChildKey): boolean {
  return context.state().children[key]?.quarantine?.state === 'moving';
}

export function failureOf(refusal: Refusal): PrepareFailure {
  const message = sentences(refusal);
  switch (refusal.code) {
    case 'noSpace':
      return { kind: 'disk', message };
    case 'setupFailed':
      return { kind: 'setup', message };
    default:
      return { kind: 'repository', message };
  }
}
