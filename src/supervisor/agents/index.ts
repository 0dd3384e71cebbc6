import { acp } from './acp.js';
import type { Adapter } from './agent.js';
import { claude } from './claude.js';
import { codex } from './codex.js';
import { command } from './command.js';
import { copilot } from './copilot.js';
import { cursor } from './cursor.js';
import { demo } from './demo.js';
import { gemini } from './gemini.js';
import { kimi } from './kimi.js';
import { local } from './local.js';
import { opencode } from './opencode.js';
import { qwen } from './qwen.js';

/** All agent kinds by name. */
export const adapters: Readonly<Record<string, Adapter>> = {
  claude,
  codex,
  kimi,
  gemini,
  qwen,
  opencode,
  copilot,
  cursor,
  acp,
  command,
  local,
  demo,
};
