import { childPlace } from '../../protocol/places.js';
import type { BatchCheckView, ChildCheckView } from '../../protocol/view.js';
import { plainText } from '../../protocol/plainText.js';
import { parseChildKey } from '../core/keys.js';
import type { Effect } from '../core/effect.js';
import type { Batch, Child, ChildKey } from '../core/state.js';
import type { ApplyPlan, CheckCommand, ChildWork } from '../ports.js';
import { redact } from '../verdict/redact.js';
import { checkView } from './checkedChildren.js';
import { messageOf, sentences, type EffectContext } from './context.js';
import { workOf } from './forecasts.js';
import { checkInTree } from './inTree.js';
import { scratchFolder } from './places.js';
import { snapshotChild } from './snapshots.js';

/** Brings finished children into the user's tree; what a crash cut in the middle is ended first. */
export async function applyWork(
  context: EffectContext,
  { batch: id, children }: Effect & { readonly type: 'apply' },
): Promise<void> {
  await context.turns.run('tree', async () => {
    try {
      const batch = context.state().batches[id];
      if (batch === undefined || !context.mayAct()) return;
      if (batch.writing !== null && !(await endWriting(context, batch))) return;
      const open = children.filter((key) => context.state().children[key]?.applied.state === 'applying');
      if (open.length > 0 && context.mayAct()) await applyOpen(context, id, open);
    } catch (error) {
      if (!context.mayAct()) return;
      context.log.warn(`${id}: it could not be applied: ${messageOf(error)}`);
      context.post({
        ...nothingApplied(children),
        message: `It could not be applied: ${messageOf(error)}`,
      });
    }
  });
}

async function endWriting(context: EffectContext, batch: Batch): Promise<boolean> {
  const { writing } = batch;
  if (writing === null) return true;
  const ids = writing.children.map((key) => parseChildKey(key).id);
  const plan: ApplyPlan = { ...writing, children: ids };
  const ended = await context.shared.ourWrite(() => context.git.finishApply(context.repository, plan));
  if (!context.mayAct()) return false;
  if (ended.left.length > 0)
    context.log.warn(`An interrupted apply is ended; changed since, so left: ${ended.left.join(', ')}`);
  return context.postDurably({
    ...nothingApplied(writing.children),
    applied: writing.children,
    message: null,
  });
}

async function applyOpen(context: EffectContext, id: string, wanted: readonly ChildKey[]): Promise<void> {
  const keys: ChildKey[] = [];
  for (const key of wanted) {
    const captured = await snapshotChild(context, key);
    if (!context.mayAct()) return;
    // Without its newest edits it must not count as applied; the others need not wait for it.
    if (captured) keys.push(key);
    else
      context.post({
        ...nothingApplied([key]),
        message:
          context.state().children[key]?.worktree === null
            ? 'Its worktree is gone. Apply it again to bring in its last snapshot.'
            : 'Its work could not be captured. Look at its worktree.',
      });
  }
  if (keys.length === 0) return;
  const batch = context.state().batches[id];
  const children = keys.flatMap((key) => context.state().children[key] ?? []);
  if (batch === undefined) return;
  const [idle, works] = split(children);
  const outcome =
    works.length === 0
      ? null
      : await context.shared.ourWrite(() =>
          context.git.apply(context.repository, {
            children: works,
            check: checkCommand(batch),
            mode: context.settings.apply,
            label: labelOf(context, batch, children),
            scratch: scratchFolder(context),
            beforeWrite: async (plan) => {
              const noted = await context.postDurably({
                type: 'applyWriting',
                batch: id,
                children: plan.children.map((child) => `${id}/${child}`),
                from: plan.from,
                to: plan.to,
                paths: plan.paths,
                ...(plan.commit === undefined ? {} : { commit: plan.commit }),
              });
              if (!noted || !context.mayAct()) throw new Error('this owner may not act any more');
            },
          }),
        );
  if (!context.mayAct()) return;
  const inTree = await checkInTree(context, batch, children);
  if (!context.mayAct()) return;
  const redInTree = new Set(inTree?.red.map(({ child }) => child));
  for (const child of redInTree)
    await keepOutput(context, id, parseChildKey(child).id, inTree?.outcome.output ?? '');
  if (!context.mayAct()) return;
  const keyOf = (child: string) => `${id}/${child}`;
  for (const { id: child, output } of outcome?.red ?? []) await keepOutput(context, id, child, output);
  if (!context.mayAct()) return;
  const refused = outcome?.refusal ?? null;
  context.post({
    type: 'applyEnded',
    children: keys,
    applied: [
      ...(refused === null ? idle.filter((key) => !redInTree.has(key)) : []),
      ...(outcome?.applied ?? []).map(keyOf),
    ],
    conflicts: (outcome?.conflicts ?? []).map((each) => ({ child: keyOf(each.id), with: each.with })),
    red: [
      ...(outcome?.red ?? []).map((each) => ({ child: keyOf(each.id), errors: each.errors })),
      ...(inTree?.red ?? []),
    ],
    message: refused === null ? null : sentences(refused),
  });
  if (outcome !== null && outcome.check !== null)
    context.post({
      type: 'checked',
      batch: id,
      check: checkView(context, (batch.check ?? []).join(' '), outcome.check),
      children: outcome.red.map((each) => ({
        child: keyOf(each.id),
        check: childCheckView(context, each),
      })),
    });
}

