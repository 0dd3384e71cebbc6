import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commitFiles, everything, git, swarm, temporaryFolder } from './stage.js';

/** Bad input is refused with its code, what is wrong and what to do; the repository stays byte for byte. */

let folder: string;
let clean: () => void;

beforeEach(() => {
  ({ folder, clean } = temporaryFolder());
});
afterEach(() => clean());

const good = 'version: 1\nexecutor: demo\ntasks:\n  - prompt: Write a note\n';

interface Bad {
  readonly title: string;
  readonly manifest?: string;
  readonly name?: string;
  readonly prepare?: () => NodeJS.ProcessEnv | undefined;
  readonly code: number;
  readonly says: readonly RegExp[];
}

function repository(): void {
  commitFiles(folder, { 'README.md': '# here\n' });
}

/** A `git` of our own in front of the path. */
function gitThatSays(text: string): NodeJS.ProcessEnv {
  const bin = path.join(path.dirname(folder), 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'git'), `#!/bin/sh\necho '${text}'\n`, { mode: 0o755 });
  return { PATH: `${bin}:${process.env['PATH'] ?? ''}` };
}

const surroundings: readonly Bad[] = [
  {
    title: 'no git repository',
    code: 3,
    says: [/not (in )?a git repository|no git repository/i, /git init/],
  },
  {
    title: 'no commit yet',
    prepare: () => void git(folder, 'init', '-q'),
    code: 3,
    says: [/no commit/i, /git commit/],
  },
  {
    title: 'a bare repository',
    prepare: () => void git(folder, 'init', '-q', '--bare'),
    code: 3,
    says: [/bare/i],
  },
  {
    title: 'git that is too old',
    prepare: () => (repository(), gitThatSays('git version 2.20.1')),
    code: 3,
    says: [/2\.20\.1/, /2\.38/],
  },
  {
    title: 'git that is missing',
    prepare: () => {
      repository();
      const empty = path.join(path.dirname(folder), 'empty');
      mkdirSync(empty);
      return { PATH: empty };
    },
    code: 3,
    says: [/git was not found|git.*not found/i, /Install git/i],
  },
  {
    title: '.swarm of a newer version',
    prepare: () => {
      repository();
      mkdirSync(path.join(folder, '.swarm'), { mode: 0o700 });
      writeFileSync(
        path.join(folder, '.swarm', 'VERSION'),
        '{"schema":9,"minReader":9,"createdBy":"9.0.0"}\n',
      );
      return undefined;
    },
    code: 3,
    says: [/9\.0\.0/, /newer/i],
  },
  {
    title: '.swarm that is a symbolic link',
    prepare: () => {
      repository();
      const elsewhere = path.join(path.dirname(folder), 'elsewhere');
      mkdirSync(elsewhere);
      symlinkSync(elsewhere, path.join(folder, '.swarm'));
      return undefined;
    },
    code: 3,
    says: [/symbolic link|symlink/i],
  },
];

