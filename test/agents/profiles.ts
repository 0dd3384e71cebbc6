import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Executor } from '../../src/supervisor/agents/agent.js';
import { agentPrograms } from '../../scripts/agents.mjs';

export type RealAgent = 'claude' | 'codex' | 'kimi';

export const realAgents: readonly RealAgent[] = ['claude', 'codex', 'kimi'];

/** An executor profile as a manifest's `executors` or the settings hold it. */
export interface ExecutorProfile {
  readonly adapter: RealAgent;
  readonly command: string[];
  readonly args: string[];
  readonly env: Record<string, string>;
}

export interface ProfileOptions {
  /** Address of the loopback provider. */
  readonly url: string;
  /** A private folder: home, configuration and sessions of the agent. Not below the system's temporary folder for codex' sake is nicer, but no must. */
  readonly home: string;
  /** The fake key or token that pays; children with the same one share an account. */
  readonly key?: string;
}

/** How the tests run a real agent against the loopback provider: pinned program, private home, fake key, no telemetry. */
export async function agentProfile(agent: RealAgent, options: ProfileOptions): Promise<ExecutorProfile> {
  const programs = await agentPrograms();
  const temporary = path.join(options.home, 'tmp');
  mkdirSync(temporary, { recursive: true });
  const env = { HOME: options.home, TMPDIR: temporary, TERM: 'dumb' };
  switch (agent) {
    case 'claude':
      return {
        adapter: agent,
        command: programs.claude,
        args: [],
        env: {
          ...env,
          ANTHROPIC_BASE_URL: options.url,
          // The form of a subscription's token: only with it does Claude Code tell a reset.
          CLAUDE_CODE_OAUTH_TOKEN: options.key ?? 'sk-ant-oat01-fake-fake-fake',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          DISABLE_TELEMETRY: '1',
          DISABLE_ERROR_REPORTING: '1',
        },
      };
    case 'codex': {
      const home = path.join(options.home, '.codex');
      mkdirSync(home, { recursive: true });
      return {
        adapter: agent,
        command: programs.codex,
        args: [
          'model="gpt-5.5"',
          'model_provider="loopback"',
          'model_providers.loopback.name="loopback"',
          `model_providers.loopback.base_url="${options.url}/v1"`,
          'model_providers.loopback.env_key="LOOPBACK_KEY"',
          'model_providers.loopback.wire_api="responses"',
          'analytics.enabled=false',
        ].flatMap((setting) => ['-c', setting]),
        env: { ...env, CODEX_HOME: home, LOOPBACK_KEY: options.key ?? 'sk-fake' },
      };
    }
    case 'kimi':
      return {
        adapter: agent,
        command: programs.kimi,
        args: [],
        env: {
          ...env,
          KIMI_CODE_HOME: path.join(options.home, '.kimi-code'),
          KIMI_MODEL_NAME: 'kimi-fake',
          KIMI_MODEL_API_KEY: options.key ?? 'sk-fake',
          KIMI_MODEL_BASE_URL: `${options.url}/v1`,
          KIMI_MODEL_PROVIDER_TYPE: 'kimi',
          KIMI_DISABLE_TELEMETRY: '1',
        },
      };
    default:
      return agent satisfies never;
  }
}

/** The profile as the merged executor that adapters take. */
export function executorOf(profile: ExecutorProfile, changes: Partial<Executor> = {}): Executor {
  return {
    name: profile.adapter,
    adapter: profile.adapter,
    command: profile.command,
    args: profile.args,
    env: profile.env,
    model: null,
    credential: profile.adapter,
    permissions: 'edit',
    ...changes,
  };
}