/** For whoever corrects it: the child, when its work is given back. */
async function keepOutput(
  context: EffectContext,
  batch: string,
  child: string,
  output: string,
): Promise<void> {
  try {
    await context.store.write(
      `${childPlace(batch, child)}/check.txt`,
      redact(plainText(output)).slice(-64 * 1024),
    );
  } catch (error) {
    if (context.mayAct()) context.log.warn(`check.txt of ${child} not written: ${messageOf(error)}`);
  }
}

/** Without a change there is nothing to merge, and it is applied; not so where its change could not be captured. */
function split(children: readonly Child[]): readonly [readonly ChildKey[], readonly ChildWork[]] {
  const idle = children
    .filter((child) => child.snapshot === null && child.uncaptured === undefined)
    .map((child) => child.key);
  return [idle, children.flatMap((child) => workOf(child, child.task.id))];
}

function labelOf(context: EffectContext, batch: Batch, children: readonly Child[]): string {
  const [only] = children;
  if (context.settings.apply === 'branch')
    return `swarm/${batch.id}${children.length === 1 && only !== undefined ? `-${only.task.id}` : ''}`;
  return children.length === 1 && only !== undefined ? only.task.title : batch.name;
}

function checkCommand(batch: Batch): CheckCommand | null {
  return batch.check === null ? null : { command: batch.check, folder: '.' };
}

function nothingApplied(children: readonly ChildKey[]) {
  return { type: 'applyEnded', children, applied: [], conflicts: [], red: [] } as const;
}

/** Runs the batch's check on the user's tree as it is. */
export async function checkTree(
  context: EffectContext,
  { batch: id }: Effect & { readonly type: 'check' },
): Promise<void> {
  await context.turns.run('tree', async () => {
    const batch = context.state().batches[id];
    const check = batch === undefined ? null : checkCommand(batch);
    if (check === null || !context.mayAct()) return;
    const started: BatchCheckView = {
      state: 'running',
      command: check.command.join(' '),
      errors: 0,
      errorsInTree: 0,
      errorsByChild: [],
      tree: '',
      at: new Date(context.clock.now()).toISOString(),
      stale: false,
    };
    context.post({ type: 'checked', batch: id, check: started, children: [] });
    const broken = (message: string) => {
      context.log.error(`The check could not run: ${message}`);
      context.post({ type: 'checked', batch: id, check: { ...started, state: 'broken' }, children: [] });
    };
    try {
      const { outcome, children } =
        batch?.isolation === 'shared'
          ? await context.shared.check(check, id)
          : {
              outcome: await context.git.check(context.repository, {
                check,
                on: { kind: 'tree' },
                onOutput: null,
              }),
              children: [],
            };
      if (!context.mayAct()) return;
      if (outcome.notRun !== undefined) return broken(outcome.notRun);
      context.post({
        type: 'checked',
        batch: id,
        check: checkView(context, check.command.join(' '), outcome, children),
        children: [],
      });
    } catch (error) {
      if (context.mayAct()) broken(messageOf(error));
    }
  });
}

function childCheckView(
  context: EffectContext,
  red: { readonly errors: number; readonly tree: string },
): ChildCheckView {
  return {
    state: 'red',
    errors: red.errors,
    tree: red.tree.slice(0, 7),
    stale: false,
    at: new Date(context.clock.now()).toISOString(),
  };
}
