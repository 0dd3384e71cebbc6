import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { InputError } from '../../src/protocol/request.js';
import type { View } from '../../src/protocol/view.js';
import { cli, commitFiles, everything, git, swarm, temporaryFolder, worker } from './stage.js';

let folder: string;
let clean: () => void;
let manifest: string;

beforeEach(() => {
  ({ folder, clean } = temporaryFolder());
  commitFiles(folder, { 'README.md': '# here\n', 'worker.mjs': worker });
  manifest = path.join(path.dirname(folder), 'two.json');
  writeManifest({});
});
afterEach(() => clean());

function writeManifest(parts: Record<string, unknown>): void {
  writeFileSync(
    manifest,
    JSON.stringify({
      version: 1,
      name: 'Two notes',
      executor: 'mine',
      executors: {
        mine: { adapter: 'command', command: [process.execPath, path.join(folder, 'worker.mjs')] },
      },
      tasks: [
        { id: 'one', prompt: 'Write one' },
        { id: 'two', prompt: 'Write two' },
      ],
      ...parts,
    }),
  );
}

async function view(): Promise<View> {
  return JSON.parse((await swarm(folder, ['status', '--json'])).stdout) as View;
}

describe('swarm status', () => {
  it('is empty without a batch, ends with 0 and makes no folder', async () => {
    const before = everything(folder);
    const ended = await swarm(folder, ['status', '--json']);
    expect([ended.code, JSON.parse(ended.stdout)]).toEqual([
      0,
      expect.objectContaining({ schema: 1, owner: null, gates: [], batches: [] }),
    ]);
    expect(everything(folder)).toEqual(before);
  });
});

describe('a folder of a newer version', () => {
  it('is shown without an owner that has gone, and supervise ends with 3', async () => {
    expect((await swarm(folder, ['run', manifest])).code).toBe(0);
    const file = path.join(folder, '.swarm', 'view.json');
    const left = JSON.parse(readFileSync(file, 'utf8')) as View;
    writeFileSync(file, JSON.stringify({ ...left, owner: { pid: 1, epoch: 1, host: 'gone' } }));
    writeFileSync(path.join(folder, '.swarm', 'VERSION'), '{"schema":9,"minReader":9,"createdBy":"9.0.0"}\n');
    expect((await swarm(folder, ['status'])).stdout).not.toContain('Supervised by');
    const ended = await swarm(folder, ['supervise']);
    expect([ended.code, ended.stderr]).toEqual([3, expect.stringMatching(/newer version.*\n.*Update/)]);
  });
});

