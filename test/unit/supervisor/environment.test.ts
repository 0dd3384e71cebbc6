import { expect, test } from 'vitest';
import type { Executor } from '../../../src/supervisor/agents/agent.js';
import { childEnvironment, cleanEnvironment } from '../../../src/supervisor/effects/environment.js';

const executor: Executor = {
  name: 'mine',
  adapter: 'claude',
  command: [],
  args: [],
  env: { KEY: '${env:SECRET}', BOTH: 'a-${env:SECRET}-b', PLAIN: 'x', ELECTRON_RUN_AS_NODE: '1' },
  model: null,
  credential: 'claude',
  permissions: 'edit',
};
const identity = { batch: 'b', child: 'c', attempt: 2, nonce: 'n' };

test('what an editor, an agent or a package script left behind does not reach a child', () => {
  const kept = {
    PATH: '/bin',
    HOME: '/h',
    LANG: 'C',
    CLAUDE_CONFIG_DIR: '/c',
    ANTHROPIC_API_KEY: 'k',
    CODEX_HOME: '/x',
    HTTPS_PROXY: 'p',
    CLAUDE_CODE_OAUTH_TOKEN: 't',
    GIT_SSH_COMMAND: 'ssh',
  };
  const left = {
    VSCODE_IPC_HOOK: '1',
    ELECTRON_RUN_AS_NODE: '1',
    CLAUDECODE: '1',
    CLAUDE_CODE_ENTRYPOINT: 'cli',
    CLAUDE_CODE_SSE_PORT: '1',
    GIT_DIR: '/r/.git',
    GIT_INDEX_FILE: 'i',
    GIT_ASKPASS: 'a',
    NODE_OPTIONS: '--inspect',
    npm_config_registry: 'r',
    SWARM_TOKEN: 't',
    SWARM_NONCE: 'other',
    LD_PRELOAD: 'l',
  };
  expect(cleanEnvironment({ ...kept, ...left, NOTHING: undefined })).toEqual(kept);
});

test('the executor’s own words win over the adapter’s, and the attempt’s names over everything', () => {
  const made = childEnvironment(
    { PATH: '/bin', SECRET: 's', SWARM_CHILD: 'outer', ELECTRON_RUN_AS_NODE: '0' },
    { file: 'claude', args: [], env: { PLAIN: 'from adapter', RETRIES: '0' }, stdin: 'none' },
    executor,
    identity,
  );
  expect(made).toEqual({
    ok: true,
    env: {
      PATH: '/bin',
      SECRET: 's',
      KEY: 's',
      BOTH: 'a-s-b',
      PLAIN: 'x',
      RETRIES: '0',
      ELECTRON_RUN_AS_NODE: '1',
      SWARM_BATCH: 'b',
      SWARM_CHILD: 'c',
      SWARM_ATTEMPT: '2',
      SWARM_NONCE: 'n',
    },
  });
});

test('a variable that is not set is named', () => {
  const line = { file: 'claude', args: [], env: {}, stdin: 'none' } as const;
  expect(childEnvironment({ PATH: '/bin' }, line, executor, identity)).toEqual({
    ok: false,
    missing: 'SECRET',
  });
});
