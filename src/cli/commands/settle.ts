import { CommandEnd, open, type OpenOptions } from '../environment.js';
import { exitCodes } from '../exitCodes.js';
import type { Screen } from '../output/reporter.js';
import { say } from '../output/say.js';
import { findTargets } from '../targets.js';
import { tellErrors } from './run.js';

export interface SettleOptions extends OpenOptions {
  readonly move: boolean;
  readonly keep: boolean;
}

/** `swarm settle`: what becomes of files that a quarantine left because several had written them. */
export async function settle(name: string, options: SettleOptions, screen: Screen): Promise<number> {
  if (options.move === options.keep)
    throw new CommandEnd(exitCodes.input, 'Say what becomes of the files: --move or --keep.');
  const supervisor = await open({ ...options, passive: true });
  try {
    const found = findTargets(supervisor.view(), name, false);
    if (!found.ok) throw new CommandEnd(exitCodes.input, found.message);
    const how = options.move ? 'move' : 'keep';
    const answer = await supervisor.request({ type: 'settleLeft', targets: [...found.targets], how });
    if (!answer.ok) {
      tellErrors(answer.errors, 'settle', options.json, screen);
      return answer.code;
    }
    await supervisor.settled();
    say(
      screen,
      options.json,
      options.move ? 'Moved to its worktree as it is.' : 'Kept in your tree as it is.',
    );
    return exitCodes.done;
  } finally {
    await supervisor.close({ stopAgents: false });
  }
}