const manifests: readonly Bad[] = [
  {
    title: 'a manifest with five mistakes',
    manifest: [
      'version: 2',
      'executor: demo',
      'maxConcurrent: 0',
      'isolation: cloud',
      'tasks:',
      '  - id: ../up',
      '    prompt: x',
      '  - id: two',
      '    prompt: ""',
    ].join('\n'),
    code: 2,
    says: [/:1: /, /:3: /, /:4: /, /:6: /, /:9: /, /5 things to correct/],
  },
  {
    title: 'an unknown executor',
    manifest: 'version: 1\nexecutor: clawd\ntasks:\n  - prompt: x\n',
    code: 2,
    says: [/:2: .*clawd/, /claude/],
  },
  {
    title: 'an empty list of tasks',
    manifest: 'version: 1\nexecutor: demo\ntasks: []\n',
    code: 2,
    says: [/:3: /, /task/],
  },
  {
    title: 'ids that are equal but for case',
    manifest:
      'version: 1\nexecutor: demo\ntasks:\n  - id: Login\n    prompt: x\n  - id: login\n    prompt: y\n',
    code: 2,
    says: [/:6: .*login/i],
  },
  {
    title: 'an id that is a path',
    manifest: 'version: 1\nexecutor: demo\ntasks:\n  - id: a/b\n    prompt: x\n',
    code: 2,
    says: [/:4: .*a\/b/],
  },
  {
    title: 'more tasks than the budget',
    manifest: 'version: 1\nexecutor: demo\nmaxTotalSpawned: 1\ntasks:\n  - prompt: x\n  - prompt: y\n',
    code: 2,
    says: [/:3: /, /2 tasks|two tasks|maxTotalSpawned/],
  },
  {
    title: 'a prompt above 256 KiB',
    manifest: `version: 1\nexecutor: demo\ntasks:\n  - prompt: ${'x'.repeat(262_145)}\n`,
    code: 2,
    says: [/:4: .*257 KiB/, /256/],
  },
  { title: 'text that is no YAML', manifest: 'version: 1\n  tasks: [\n', code: 2, says: [/:\d+: /] },
  {
    title: 'a Markdown file without an open checkbox',
    manifest: '# Plan\n- [x] done\n',
    name: 'plan.md',
    code: 2,
    says: [/- \[ \]/],
  },
  { title: 'a kind of file that is no manifest', manifest: 'x', name: 'plan.txt', code: 2, says: [/\.yaml/] },
  {
    title: 'a program that is not there',
    manifest:
      'version: 1\nexecutor: mine\nexecutors:\n  mine: { adapter: command, command: [no-such-program-here] }\ntasks:\n  - prompt: x\n',
    code: 3,
    says: [/no-such-program-here/, /not found|PATH/],
  },
  {
    title: 'a program that cannot be executed',
    manifest:
      'version: 1\nexecutor: mine\nexecutors:\n  mine: { adapter: command, command: [./tool] }\ntasks:\n  - prompt: x\n',
    prepare: () => {
      writeFileSync(path.join(folder, 'tool'), 'echo\n');
      chmodSync(path.join(folder, 'tool'), 0o644);
      return undefined;
    },
    code: 3,
    says: [/tool/, /execut/i],
  },
];

