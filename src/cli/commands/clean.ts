import { createInterface } from 'node:readline/promises';
import { open, type OpenOptions } from '../environment.js';
import { exitCodes } from '../exitCodes.js';
import type { Screen } from '../output/reporter.js';
import { tellErrors } from './run.js';

/** `swarm clean`: removes worktrees whose work is applied or saved; asks first on a terminal. */
export async function clean(
  options: OpenOptions & { readonly dry: boolean; readonly yes: boolean },
  screen: Screen,
): Promise<number> {
  const supervisor = await open({ ...options, passive: true });
  try {
    const plan = await supervisor.request({ type: 'clean', dry: true });
    if (!plan.ok) {
      tellErrors(plan.errors, 'clean', options.json, screen);
      return plan.code;
    }
    const removed = plan.removed ?? [];
    const bytes = removed.reduce((sum, one) => sum + one.bytes, 0);
    const say = (value: Record<string, unknown>, text: string): void =>
      screen.write(
        (options.json
          ? JSON.stringify({ t: new Date().toISOString(), type: 'message', message: text, ...value })
          : text) + '\n',
      );
    for (const one of removed)
      say(
        { remove: one.path, bytes: one.bytes, dry: options.dry },
        `${options.dry ? 'would remove' : 'remove'}  ${one.path}  ${megabytes(one.bytes)}`,
      );
    for (const one of plan.kept ?? [])
      say({ keep: one.path, why: one.why }, `keep    ${one.path}  ${one.why}`);
    if (removed.length === 0) say({}, 'Nothing to remove.');
    if (options.dry || removed.length === 0) return exitCodes.done;
    if (
      !options.yes &&
      screen.isTTY &&
      !options.json &&
      !(await agreed(`Remove ${removed.length} worktrees (${megabytes(bytes)})? [y/N] `))
    )
      return exitCodes.done;
    const answer = await supervisor.request({ type: 'clean', dry: false });
    if (answer.ok) return exitCodes.done;
    tellErrors(answer.errors, 'clean', options.json, screen);
    return answer.code;
  } finally {
    await supervisor.close({ stopAgents: false });
  }
}

async function agreed(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await lines.question(question);
  lines.close();
  return /^y(es)?$/i.test(answer.trim());
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
