import type { CheckedChild, Answer, Request } from '../../protocol/request.js';
import type { BatchCheckView, CheckProblem } from '../../protocol/view.js';
import type { ChildKey, State } from '../core/state.js';
import type { ChildEdits, Edit } from '../ports/sharedTree.js';
import { redact } from '../verdict/redact.js';
import type { EffectContext } from './context.js';

/** Whose edits are in what is checked, whose are kept out of it, and whose were moved away before. */
export function checkedChildren(
  state: State,
  all: readonly ChildEdits[],
  half: readonly ChildKey[],
  live: (edits: readonly Edit[]) => readonly Edit[],
): readonly CheckedChild[] {
  return all.flatMap(({ child: key, edits }): readonly CheckedChild[] => {
    const child = state.children[key];
    if (child === undefined) return [];
    const { id, title } = child.task;
    const phase = child.phase.name;
    const files = [...new Set(live(edits).map((edit) => edit.path))];
    const where = half.includes(key) ? 'held' : 'tree';
    const moved = phase === 'succeeded' ? [] : (child.quarantine?.moved ?? []);
    return [
      ...(files.length === 0 ? [] : [{ id, title, phase, where, files } as const]),
      ...(moved.length === 0 ? [] : [{ id, title, phase, where: 'own', files: moved } as const]),
    ];
  });
}

/** Which errors lie in files that a child has written, by the ledger; the others are the tree's own. */
export function errorsByWriter(
  errors: readonly { readonly path: string }[],
  children: readonly CheckedChild[],
): Pick<BatchCheckView, 'errorsByChild'> & { readonly errorsInTree?: number } {
  if (children.length === 0) return { errorsByChild: [] };
  const counts = new Map<string, { id: string; title: string; errors: number }>();
  let own = 0;
  for (const { path } of errors) {
    const writers = children.filter(({ where, files }) => where === 'tree' && files.includes(path));
    if (writers.length === 0) own++;
    for (const { id, title } of writers)
      counts.set(id, { id, title, errors: (counts.get(id)?.errors ?? 0) + 1 });
  }
  return errors.length === 0
    ? { errorsByChild: [] }
    : { errorsByChild: [...counts.values()], errorsInTree: own };
}

interface CheckError {
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
  readonly message?: string;
}

const mostProblems = 50;
const longestProblem = 400;

/** Those that say where they are, with whose file that is. */
function problemsOf(
  errors: readonly CheckError[],
  children: readonly CheckedChild[],
): readonly CheckProblem[] {
  return errors
    .flatMap(({ path, line, column, message }) => {
      if (line === undefined || column === undefined || message === undefined) return [];
      const of = children
        .filter(({ where, files }) => where === 'tree' && files.includes(path))
        .map(({ title }) => title);
      return [{ path, line, column, message: redact(message).slice(0, longestProblem), of }];
    })
    .slice(0, mostProblems);
}

/** What a check came to, as it is shown; with whose errors they are where children share the tree. */
export function checkView(
  context: Pick<EffectContext, 'clock'>,
  command: string,
  outcome: {
    readonly exitCode: number;
    readonly tree: string;
    readonly errors: readonly CheckError[];
    readonly notRun?: string;
  },
  children: readonly CheckedChild[] = [],
): BatchCheckView {
  // A check that fails without a message we can read has failed all the same.
  const problems = problemsOf(outcome.errors, children);
  const errors = Math.max(outcome.errors.length, outcome.exitCode === 0 ? 0 : 1);
  return {
    state: outcome.notRun !== undefined ? 'broken' : outcome.exitCode === 0 ? 'green' : 'red',
    command,
    errors,
    errorsInTree: errors,
    tree: outcome.tree.slice(0, 7),
    at: new Date(context.clock.now()).toISOString(),
    stale: false,
    ...(problems.length === 0 ? {} : { problems }),
    ...errorsByWriter(outcome.errors, children),
  };
}

/** A check that somebody else ran becomes the last one of the batches whose children share the tree. */
export async function noteCheck(
  context: EffectContext,
  ended: Request & { readonly type: 'checkEnded' },
): Promise<Answer> {
  const { command, exitCode, tree } = ended;
  const errors = ended.errors.map((path) => ({ path }));
  const check = checkView(context, command, { exitCode, tree, errors }, await context.shared.children());
  for (const batch of Object.values(context.state().batches))
    if (batch.isolation === 'shared') context.post({ type: 'checked', batch: batch.id, check, children: [] });
  return { ok: true };
}
