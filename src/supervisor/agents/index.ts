import type { Adapter } from './agent.js';
import { claude } from './claude.js';
import { codex } from './codex.js';
import { command } from './command.js';
import { demo } from './demo.js';
import { kimi } from './kimi.js';

/** All agent kinds by name. */
export const adapters: Readonly<Record<string, Adapter>> = { claude, codex, kimi, command, demo };
