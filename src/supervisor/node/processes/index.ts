import type { ProcessId } from '../../core/state.js';
import type { Processes } from '../../ports.js';
import { findAttempt, isSame } from './attemptFiles.js';
import { Followers } from './follow.js';
import { killTree } from './killTree.js';
import { listProcesses, nonceCarriers } from './processTable.js';
import { resolveProgram } from './resolve.js';
import { startAttempt } from './start.js';

/** The machine's processes. */
export function createProcesses(): Processes {
  const followers = new Followers();
  return {
    start: startAttempt,
    find: findAttempt,
    follow: (request) => followers.follow(request),
    ask: askToStop,
    kill: killTree,
    survivors: async (nonces) => {
      const { found } = await nonceCarriers(await listProcesses(), new Set(nonces));
      return [...found].map(([pid, nonce]) => ({ pid, nonce }));
    },
    resolve: resolveProgram,
  };
}

async function askToStop(target: ProcessId, signal: 'SIGTERM' | 'SIGINT'): Promise<boolean> {
  if (!(await isSame(target))) return false;
  try {
    // The runner leads the group and stays; the agent and the launchers in between get the signal.
    process.kill(process.platform === 'win32' ? target.pid : -target.pid, signal);
    return true;
  } catch {
    return false;
  }
}