describe('a batch from launch to apply', () => {
  it('ends with 0, each step by the command line, the tree touched only by apply', async () => {
    const run = await swarm(folder, ['run', manifest, '--json']);
    const lines = run.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { t: string; type: string; id?: string; code?: number });
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(lines[0]).toMatchObject({ type: 'batch', id: expect.stringMatching(/^two-notes-/) as string });
    expect(lines.at(-1)).toMatchObject({ type: 'end', code: 0 });
    for (const line of lines) expect(Number.isNaN(Date.parse(line.t))).toBe(false);

    const done = await view();
    expect(
      done.batches.map(({ status, children }) => [
        status,
        children.map((child) => [child.id, child.status, child.attempts, child.session]),
      ]),
    ).toEqual([
      [
        'succeeded',
        [
          ['one', 'done', 1, 'session-one'],
          ['two', 'done', 1, 'session-two'],
        ],
      ],
    ]);
    expect(git(folder, 'status', '--porcelain')).toBe('');
    expect(statSync(path.join(folder, '.swarm')).mode & 0o777).toBe(0o700);

    const all = (await swarm(folder, ['diff', '--all', '--json'])).stdout.trim().split('\n');
    expect(all.map((line) => JSON.parse(line) as unknown)).toEqual(
      ['one', 'two'].map((id) => ({
        t: expect.any(String) as string,
        type: 'child',
        batch: done.batches[0]?.id,
        id,
        snapshot: done.batches[0]?.children.find((child) => child.id === id)?.snapshot,
        diff: expect.stringContaining(`+${id}\n`) as string,
        uncaptured: [],
        strays: [],
      })),
    );
    const noted = JSON.parse((await swarm(folder, ['checkpoint', 'two', '--json'])).stdout) as object;
    expect(noted).toMatchObject({
      type: 'child',
      id: 'two',
      checkpoint: { written: [{ path: 'out/two.txt' }] },
    });
    expect((await swarm(folder, ['diff', 'one'])).stdout).toContain('+one');
    expect((await swarm(folder, ['checkpoint', 'one'])).stdout).toContain('out/one.txt');

    const apply = await swarm(folder, ['apply', 'one']);
    expect([apply.code, apply.stderr]).toEqual([0, '']);
    expect(readFileSync(path.join(folder, 'out', 'one.txt'), 'utf8')).toBe('one\n');
    expect(git(folder, 'status', '--porcelain', '-uall')).toBe('?? out/one.txt\n');
    expect((await view()).batches[0]?.children.map((child) => child.apply?.state)).toEqual([
      'applied',
      expect.not.stringMatching(/^applied$/),
    ]);

    const plan = await swarm(folder, ['clean', '--dry-run']);
    expect([plan.code, plan.stdout]).toEqual([0, expect.stringContaining('would remove')]);
    const cleaned = await swarm(folder, ['clean', '--yes']);
    expect([cleaned.code, cleaned.stdout]).toEqual([0, expect.stringMatching(/^removed {2}/m)]);
    expect(cleaned.stdout).not.toContain('would');
    expect(
      (await view()).batches.flatMap((batch) => batch.children.map((child) => child.status)),
    ).not.toContain('failed');
    expect(git(folder, 'fsck', '--no-progress')).not.toMatch(/missing|error/);
  });

  it('counts what a program has written though it says nothing', async () => {
    writeFileSync(
      path.join(folder, 'worker.mjs'),
      `import { writeFileSync } from 'node:fs'; writeFileSync('silent.txt', 'x');`,
    );
    expect((await swarm(folder, ['run', manifest])).stdout).toMatch(/one\s+Done$/m);
    expect((await view()).batches[0]?.children.map((child) => child.files.written)).toEqual([1, 1]);
    expect((await view()).batches[0]?.children.every((child) => (child.diskUse ?? 0) > 0)).toBe(true);
  });

  it('ends with 1 when a child fails for good, and says what to do', async () => {
    writeFileSync(
      path.join(folder, 'worker.mjs'),
      `console.log(JSON.stringify({ type: 'error', message: 'unknown model: gpt-9', status: 404 })); process.exit(1);`,
    );
    const run = await swarm(folder, ['run', manifest]);
    expect([run.code, run.stdout]).toEqual([1, expect.stringMatching(/one\s+Failed/)]);
  });

  it('ends with 75 at once with --no-wait when all is paused at a limit', async () => {
    writeFileSync(
      path.join(folder, 'worker.mjs'),
      `console.log(JSON.stringify({ type: 'limit', status: 'rejected', resetsAt: Math.ceil(Date.now() / 1000) + 3600, window: 'five_hour' })); process.exit(1);`,
    );
    const run = await swarm(folder, ['run', manifest, '--no-wait']);
    expect(run.code).toBe(75);
    const [gate] = (await view()).gates;
    expect(gate).toMatchObject({
      credential: 'mine',
      state: 'closed',
      reason: 'usage_limit',
      source: 'event',
    });
    expect((await view()).batches[0]?.status).toBe('paused');
    for (const args of [
      ['supervise', '--no-wait'],
      ['resume', 'nobody'],
    ] as const) {
      const again = await swarm(folder, args);
      expect([args, again.code, again.stderr]).toEqual([
        args,
        args[0] === 'supervise' ? 75 : 2,
        args[0] === 'supervise' ? '' : expect.stringContaining('nobody'),
      ]);
    }
    // Without a terminal nobody is waited for: what only a person can help ends it at once.
    await swarm(folder, ['pause', '--all']);
    expect((await swarm(folder, ['supervise'])).code).toBe(75);
    const status = await swarm(folder, ['status'], { env: { NO_COLOR: '' } });
    expect(status.stdout).toContain('paused by you');
    expect(status.stdout).not.toMatch(/\u001b|…/);
    expect(status.stdout).toContain('swarm supervise');
  });

  it('an apply says of each child what became of it, and ends with 1 where something stays out', async () => {
    writeManifest({
      check: [process.execPath, '-e', 'process.exit(require("fs").existsSync("out/two.txt") ? 1 : 0)'],
    });
    expect((await swarm(folder, ['run', manifest])).code).toBe(0);
    const red = await swarm(folder, ['apply', 'two']);
    expect([red.code, red.stdout]).toEqual([1, expect.stringMatching(/^two: check red/)]);
    const one = await swarm(folder, ['apply', 'one', '--json']);
    expect(one.code).toBe(0);
    expect(JSON.parse(one.stdout)).toMatchObject({ type: 'child', id: 'one', apply: { state: 'applied' } });
    expect((await swarm(folder, ['apply', 'one'])).code).toBe(0);
    expect((await swarm(folder, ['apply', '--all'])).code).toBe(1);
    const dry = (await swarm(folder, ['clean', '--dry-run', '--json'])).stdout.trim().split('\n');
    const told = dry.map((line) => JSON.parse(line) as { type: string; dry?: boolean });
    expect(told.every(({ type }) => type === 'message')).toBe(true);
    expect(told.some((line) => line.dry === true)).toBe(true);
    expect(git(folder, 'status', '--porcelain', '-uall')).toBe('?? out/one.txt\n');
    expect((await swarm(folder, ['status'])).stdout).not.toContain('swarm supervise');
  });
});