describe('refused, with nothing started and nothing written', () => {
  it.each(surroundings)('$title', async (bad) => {
    const env = bad.prepare?.();
    await expectRefused(bad, env ?? {});
  });

  it.each(manifests)('$title', async (bad) => {
    repository();
    const env = bad.prepare?.();
    await expectRefused(bad, env ?? {});
  });

  it('a file that is not there', async () => {
    repository();
    const before = everything(folder);
    const ended = await swarm(folder, ['run', 'nothing.yaml']);
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('nothing.yaml')]);
    expect(everything(folder)).toEqual(before);
  });

  it('all permissions from a file of the repository; not from one that a person keeps elsewhere', async () => {
    repository();
    const bold = `version: 1
executor: mine
executors: { mine: { adapter: command, command: ["${process.execPath}", -e, "0"], permissions: full } }
tasks: [{ prompt: x }]
`;
    const inside = path.join(folder, 'bold.yaml');
    writeFileSync(inside, bold);
    const before = everything(folder);
    const refused = await swarm(folder, ['run', 'bold.yaml']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/"mine".*permissions: full/)]);
    expect(everything(folder)).toEqual(before);
    const outside = path.join(path.dirname(folder), 'bold.yaml');
    writeFileSync(outside, bold);
    // A person's choice, but not one made without knowing: the risk is said, for each such executor.
    const ran = await swarm(folder, ['run', outside]);
    expect([ran.code, ran.stderr]).toEqual([
      0,
      expect.stringMatching(/bold\.yaml gives executor "mine" all permissions: .*node.* may read, change/),
    ]);
    // Children write into worktrees of the repository, wherever these lie.
    const worktree = path.join(path.dirname(folder), 'elsewhere');
    git(folder, 'worktree', 'add', '-q', '--detach', worktree);
    const byChild = path.join(worktree, 'bold.yaml');
    writeFileSync(byChild, bold);
    expect((await swarm(folder, ['run', byChild])).code).toBe(2);
    // Who has given them in their own settings has chosen.
    const own = path.join(path.dirname(folder), 'own');
    mkdirSync(path.join(own, 'swarm'), { recursive: true });
    writeFileSync(
      path.join(own, 'swarm', 'settings.json'),
      JSON.stringify({ 'swarm.executors': { mine: { adapter: 'command', permissions: 'full' } } }),
    );
    expect(await swarm(folder, ['run', outside], { env: { XDG_CONFIG_HOME: own } })).toMatchObject({
      code: 0,
      stderr: '',
    });
  });

  it.each([
    ['a folder', 'x.yaml', null, /x\.yaml is a folder, not a manifest\.[^]*Name the .* file in it/],
    ['an empty file', 'x.yaml', '', /x\.yaml:1: The file is empty[^]*version: 1/],
    ['an empty list', 'x.md', ' \n', /x\.md:1: The file is empty[^]*- \[ \]/],
    ['a picture', 'x.yaml', Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAE=', 'base64'), /no text in UTF-8/],
    [
      'a text in UTF-16',
      'x.md',
      Buffer.from('\ufeff- [ ] task\n', 'utf16le'),
      /no text in UTF-8[^]*save it as/,
    ],
    ['a text in Latin-1', 'x.md', Buffer.from('- [ ] f\u00fcr', 'latin1'), /no text in UTF-8[^]*save it as/],
    ['zero bytes', 'x.json', Buffer.from('{}\0\0'), /no text in UTF-8/],
    ['a path through a file', 'README.md/x.yaml', undefined, /There is no file .*x\.yaml/],
  ])('%s as a manifest: says what it is and what to do', async (_, name, content, says) => {
    repository();
    const file = path.join(folder, name);
    if (content === null) mkdirSync(file);
    else if (content !== undefined) writeFileSync(file, content);
    const before = everything(folder);
    const ended = await swarm(folder, ['run', name]);
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringMatching(says)]);
    expect(ended.stderr.trim().split('\n').length).toBeLessThanOrEqual(3);
    expect(everything(folder)).toEqual(before);
  });

  it('the same mistake thousands of times: the first are told, with how many more, and all with --json', async () => {
    repository();
    const file = path.join(path.dirname(folder), 'same.yaml');
    writeFileSync(
      file,
      `version: 1\nexecutor: demo\ntasks:\n${'  - { id: same, prompt: x }\n'.repeat(2000)}`,
    );
    const ended = await swarm(folder, ['run', file, '--json']);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('1999 things to correct');
    expect(ended.stderr).toContain('… and 1799 more; --json tells all of them');
    expect(ended.stderr.split('\n').length).toBeLessThan(450);
    const told = JSON.parse(ended.stdout) as { errors: unknown[] };
    expect(told.errors).toHaveLength(1999);
  });

  it('with --json every error with its line, what is wrong and what to write', async () => {
    repository();
    const file = path.join(path.dirname(folder), 'bad.yaml');
    writeFileSync(file, 'version: 1\nexecutor: clawd\ntasks: []\n');
    const ended = await swarm(folder, ['run', file, '--json']);
    const [first] = ended.stdout.trim().split('\n');
    const told = JSON.parse(first ?? '') as {
      type: string;
      errors: { line: number; message: string; fix: string }[];
    };
    expect(told.type).toBe('error');
    expect(told.errors.map((error) => error.line)).toEqual([2, 3]);
    for (const error of told.errors)
      expect([error.message, error.fix]).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
  });

  it.each(['a full disk', 'a read-only folder'])('%s', async (kind) => {
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', folder]);
    try {
      repository();
      if (kind === 'a full disk') {
        // Filled to the last block; what fails then is the first write of ours.
        execFileSync('sh', ['-c', 'dd if=/dev/zero of="$1/fill" bs=4k 2>/dev/null; true', 'fill', folder]);
      } else execFileSync('mount', ['-o', 'remount,ro', folder]);
      const file = path.join(path.dirname(folder), 'good.yaml');
      writeFileSync(file, good);
      const ended = await swarm(folder, ['run', file]);
      expect([ended.code, ended.stderr]).toEqual([
        3,
        expect.stringMatching(kind === 'a full disk' ? /space|full/i : /read-only|written|permission/i),
      ]);
      expect(git(folder, 'for-each-ref', 'refs/swarm')).toBe('');
      expect(existsSync(`${folder}.worktrees`)).toBe(false);
    } finally {
      execFileSync('umount', ['-l', folder]);
    }
  });
});

async function expectRefused(bad: Bad, env: NodeJS.ProcessEnv): Promise<void> {
  const file = path.join(path.dirname(folder), bad.name ?? 'manifest.yaml');
  writeFileSync(file, bad.manifest ?? good);
  const before = everything(folder);
  const ended = await swarm(folder, ['run', file], { env });
  expect([bad.title, ended.code]).toEqual([bad.title, bad.code]);
  for (const words of bad.says) expect(ended.stderr).toMatch(words);
  expect(everything(folder)).toEqual(before);
  expect(existsSync(`${folder}.worktrees`)).toBe(false);
}
