import type { Adapter } from './agent.js';
import { command } from './command.js';

/**
 * The demonstration agent: a script of ours that works on real files and speaks the line protocol.
 * Which Node and which script run it is the executor's `command`.
 */
export const demo: Adapter = { ...command, name: 'demo' };