describe('an apply that cannot be', () => {
  it('says why, in its own line and in the status, until the next one', async () => {
    expect((await swarm(folder, ['run', manifest])).code).toBe(0);
    const head = git(folder, 'rev-parse', 'HEAD');
    writeFileSync(path.join(folder, '.git', 'MERGE_HEAD'), head);
    const refused = await swarm(folder, ['apply', 'one']);
    const why = /not applied: A merge is under way in .* Finish or abort/;
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringMatching(why)]);
    expect((await swarm(folder, ['status'])).stdout).toMatch(why);
    rmSync(path.join(folder, '.git', 'MERGE_HEAD'));
    expect((await swarm(folder, ['apply', 'one'])).stdout).toBe('one: in your tree\n');
  });

  it('is none because the worktree was cleaned away: the work was kept', async () => {
    expect((await swarm(folder, ['run', manifest])).code).toBe(0);
    expect((await swarm(folder, ['clean', '--yes'])).stdout).toMatch(/^removed .*\n[^]*kept as a ref/);
    const applied = await swarm(folder, ['apply', '--all']);
    expect([applied.code, applied.stdout]).toEqual([0, 'one: in your tree\ntwo: in your tree\n']);
    expect(readFileSync(path.join(folder, 'out', 'two.txt'), 'utf8')).toBe('two\n');
  });
});

describe('a wish with nothing to do', () => {
  it('says what is so and what to do, and ends as the batch has', async () => {
    for (const kind of ['stop', 'diff']) {
      const none = await swarm(folder, [kind, '--all']);
      expect([kind, none.code, none.stdout + none.stderr]).toEqual([
        kind,
        0,
        expect.stringContaining('There is no child here yet. "swarm run" starts some.'),
      ]);
    }
    expect((await swarm(folder, ['run', manifest])).code).toBe(0);
    for (const kind of ['stop', 'resume']) {
      const all = await swarm(folder, [kind, '--all']);
      expect([kind, all.code, all.stderr, all.stdout]).toEqual([
        kind,
        0,
        '',
        expect.stringContaining(`Nothing to ${kind}: 2 done.`),
      ]);
    }
    const told = (await swarm(folder, ['stop', 'one', '--json'])).stdout;
    expect(JSON.parse(told)).toMatchObject({ type: 'message', message: 'Nothing to stop: one is done.' });
  });
});

describe('beside another owner', () => {
  it('a wish finds the owner’s children and is carried out there', async () => {
    writeFileSync(
      path.join(folder, 'worker.mjs'),
      `console.log(JSON.stringify({ type: 'text', text: 'at work' })); setInterval(() => {}, 1000);`,
    );
    const run = swarm(folder, ['run', manifest]);
    await vi.waitUntil(
      async () => (await view()).batches[0]?.children.every((child) => child.lastLine === 'at work'),
      { timeout: 60_000, interval: 200 },
    );
    const stop = await swarm(folder, ['stop', 'one']);
    expect([stop.code, stop.stderr]).toEqual([0, '']);
    expect((await view()).batches[0]?.children.map((child) => child.status)).toEqual(['canceled', 'running']);
    expect((await swarm(folder, ['stop', '--all'])).code).toBe(0);
    expect((await run).code).toBe(1);
  });
});

