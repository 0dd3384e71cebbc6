import type { Answer } from '../../protocol/request.js';
import { agreed } from '../agreed.js';
import { open, type OpenOptions } from '../environment.js';
import { exitCodes } from '../exitCodes.js';
import type { Screen } from '../output/reporter.js';
import { say } from '../output/say.js';
import { megabytes } from '../output/size.js';
import { tellErrors } from './run.js';

type Done = Extract<Answer, { readonly ok: true }>;

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
    const ask = !options.yes && screen.isTTY && !options.json;
    if (options.dry || ask || (plan.removed ?? []).length === 0) tell(plan, true, options.json, screen);
    const removed = plan.removed ?? [];
    const bytes = removed.reduce((sum, one) => sum + one.bytes, 0);
    if (options.dry || removed.length === 0) return exitCodes.done;
    if (ask && !(await agreed(`Remove ${removed.length} worktrees (${megabytes(bytes)})? [y/N] `)))
      return exitCodes.done;
    const answer = await supervisor.request({ type: 'clean', dry: false });
    if (answer.ok) {
      tell(answer, false, options.json, screen);
      return exitCodes.done;
    }
    tellErrors(answer.errors, 'clean', options.json, screen);
    return answer.code;
  } finally {
    await supervisor.close({ stopAgents: false });
  }
}

/** What would be done, or what was: a worktree may turn out to hold something that is nowhere else. */
function tell(answer: Done, dry: boolean, json: boolean, screen: Screen): void {
  const removed = answer.removed ?? [];
  for (const { path, bytes } of removed) {
    const text = `${dry ? 'would remove' : 'removed'}  ${path}  ${megabytes(bytes)}`;
    say(screen, json, text, { remove: path, bytes, dry });
  }
  for (const { path, why } of answer.kept ?? [])
    say(screen, json, `keep    ${path}  ${why}`, { keep: path, why });
  if (removed.length === 0) say(screen, json, 'Nothing to remove.');
}
