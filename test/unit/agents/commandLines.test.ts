import { describe, expect, it } from 'vitest';
import type { Adapter } from '../../../src/supervisor/agents/agent.js';
import { adapters } from '../../../src/supervisor/agents/index.js';
import { executor, request } from './request.js';

const adapter = (name: string): Adapter => {
  const found = adapters[name];
  if (found === undefined) throw new Error(`no adapter ${name}`);
  return found;
};

describe('claude', () => {
  it('starts with the chosen session id, edits allowed, the check allowed, its own retries capped', () => {
    expect(
      adapter('claude').commandLine(request(executor('claude', { model: 'opus', args: ['--x'] }))),
    ).toEqual({
      file: 'claude',
      args: [
        '-p',
        ...['--output-format', 'stream-json', '--verbose'],
        ...['--allowedTools', 'Bash(npx tsc --noEmit)', 'Bash(npx tsc --noEmit *)'],
        ...['--disallowedTools', 'EnterWorktree'],
        ...['--permission-mode', 'acceptEdits', '--permission-prompts', 'none'],
        ...['--model', 'opus'],
        ...['--session-id', '3f0c1f0e-0000-4000-8000-000000000001'],
        '--x',
      ],
      env: { CLAUDE_CODE_MAX_RETRIES: '2', DISABLE_AUTOUPDATER: '1' },
      stdin: 'prompt',
    });
  });

  it('resumes by id and chooses no new one', () => {
    const args = adapter('claude').resumeLine(request(executor('claude')), 'abc')?.args ?? [];
    expect(args.slice(args.indexOf('--resume'))).toEqual(['--resume', 'abc']);
    expect(args).not.toContain('--session-id');
  });

  it('bypasses permissions only with full', () => {
    const args = adapter('claude').commandLine(request(executor('claude', { permissions: 'full' }))).args;
    expect(args).toContain('bypassPermissions');
    expect(args).not.toContain('acceptEdits');
  });

  it('names no check that would need quoting in a permission rule', () => {
    const args = adapter('claude').commandLine(
      request(executor('claude'), { check: ['sh', '-c', 'a) && rm -rf .'] }),
    ).args;
    expect(args).not.toContain('--allowedTools');
  });
});

describe('codex', () => {
  it('runs in its sandbox without questions, the prompt on stdin', () => {
    expect(adapter('codex').commandLine(request(executor('codex')))).toEqual({
      file: 'codex',
      args: [
        ...[
          'exec',
          '--json',
          '--skip-git-repo-check',
          '--sandbox',
          'workspace-write',
          '-c',
          'approval_policy="never"',
        ],
        ...['-C', '/repo.worktrees/b1/t1', '-c', 'check_for_update_on_startup=false', '-'],
      ],
      env: {},
      stdin: 'prompt',
    });
  });

  it('puts all options before resume, the id and the prompt after it', () => {
    const line = adapter('codex').resumeLine(request(executor('codex', { args: ['-c', 'x=1'] })), 'abc');
    expect(line?.args.slice(-5)).toEqual(['-c', 'x=1', 'resume', 'abc', '-']);
  });

  it('caps the retries of the provider that the executor configures, and of no other', () => {
    const args = [
      '-c',
      'model_provider="fake"',
      '-c',
      'model_providers.fake.base_url="http://127.0.0.1:1/v1"',
    ];
    expect(adapter('codex').commandLine(request(executor('codex', { args }))).args).toContain(
      'model_providers.fake.stream_max_retries=1',
    );
    const builtIn = adapter('codex').commandLine(
      request(executor('codex', { args: ['-c', 'model_provider="openai"'] })),
    );
    expect(builtIn.args.join(' ')).not.toContain('max_retries');
  });
});