describe('options of all commands', () => {
  it('stand before or behind the command, the folder relative to the one before it', async () => {
    const below = path.join(folder, 'below');
    mkdirSync(below);
    for (const args of [
      ['-C', folder, 'status', '--json'],
      ['status', '-C', folder, '--json'],
      ['-C', path.dirname(folder), 'status', '--json', '-C', 'repository'],
      ['status', '-C', path.dirname(folder), '--verbose', '-C', 'repository', '-C', 'below', '--json'],
      ['check', '-C', below, '--', 'sh', '-c', 'echo "[$PWD]"'],
    ]) {
      const ended = await swarm('/', args);
      expect([args, ended.code, ended.stderr]).toEqual([args, 0, '']);
      expect(ended.stdout).toMatch(args[0] === 'check' ? `[${below}]` : /"schema": 1/);
    }
    // Behind the command of a check everything is the command's own.
    const own = await swarm(folder, ['check', '--', 'echo', '-C', '/']);
    expect(own.stdout).toBe('-C /\n');
  });
});

describe('a repository without a commit', () => {
  it.each(['status', 'diff'])('has no batch, and %s ends with 0', async (command) => {
    const other = path.join(path.dirname(folder), 'other');
    mkdirSync(other);
    git(other, 'init', '-q');
    const ended = await swarm(other, [command, '--json', ...(command === 'diff' ? ['--all'] : [])]);
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    expect(JSON.parse(ended.stdout)).toMatchObject(
      command === 'status'
        ? { batches: [] }
        : { type: 'message', message: expect.stringContaining('no child') as string },
    );
  });
});

describe('a reader that closes early', () => {
  it('ends what only prints at once and quietly, though nothing more is printed', () => {
    const line = '{ "$0" "$1" status -C "$2" --watch; echo "$?" >&3; } | head -1';
    const ended = spawnSync('sh', ['-c', line, process.execPath, cli, folder], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      timeout: 30_000,
    });
    expect(ended.output.slice(1).map((text) => text?.toString())).toEqual([
      expect.stringContaining('No batch here'),
      '',
      '0\n',
    ]);
  });

  it('of a check is told to its command, whose exit code passes', () => {
    const command = 'trap "" PIPE; while echo x; do :; done 2>/dev/null; exit 7';
    for (const first of [[], ['--verbose']]) {
      const line = '{ "$@"; echo "$?" >&3; } | head -1';
      const ended = spawnSync(
        'sh',
        ['-c', line, 'sh', process.execPath, cli, ...first, 'check', '-C', folder, '--', 'sh', '-c', command],
        { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], timeout: 30_000 },
      );
      expect(ended.output.slice(1).map((text) => text?.toString())).toEqual(['x\n', '', '7\n']);
    }
  });

  it('leaves the agents of a run to whoever supervises next, and ends with 130', async () => {
    const wait = path.join(path.dirname(folder), 'go');
    writeFileSync(
      path.join(folder, 'worker.mjs'),
      `import { existsSync } from 'node:fs'; setInterval(() => existsSync(${JSON.stringify(wait)}) && process.exit(0), 50);`,
    );
    const line = '{ "$0" "$1" -C "$2" run "$3"; echo "$?" >&3; } | head -1';
    const ended = spawnSync('sh', ['-c', line, process.execPath, cli, folder, manifest], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      timeout: 60_000,
    });
    expect([ended.output[2]?.toString(), ended.output[3]?.toString()]).toEqual(['', '130\n']);
    expect((await view()).owner).toBe(null);
    writeFileSync(wait, '');
    expect((await swarm(folder, ['supervise'])).code).toBe(0);
  });

  it.each([
    ['stdout', '2>/dev/null', 2],
    ['stderr', '2>&1', 2],
  ])('of %s changes no exit code', (_, redirect, expected) => {
    const file = path.join(path.dirname(folder), 'same.yaml');
    writeFileSync(
      file,
      `version: 1\nexecutor: demo\ntasks:\n${'  - { id: same, prompt: x }\n'.repeat(5000)}`,
    );
    const line = `{ "$0" "$1" -C "$2" run "$3" --json ${redirect}; echo "$?" >&3; } | true`;
    const ended = spawnSync('sh', ['-c', line, process.execPath, cli, folder, file], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    expect(ended.output[3]?.toString()).toBe(`${expected}\n`);
  });
});

