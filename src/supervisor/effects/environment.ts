import type { CommandLine, Executor } from '../agents/agent.js';
import { resolveValue } from '../manifest/executors.js';

/** What an attempt is called in its own environment. */
export interface AttemptIdentity {
  readonly batch: string;
  readonly child: string;
  readonly attempt: number;
  readonly nonce: string;
}

/**
 * A child's whole environment: the person's, cleaned; the adapter's defaults; the executor's own; the attempt's names.
 * Fails with the name of a variable that the executor refers to and that is not set.
 */
export function childEnvironment(
  surroundings: Readonly<Record<string, string | undefined>>,
  line: CommandLine,
  executor: Executor,
  identity: AttemptIdentity,
):
  | { readonly ok: true; readonly env: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly missing: string } {
  const resolved = resolveEnvironment(surroundings, executor);
  if (!resolved.ok) return resolved;
  return {
    ok: true,
    env: {
      ...cleanEnvironment(surroundings),
      ...line.env,
      ...resolved.env,
      SWARM_BATCH: identity.batch,
      SWARM_CHILD: identity.child,
      SWARM_ATTEMPT: String(identity.attempt),
      SWARM_NONCE: identity.nonce,
    },
  };
}

/** The executor's own variables with their references resolved. */
export function resolveEnvironment(
  surroundings: Readonly<Record<string, string | undefined>>,
  executor: Executor,
):
  | { readonly ok: true; readonly env: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly missing: string } {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(executor.env)) {
    const resolved = resolveValue(value, surroundings);
    if (!resolved.ok) return resolved;
    env[name] = resolved.value;
  }
  return { ok: true, env };
}

/**
 * Left by an editor, an agent or a package script that started us. They would tie a child to the wrong window,
 * session or repository, or hand it our own tokens.
 */
const leftovers: readonly RegExp[] = [
  /^SWARM_/,
  /^VSCODE_/,
  /^ELECTRON_/,
  /^CHROME_DESKTOP$/,
  /^CLAUDECODE$/,
  /^CLAUDE_CODE_(ENTRYPOINT|SSE_PORT|SESSION|SESSION_ID|REMOTE.*|CONTAINER.*|EXECPATH|CHILD_SESSION|AGENT.*)$/,
  /^CLAUDE_(AGENT_SDK_VERSION|PID|SESSION_ID|EFFORT|ENV_FILE|PROJECT_DIR|PLUGIN_.*)$/,
  /^AI_AGENT$/,
  /^CODEX_(SANDBOX.*|THREAD_ID|SESSION.*|CI|INTERNAL_.*|MANAGED_.*)$/,
  /^KIMI_(SESSION.*|CODE_SESSION.*)$/,
  /^GEMINI_CLI$/,
  /^CURSOR_(TRACE_ID|AGENT|SESSION.*)$/,
  /^OPENCODE(_PID|_SESSION.*)?$/,
  /^GIT_(?!SSH|AUTHOR_|COMMITTER_|SSL_|PROXY_|HTTP_|TERMINAL_PROMPT|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM))/,
  /^(npm_|NPM_PACKAGE_|INIT_CWD$|VITEST|JEST_WORKER_ID$|MOCHA_)/,
  /^NODE_(OPTIONS|INSPECT_.*|CHANNEL_FD|CHANNEL_SERIALIZATION_MODE|UNIQUE_ID|TEST_CONTEXT)$/,
  /^(LD_PRELOAD|DYLD_INSERT_LIBRARIES|BASH_ENV|ENV|PROMPT_COMMAND)$/,
  /^(TERM_PROGRAM|TERM_PROGRAM_VERSION|FORCE_COLOR|COLORTERM)$/,
];

/** The person's environment without what belongs to us or to whoever started us. Accounts and keys of agents stay. */
export function cleanEnvironment(
  surroundings: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(surroundings))
    if (value !== undefined && !leftovers.some((pattern) => pattern.test(name))) kept[name] = value;
  return kept;
}
