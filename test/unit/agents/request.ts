import type { Executor, LaunchRequest } from '../../../src/supervisor/agents/agent.js';

/** An executor of the given adapter with nothing set. */
export function executor(adapter: string, changes: Partial<Executor> = {}): Executor {
  return {
    name: adapter,
    adapter,
    command: [],
    args: [],
    env: {},
    model: null,
    credential: adapter,
    permissions: 'edit',
    ...changes,
  };
}

/** A launch request with every field set. */
export function request(by: Executor, changes: Partial<LaunchRequest> = {}): LaunchRequest {
  return {
    executor: by,
    folder: '/repo.worktrees/b1/t1',
    prompt: 'Write hello.txt',
    promptFile: '/repo/.swarm/batches/b1/children/t1/attempts/1/prompt.md',
    checkpointFile: '/repo/.swarm/batches/b1/children/t1/checkpoint.md',
    newSessionId: '3f0c1f0e-0000-4000-8000-000000000001',
    check: ['npx', 'tsc', '--noEmit'],
    ...changes,
  };
}
