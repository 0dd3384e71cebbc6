import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { allFiles, createRepo, testEnvironment, type TestRepo } from './repo.js';
import { folderAt, reference, share, type Act } from './shared.js';

const lines = (from: number, to: number, mark = ''): string =>
  Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}${mark}\n`).join('');

const files: Readonly<Record<string, string | Uint8Array>> = {
  'a.ts': lines(1, 30),
  'b.ts': 'export const b = 1;\n',
  'bin.dat': Buffer.from([0, 1, 2, 3, 255]),
  'dir/one.txt': 'one\n',
  'dir/two.txt': 'two\n',
  'empty.txt': '',
  'no-newline.txt': 'no newline',
  'dos.txt': 'a\r\nb\r\nc\r\n',
  'run.sh': '#!/bin/sh\necho hi\n',
  '.gitignore': '.env\nout/\n',
};

interface Case {
  readonly title: string;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** In the base, beside the files. */
  readonly committed?: Act;
  /** Uncommitted work of the user's from before. */
  readonly first?: Act;
  /** In their order; `child` is quarantined, `ignored` is written by it but is no work. */
  readonly steps: readonly (readonly [who: string, act: Act])[];
  readonly init?: readonly string[];
  readonly setup?: (repo: TestRepo) => void;
  /** What the user does with git after the folder was opened. */
  readonly meanwhile?: (repo: TestRepo) => void;
}

/** A child's edits, a file of its own and a deletion, and the user's edit of one of the files. */
const someWork: Case['steps'] = [
  ['child', (at) => at.replace('a.ts', 'line 5', 'changed')],
  ['you', (at) => at.replace('a.ts', 'line 25', 'the user’s')],
  ['child', (at) => at.write('new/n.ts', 'n\n')],
  ['child', (at) => at.remove('b.ts')],
];

const cases: readonly Case[] = [
  { title: 'an edit', steps: [['child', (at) => at.replace('a.ts', 'line 5', 'changed')]] },
  {
    title: 'an edit of the first line',
    steps: [['child', (at) => at.replace('a.ts', 'line 1\n', 'first\n')]],
  },
  {
    title: 'an edit of the last line',
    steps: [['child', (at) => at.replace('a.ts', 'line 30\n', 'last\n')]],
  },
  { title: 'a file emptied', steps: [['child', (at) => at.write('a.ts', '')]] },
  { title: 'an empty file filled', steps: [['child', (at) => at.write('empty.txt', 'x')]] },
  { title: 'a last newline taken away', steps: [['child', (at) => at.write('b.ts', 'export const b = 1;')]] },
  { title: 'a last newline added', steps: [['child', (at) => at.write('no-newline.txt', 'no newline\n')]] },
  { title: 'CRLF turned into LF', steps: [['child', (at) => at.write('dos.txt', 'a\nb\nc\n')]] },
  { title: 'an edit in a CRLF file', steps: [['child', (at) => at.replace('dos.txt', 'b', 'B')]] },
  { title: 'mixed line ends', steps: [['child', (at) => at.write('dos.txt', 'a\nb\r\nc\r')]] },
  { title: 'a new file', steps: [['child', (at) => at.write('new.ts', 'n\n')]] },
  { title: 'a new file in new folders', steps: [['child', (at) => at.write('x/y/z/new.ts', 'n\n')]] },
  { title: 'a new empty file', steps: [['child', (at) => at.write('new-empty', '')]] },
  { title: 'a deletion', steps: [['child', (at) => at.remove('b.ts')]] },
  { title: 'the deletion of a whole folder', steps: [['child', (at) => at.remove('dir')]] },
  {
    title: 'a deletion made anew with other content',
    steps: [
      ['child', (at) => at.remove('b.ts')],
      ['child', (at) => at.write('b.ts', 'other\n')],
    ],
  },
  { title: 'a rename', steps: [['child', (at) => at.move('b.ts', 'c.ts')]] },
  {
    title: 'a rename with an edit',
    steps: [
      [
        'child',
        (at) => {
          at.move('a.ts', 'moved/a.ts');
          at.replace('moved/a.ts', 'line 2\n', 'two\n');
        },
      ],
    ],
  },
  {
    title: 'two files swapped',
    steps: [
      [
        'child',
        (at) => {
          at.move('dir/one.txt', 'tmp');
          at.move('dir/two.txt', 'dir/one.txt');
          at.move('tmp', 'dir/two.txt');
        },
      ],
    ],
  },
  { title: 'a renamed folder', steps: [['child', (at) => at.move('dir', 'folder')]] },
  { title: 'a mode', steps: [['child', (at) => at.chmod('run.sh', 0o755)]] },
  {
    title: 'a mode and an edit',
    steps: [
      [
        'child',
        (at) => {
          at.chmod('run.sh', 0o755);
          at.replace('run.sh', 'hi', 'ho');
        },
      ],
    ],
  },
  { title: 'a new program', steps: [['child', (at) => at.write('tool.sh', '#!/bin/sh\n', 0o755)]] },
  { title: 'a new link', steps: [['child', (at) => at.link('b.ts', 'link')]] },
  { title: 'a link to nowhere', steps: [['child', (at) => at.link('no/such/file', 'link')]] },
  {
    title: 'a file turned into a link',
    steps: [
      [
        'child',
        (at) => {
          at.remove('b.ts');
          at.link('a.ts', 'b.ts');
        },
      ],
    ],
  },
  {
    title: 'a link turned elsewhere',
    committed: (at) => at.link('a.ts', 'link'),
    steps: [
      [
        'child',
        (at) => {
          at.remove('link');
          at.link('b.ts', 'link');
        },
      ],
    ],
  },
  {
    title: 'a file turned into a folder',
    steps: [
      [
        'child',
        (at) => {
          at.remove('b.ts');
          at.write('b.ts/inside', 'i\n');
        },
      ],
    ],
  },
  {
    title: 'a folder turned into a file',
    steps: [
      [
        'child',
        (at) => {
          at.remove('dir');
          at.write('dir', 'file\n');
        },
      ],
    ],
  },
  {
    title: 'a file turned into a folder and back',
    steps: [
      [
        'child',
        (at) => {
          at.remove('b.ts');
          at.write('b.ts/inside', 'i\n');
        },
      ],
      [
        'child',
        (at) => {
          at.remove('b.ts/inside');
          at.write('b.ts', 'back\n');
        },
      ],
    ],
  },
  {
    title: 'binary content',
    steps: [['child', (at) => at.write('bin.dat', Buffer.from([9, 0, 13, 10, 200]))]],
  },
  { title: 'a new binary file', steps: [['child', (at) => at.write('new.bin', Buffer.from([0, 0, 0]))]] },
  {
    title: 'names with spaces, quotes, newlines and accents',
    steps: [
      [
        'child',
        (at) => {
          at.write('a b.txt', '1');
          at.write('"quoted".txt', '2');
          at.write('new\nline.txt', '3');
          at.write('tab\there', '4');
          at.write('näme-☃.txt', '5');
          at.write('back\\slash', '6');
          at.write("it's", '7');
          at.write('-dash', '8');
          at.write('*star?', '9');
          at.write(':(glob)x', '10');
        },
      ],
    ],
  },
  {
    title: 'edits of names with newlines',
    files: { ...files, 'new\nline.txt': 'x\n' },
    steps: [['child', (at) => at.write('new\nline.txt', 'y\n')]],
  },
  {
    title: 'a long path',
    steps: [['child', (at) => at.write(`${'deep/'.repeat(30)}${'n'.repeat(100)}.txt`, 'x')]],
  },
  {
    title: 'many files',
    steps: [
      [
        'child',
        (at) => {
          for (let n = 0; n < 150; n += 1) at.write(`many/${n}.txt`, `${n}\n`);
        },
      ],
    ],
  },
  {
    title: 'several edits one after another',
    steps: [
      ['child', (at) => at.replace('a.ts', 'line 5\n', 'five\n')],
      ['child', (at) => at.replace('a.ts', 'five\n', 'cinq\n')],
      ['child', (at) => at.replace('a.ts', 'line 20\n', 'twenty\n')],
    ],
  },
  {
    title: 'an edit taken back by the child itself',
    steps: [
      ['child', (at) => at.replace('a.ts', 'line 5\n', 'five\n')],
      ['child', (at) => at.replace('a.ts', 'five\n', 'line 5\n')],
      ['child', (at) => at.write('x', 'x')],
    ],
  },
  {
    title: 'a file made and removed again',
    steps: [
      ['child', (at) => at.write('x', 'x')],
      ['child', (at) => at.remove('x')],
      ['child', (at) => at.write('y', 'y')],
    ],
  },
  {
    title: 'ignored files, which stay',
    steps: [
      [
        'ignored',
        (at) => {
          at.write('.env', 'SECRET');
          at.write('out/x.js', 'x');
        },
      ],
      ['child', (at) => at.write('y', 'y')],
    ],
  },
  {
    title: 'work beside the user’s edit in another file',
    first: (at) => at.write('b.ts', 'user\n'),
    steps: [
      ['child', (at) => at.write('new.ts', 'n\n')],
      ['you', (at) => at.write('dir/one.txt', 'user\n')],
    ],
  },
  {
    title: 'work beside the user’s untracked file',
    first: (at) => at.write('mine.txt', 'mine\n'),
    steps: [['child', (at) => at.write('new.ts', 'n\n')]],
  },
  {
    title: 'hunks after the user’s hunk in one file',
    steps: [
      ['you', (at) => at.replace('a.ts', 'line 3\n', 'user\n')],
      ['child', (at) => at.replace('a.ts', 'line 20\n', 'child\n')],
    ],
  },
  {
    title: 'hunks before the user’s hunk in one file',
    steps: [
      ['child', (at) => at.replace('a.ts', 'line 3\n', 'child\n')],
      ['you', (at) => at.replace('a.ts', 'line 20\n', 'user\n')],
    ],
  },
  {
    title: 'hunks among the user’s, several times',
    steps: [
      ['child', (at) => at.replace('a.ts', 'line 3\n', 'child\nmore\n')],
      ['you', (at) => at.replace('a.ts', 'line 10\n', '')],
      ['child', (at) => at.replace('a.ts', 'line 17\n', '')],
      ['you', (at) => at.replace('a.ts', 'line 25\n', 'user\n')],
    ],
  },
  {
    title: 'hunks between two other children’s',
    steps: [
      ['other', (at) => at.replace('a.ts', 'line 3\n', 'o3\n')],
      ['child', (at) => at.replace('a.ts', 'line 12\n', 'c12\n')],
      ['third', (at) => at.replace('a.ts', 'line 22\n', 't22\n')],
    ],
  },
  {
    title: 'hunks with another child’s file edited in between',
    steps: [
      ['child', (at) => at.replace('a.ts', 'line 3\n', 'c\n')],
      ['other', (at) => at.write('b.ts', 'other\n')],
      ['child', (at) => at.replace('a.ts', 'line 9\n', 'c9\n')],
    ],
  },
  {
    title: 'a CRLF file that two wrote',
    files: { ...files, 'dos.txt': lines(1, 20).replaceAll('\n', '\r\n') },
    steps: [
      ['other', (at) => at.replace('dos.txt', 'line 2\r\n', 'two\r\n')],
      ['child', (at) => at.replace('dos.txt', 'line 15\r\n', '15\r\n')],
    ],
  },
  {
    title: 'a mode where another edits the content',
    steps: [
      ['child', (at) => at.chmod('a.ts', 0o755)],
      ['other', (at) => at.replace('a.ts', 'line 4\n', 'other\n')],
    ],
  },
  {
    title: 'content where another changes the mode',
    steps: [
      ['other', (at) => at.chmod('a.ts', 0o755)],
      ['child', (at) => at.replace('a.ts', 'line 4\n', 'child\n')],
    ],
  },
  {
    title: 'new files beside another’s new files in one new folder',
    steps: [
      ['child', (at) => at.write('new/c.ts', 'c')],
      ['other', (at) => at.write('new/o.ts', 'o')],
    ],
  },
  {
    title: 'a deletion beside another’s deletion',
    steps: [
      ['child', (at) => at.remove('dir/one.txt')],
      ['other', (at) => at.remove('b.ts')],
    ],
  },
  {
    title: 'work while the user’s index is locked',
    setup: (repo) => repo.write('.git/index.lock', ''),
    steps: [['child', (at) => at.write('new.ts', 'n\n')]],
  },
  {
    title: 'work beside staged edits',
    setup: (repo) => {
      repo.write('b.ts', 'staged\n');
      repo.run('add', 'b.ts');
    },
    first: (at) => at.write('b.ts', 'staged and edited\n'),
    steps: [['child', (at) => at.replace('a.ts', 'line 7\n', 'c\n')]],
  },
  {
    title: 'work beside stashed edits',
    setup: (repo) => {
      repo.write('b.ts', 'stashed\n');
      repo.run('stash');
    },
    steps: [['child', (at) => at.write('b.ts', 'child\n')]],
  },
  {
    title: 'work beside a staged deletion',
    setup: (repo) => {
      repo.run('rm', '-q', 'b.ts');
    },
    first: (at) => at.remove('b.ts'),
    steps: [['child', (at) => at.replace('a.ts', 'line 7\n', 'c\n')]],
  },
  {
    title: 'work with hooks that fail',
    setup: (repo) => {
      for (const hook of ['reference-transaction', 'post-checkout', 'pre-commit', 'post-index-change'])
        repo.write(`.git/hooks/${hook}`, '#!/bin/sh\nexit 1\n', 0o755);
    },
    steps: [['child', (at) => at.write('new.ts', 'n\n')]],
  },
  {
    title: 'work in a repository of SHA-256 objects',
    init: ['--object-format=sha256'],
    steps: [
      ['child', (at) => at.replace('a.ts', 'line 5\n', 'c\n')],
      ['you', (at) => at.replace('a.ts', 'line 25\n', 'u\n')],
    ],
  },
  {
    title: 'work in the middle of a bisect',
    setup: (repo) => {
      repo.run('bisect', 'start');
    },
    steps: [['child', (at) => at.write('b.ts', 'c\n')]],
  },
  {
    title: 'work beside a repository inside the tree',
    setup: (repo) => {
      execFileSync('git', ['init', '-q', path.join(repo.top, 'inner')], { env: testEnvironment(repo.home) });
    },
    first: (at) => at.write('inner/x', 'x'),
    steps: [['child', (at) => at.write('b.ts', 'c\n')]],
  },
  {
    title: 'work where autocrlf is input',
    setup: (repo) => {
      repo.run('config', 'core.autocrlf', 'input');
    },
    steps: [['child', (at) => at.write('dos.txt', 'a\r\nB\r\nc\r\n')]],
  },
  {
    title: 'work beside a required filter that is missing',
    files: { ...files, '.gitattributes': '*.big filter=gone\n' },
    setup: (repo) => {
      repo.run('config', 'filter.gone.clean', 'no-such-program');
      repo.run('config', 'filter.gone.required', 'true');
    },
    steps: [['child', (at) => at.write('x.big', Buffer.from([1, 0, 2]))]],
  },
  {
    title: 'work in a tree whose user has changed the branch since',
    steps: [['child', (at) => at.write('b.ts', 'c\n')]],
    setup: (repo) => {
      repo.run('checkout', '-q', '-b', 'other');
    },
  },
  {
    title: 'on a branch that has no commit yet',
    steps: someWork,
    meanwhile: (repo) => void repo.run('checkout', '-q', '--orphan', 'unborn'),
  },
  {
    title: 'on a branch that has no commit yet, with nothing staged',
    steps: someWork,
    meanwhile: (repo) => {
      repo.run('checkout', '-q', '--orphan', 'unborn');
      repo.run('rm', '-rqf', '--cached', '.');
    },
  },
  {
    title: 'on a branch that has no commit yet, and without an index',
    steps: someWork,
    meanwhile: (repo) => {
      repo.run('symbolic-ref', 'HEAD', 'refs/heads/unborn');
      repo.remove('.git/index');
    },
  },
];

/** Everything of the user's but the files. */
function withoutFiles(repo: TestRepo): unknown {
  const { index, head, headRef, stash, refs, config } = repo.userState();
  return { index, head, headRef, stash, refs, config };
}

describe('a quarantine takes out exactly the child’s work, to the byte, and nothing else', () => {
  test.each(cases)('$title', async (given) => {
    const initial = given.files ?? files;
    const committed = given.committed === undefined ? [] : [given.committed];
    const first = given.first === undefined ? [] : [given.first];
    const repo = await createRepo(initial, {
      ...(given.init === undefined ? {} : { init: given.init }),
      before: ({ top }) => committed.forEach((act) => act(folderAt(top))),
    });
    given.setup?.(repo);
    first.forEach((act) => act(folderAt(repo.top)));
    const shared = await share(repo);
    given.meanwhile?.(repo);
    const before = repo.userState();
    for (const [who, act] of given.steps) await shared.act(who === 'ignored' ? 'child' : who, act);
    const user = withoutFiles(repo);
    const outcome = await shared.quarantine('child');

    expect(outcome.left).toEqual([]);
    const others = given.steps.filter(([who]) => who !== 'child').map(([, act]) => act);
    const own = given.steps.filter(([who]) => who === 'child').map(([, act]) => act);
    const expectedTree = reference(repo.home, initial, [...committed, ...first, ...others]);
    expect(allFiles(repo.top)).toEqual({ ...allFiles(expectedTree), ...innerFiles(repo) });
    const expectedWorktree = reference(repo.home, initial, [...committed, ...own]);
    expect(allFiles(shared.worktreeOf('child'))).toEqual(allFiles(expectedWorktree));
    expect(withoutFiles(repo)).toEqual(user);
    if (others.length === 0) expect(repo.userState()).toEqual(before);

    // Giving it back loses no byte.
    if (outcome.plan === null) return;
    expect(await shared.tree.giveBack(outcome.plan)).toMatchObject({ left: [] });
    const whole = reference(repo.home, initial, [
      ...committed,
      ...first,
      ...given.steps.map(([, act]) => act),
    ]);
    expect(allFiles(repo.top)).toEqual({ ...allFiles(whole), ...innerFiles(repo) });
    expect(withoutFiles(repo)).toEqual(user);
  });
});

function innerFiles(repo: TestRepo): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(allFiles(repo.top)).filter(([file]) => file.startsWith('inner/.git')),
  );
}