describe('kimi', () => {
  it('takes the prompt as an argument and tries each step once', () => {
    const line = adapter('kimi').resumeLine(request(executor('kimi')), 'session_1');
    expect(line).toEqual({
      file: 'kimi',
      args: ['--session', 'session_1', '-p', 'Write hello.txt', '--output-format', 'stream-json'],
      env: { KIMI_LOOP_MAX_ATTEMPTS_PER_STEP: '1', KIMI_CODE_NO_AUTO_UPDATE: '1' },
      stdin: 'none',
    });
  });

  it('is pointed to the prompt file where the prompt is too long for an argument or looks like an option', () => {
    for (const prompt of ['ä'.repeat(50 * 1024), '--help']) {
      const args = adapter('kimi').commandLine(request(executor('kimi'), { prompt })).args;
      expect(args[args.indexOf('-p') + 1]).toContain('/attempts/1/prompt.md');
    }
  });

  it('finds the newest session of a folder in its index, and nobody else’s', () => {
    const index = adapter('kimi').sessionIndex;
    const entry = (sessionId: string, workDir: string) =>
      JSON.stringify({ sessionId, sessionDir: '/s', workDir });
    const text = [
      entry('session_a', '/w/t1'),
      entry('session_b', '/w/t2'),
      entry('session_c', '/w/t1/'),
      '{"sessionId":"torn',
    ].join('\n');
    expect(index?.find(text, '/w/t1', 0)).toBe('session_c');
    expect(index?.find(text, '/w/t2/', 0)).toBe('session_b');
    expect(index?.find(text, '/w', 0)).toBe(null);
    expect(index?.file({ KIMI_CODE_HOME: '/k', HOME: '/h' })).toBe('/k/session_index.jsonl');
    expect(index?.file({ HOME: '/h' })).toBe('/h/.kimi-code/session_index.jsonl');
  });
});

describe('command', () => {
  const program = executor('command', { command: ['node', 'agent.mjs'], args: ['--fast'] });

  it('runs the program as it is and tells it where prompt and checkpoint are', () => {
    expect(adapter('command').commandLine(request(program))).toEqual({
      file: 'node',
      args: ['agent.mjs', '--fast'],
      env: {
        SWARM_PROMPT_FILE: '/repo/.swarm/batches/b1/children/t1/attempts/1/prompt.md',
        SWARM_CHECKPOINT: '/repo/.swarm/batches/b1/children/t1/checkpoint.md',
      },
      stdin: 'none',
    });
  });

  it('tells the session on a resume', () => {
    expect(adapter('command').resumeLine(request(program), 's1')?.env['SWARM_SESSION']).toBe('s1');
  });
});

describe('cursor', () => {
  it('prints its stream, edits without questions, and keeps commands in its sandbox', () => {
    const by = executor('cursor', { model: 'gpt-5', args: ['--approve-mcps'] });
    expect(adapter('cursor').resumeLine(request(by), 'chat-1')).toEqual({
      file: 'cursor-agent',
      args: [
        ...['-p', '--output-format', 'stream-json', '--trust', '--force', '--sandbox', 'enabled'],
        ...['--model', 'gpt-5', '--resume', 'chat-1', '--approve-mcps', 'Write hello.txt'],
      ],
      env: {},
      stdin: 'none',
    });
  });

  it('leaves the sandbox only with full', () => {
    const by = executor('cursor', { permissions: 'full' });
    expect(adapter('cursor').commandLine(request(by)).args.join(' ')).toContain('--sandbox disabled');
  });
});

describe('acp and local', () => {
  it('run through a program of ours, which is told what is allowed', () => {
    const by = executor('acp', { command: ['agent'], args: ['--acp'], model: 'm', permissions: 'full' });
    expect(adapter('acp').resumeLine(request(by), 's1')).toMatchObject({
      file: 'agent',
      args: ['--acp'],
      env: { SWARM_SESSION: 's1' },
      helper: { name: 'acp', args: ['--permissions', 'full', '--model', 'm', '--check', 'npx tsc --noEmit'] },
    });
    expect(adapter('local').commandLine(request(executor('local')))).toMatchObject({
      file: '',
      helper: { name: 'local', args: ['--permissions', 'edit', '--check', '["npx","tsc","--noEmit"]'] },
    });
  });

  it('local has no session to go on in', () => {
    expect(adapter('local').resumeLine(request(executor('local')), 's1')).toBeNull();
  });
});

describe.each(Object.keys(adapters))('the command line of %s', (name) => {
  it('leaves a variable alone that the executor sets, and takes the executor’s program', () => {
    const plain = adapter(name).commandLine(request(executor(name, { command: ['/opt/agent', 'first'] })));
    const set = Object.fromEntries(Object.keys(plain.env).map((key) => [key, 'mine']));
    const line = adapter(name).commandLine(
      request(executor(name, { command: ['/opt/agent', 'first'], env: set })),
    );
    expect([line.file, line.args[0], line.env]).toEqual(['/opt/agent', 'first', {}]);
  });
});
