import type { Adapter, CommandLine, LaunchRequest } from './agent.js';
import { lineProtocolParser, programLine } from './command.js';

/**
 * No model, no account: the executor's program is run, or without one the plan that the task is. Our helper does it.
 * It has no session: a plan goes on by what it has written down beside the checkpoint.
 */
export const local: Adapter = {
  name: 'local',
  programs: [],
  traits: { sessionId: 'printed', stopSignal: 'SIGTERM', resumeElsewhere: 'new', silentFor: 0 },
  needsNoProgram: true,
  signIn: null,
  credentialFiles: [],
  commandLine: line,
  resumeLine: () => null,
  parser: lineProtocolParser,
};

function line(request: LaunchRequest): CommandLine {
  const check = request.check === null ? [] : ['--check', JSON.stringify(request.check)];
  return {
    ...programLine(request, [], {}),
    helper: { name: 'local', args: ['--permissions', request.executor.permissions, ...check] },
  };
}
