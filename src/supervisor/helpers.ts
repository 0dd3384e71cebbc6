import { join } from 'node:path';
import type { HelperName } from './agents/agent.js';
import type { OwnProgram } from './api.js';

/**
 * The helpers as they ship in `dist`, run by the Node.js that runs us. Inside VS Code that is Electron, which the
 * variable turns into Node.js; a helper takes it away again from what it starts.
 */
export function helperPrograms(dist: string): Readonly<Record<HelperName, OwnProgram>> {
  const env: Readonly<Record<string, string>> = process.versions['electron']
    ? { ELECTRON_RUN_AS_NODE: '1' }
    : {};
  const program = (name: HelperName): OwnProgram => ({
    file: process.execPath,
    args: [join(dist, `${name}.js`)],
    env,
  });
  return { acp: program('acp'), local: program('local') };
}