describe('bad command lines', () => {
  it.each([
    [['run']],
    [['nonsense']],
    [['run', 'x.yaml', '--max-concurrent', '0']],
    [['resume']],
    [['checkpoint', 'nobody']],
  ])('%j ends with 2 and says why', async (args) => {
    const ended = await swarm(folder, args);
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringMatching(/./)]);
    const told = await swarm(folder, [...args, '--json']);
    const { type, errors } = JSON.parse(told.stdout) as { type: string; errors: InputError[] };
    expect([told.code, type, errors.map(({ line }) => line)]).toEqual([2, 'error', [null]]);
    expect(errors[0]?.message).toMatch(/./);
  });
});

describe('what a person has typed', () => {
  it.each([
    [['stop', 'a\u001b[31mb\nc\u202e'], /^swarm: There is no child or batch "ab c"\./],
    [['stop', 'x'.repeat(100_000)], /^swarm: There is no child or batch "x{99}…"\./],
    [['no\u001b[31m\u0007thing'], /^error: unknown command 'nothing'/],
    [['run', 'no\u001b[2Jthing.yaml'], /^swarm: There is no file .*nothing\.yaml/],
    [['status', '-C', 'no\u009b2Jthing'], /^swarm: The folder .*nothing does not exist/],
  ])('is not followed by a terminal where it is told back: %j', async (args, expected) => {
    const ended = await swarm(folder, args);
    expect(ended.stderr).toMatch(expected);
    expect(ended.stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(ended.code).toBe(args[0] === 'status' ? 3 : 2);
  });
});

describe('output that cannot be written', () => {
  it('is said, and ends with 3', () => {
    const ended = spawnSync('sh', [
      '-c',
      '"$0" "$1" status -C "$2" > /dev/full',
      process.execPath,
      cli,
      folder,
    ]);
    expect([ended.status, ended.stderr.toString()]).toEqual([
      3,
      expect.stringMatching(/could be written: .*space/),
    ]);
  });
});

describe('swarm check', () => {
  it('passes the output and the exit code through', async () => {
    const ended = await swarm(folder, ['check', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7']);
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([7, 'out\n', 'err\n']);
  });

  it('ends with 125 when the check itself cannot run', async () => {
    const ended = await swarm(folder, ['check', '--', 'no-such-program-here']);
    expect([ended.code, ended.stderr]).toEqual([125, expect.stringContaining('no-such-program-here')]);
  });
});

describe('swarm classify', () => {
  const said = {
    id: 'a',
    provider_or_cli: 'claude-code',
    channel: 'stdout',
    exit_code: 1,
    text: "You've hit your session limit · resets 5pm (UTC)",
    observed_at: '2026-11-30T12:00:00Z',
  };

  it('answers each case with one line, in order', async () => {
    const ended = await swarm(folder, ['classify', '--json'], {
      input: `${JSON.stringify(said)}\n${JSON.stringify({ ...said, id: 'b', text: 'ok', exit_code: 0 })}\n`,
    });
    const answers = ended.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(ended.code).toBe(0);
    expect(answers).toEqual([
      {
        id: 'a',
        class: 'usage_limit',
        recoverable: true,
        needsUser: false,
        resetAt: '2026-11-30T17:00:00Z',
        resetSource: 'text',
        scope: 'account',
      },
      expect.objectContaining({ id: 'b', class: 'none', resetAt: null }),
    ]);
  });

  it('answers a line that is no case with an error, and ends with 2', async () => {
    const ended = await swarm(folder, ['classify'], { input: `nonsense\n${JSON.stringify(said)}\n` });
    const [first, second] = ended.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string | null; error?: string });
    expect([ended.code, first?.id, typeof first?.error, second?.id]).toEqual([2, null, 'string', 'a']);
  });
});

describe('swarm doctor', () => {
  it('says what is here, and touches nothing', async () => {
    const before = everything(folder);
    mkdirSync(path.join(path.dirname(folder), 'other'));
    const ended = await swarm(folder, ['doctor', '--json']);
    expect([ended.code, JSON.parse(ended.stdout)]).toEqual([
      0,
      {
        findings: expect.arrayContaining([
          expect.objectContaining({ topic: 'git', level: 'good' }),
        ]) as unknown,
      },
    ]);
    expect(everything(folder)).toEqual(before);
  });
});
