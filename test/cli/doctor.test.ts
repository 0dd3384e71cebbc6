import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../support/attempts.js';
import { commitFiles, everything, git, swarm, temporaryFolder, worker } from './stage.js';

interface Found {
  readonly topic: string;
  readonly level: string;
  readonly text: string;
  readonly fix: string;
  readonly mendable: boolean;
}

let folder: string;
let clean: () => void;

beforeEach(async () => {
  ({ folder, clean } = temporaryFolder());
  commitFiles(folder, { 'README.md': '# here\n', 'worker.mjs': worker });
  const manifest = path.join(path.dirname(folder), 'one.json');
  writeFileSync(
    manifest,
    JSON.stringify({
      version: 1,
      name: 'One note',
      executor: 'mine',
      executors: {
        mine: { adapter: 'command', command: [process.execPath, path.join(folder, 'worker.mjs')] },
      },
      tasks: [{ id: 'one', prompt: 'Write one' }],
    }),
  );
  expect((await swarm(folder, ['run', manifest, '--json'])).code).toBe(0);
});
afterEach(() => clean());

async function doctor(...options: string[]): Promise<{ findings: Found[]; mended?: string[] }> {
  const ended = await swarm(folder, ['doctor', '--json', ...options]);
  return JSON.parse(ended.stdout) as { findings: Found[]; mended?: string[] };
}

/** What it finds beside what is well, without agents. */
async function complaints(): Promise<Found[]> {
  return (await doctor()).findings.filter(({ level, topic }) => level !== 'good' && topic !== 'agent');
}

/** Explained without a touch, then mended, then gone. */
async function isFoundAndMended(words: string | RegExp): Promise<void> {
  const untouched = (): readonly string[] => everything(folder).filter((file) => !file.startsWith('.git/'));
  const before = untouched();
  const found = await complaints();
  expect(found).toEqual([
    expect.objectContaining({
      text: expect.stringMatching(words) as unknown,
      fix: expect.stringMatching(/./) as unknown,
      mendable: true,
    }),
  ]);
  expect(untouched()).toEqual(before);
  expect((await doctor('--fix')).mended).not.toEqual([]);
  expect(await complaints()).toEqual([]);
}

const swarmFile = (...parts: string[]): string => path.join(folder, '.swarm', ...parts);

/** A worktree of ours that no batch knows, as a crash leaves one. */
function unknownWorktree(): string {
  const place = path.join(`${folder}.worktrees`, 'gone', 'x');
  mkdirSync(path.dirname(place), { recursive: true });
  git(
    folder,
    'worktree',
    'add',
    '-q',
    '--detach',
    '--lock',
    '--reason',
    'Swarm Panel: work of a child',
    place,
  );
  const gitDir = git(place, 'rev-parse', '--absolute-git-dir').trim();
  const base = git(folder, 'rev-parse', 'HEAD').trim();
  const mark = { kind: 'child', base, ready: true, inputs: [] };
  writeFileSync(path.join(gitDir, 'swarm-panel.json'), JSON.stringify(mark));
  return place;
}

describe('swarm doctor finds, explains and with --fix mends', () => {
  it('nothing where all is well', async () => {
    expect(await complaints()).toEqual([]);
  });

  it('the lock of an owner that died', async () => {
    const lock = swarmFile('lock');
    const closed = readdirSync(lock).find((name) => name.endsWith('.closed')) ?? '';
    const text = readFileSync(path.join(lock, closed), 'utf8');
    const next = String(Number(closed.slice(0, 6)) + 1).padStart(6, '0');
    const holder = { ...(JSON.parse(text) as object), epoch: Number(next) };
    writeFileSync(path.join(lock, next), JSON.stringify(holder), { mode: 0o600 });
    await isFoundAndMended('died without giving the folder up');
  });

  it('what a process left over that ended in the middle of a write', async () => {
    const file = swarmFile('view.json.99.1.tmp');
    writeFileSync(file, 'half', { mode: 0o600 });
    utimesSync(file, 1, 1);
    await isFoundAndMended('in the middle of a write');
    expect(existsSync(file)).toBe(false);
  });

  it('a damaged snapshot, which is set aside and not deleted', async () => {
    writeFileSync(swarmFile('state.json'), 'nonsense', { mode: 0o600 });
    const before = await doctor();
    expect(before.findings).toContainEqual(expect.objectContaining({ topic: 'state', mendable: true }));
    await doctor('--fix');
    const aside = readdirSync(swarmFile('corrupt'));
    expect(aside).toEqual([expect.stringMatching(/^state\.json/)]);
    expect(readFileSync(swarmFile('corrupt', aside[0] ?? ''), 'utf8')).toBe('nonsense');
    expect(await complaints()).toEqual([
      expect.objectContaining({ text: expect.stringContaining('kept for you') as unknown, mendable: false }),
    ]);
  });

  it('a damaged journal: what is sound counts, a copy is kept', async () => {
    const [name = ''] = readdirSync(swarmFile('journal')).filter((one) => one.endsWith('.jsonl'));
    const file = swarmFile('journal', name);
    const lines = readFileSync(file, 'utf8').split('\n');
    lines.splice(3, 0, 'not a record');
    writeFileSync(file, lines.join('\n'));
    expect((await complaints())[0]).toMatchObject({ topic: 'state', mendable: true });
    await doctor('--fix');
    expect(readdirSync(swarmFile('corrupt'))).toHaveLength(1);
    const after = await swarm(folder, ['status', '--json']);
    expect(JSON.parse(after.stdout)).toMatchObject({
      problems: [],
      batches: [{ children: [{ id: 'one', status: 'done' }] }],
    });
  });

  it('a file that others can read', async () => {
    chmodSync(swarmFile('view.json'), 0o644);
    await isFoundAndMended('other users');
  });

  it('a lock that a killed git left where only we write', async () => {
    const [ref = ''] = git(folder, 'for-each-ref', '--format=%(refname)', 'refs/swarm').trim().split('\n');
    const lock = path.join(folder, '.git', `${ref}.lock`);
    writeFileSync(lock, '');
    utimesSync(lock, 1, 1);
    await isFoundAndMended('a git that was killed');
  });

  it('a worktree that no batch knows', async () => {
    const place = unknownWorktree();
    await isFoundAndMended('belongs to no batch');
    expect(existsSync(place)).toBe(false);
  });

  it('but keeps a worktree whose edits are saved nowhere', async () => {
    const place = unknownWorktree();
    writeFileSync(path.join(place, 'only-here.txt'), 'dear\n');
    expect(await complaints()).toMatchObject([{ topic: 'worktree', mendable: false }]);
    await doctor('--fix');
    expect(readFileSync(path.join(place, 'only-here.txt'), 'utf8')).toBe('dear\n');
  });

  it('a process of an attempt that is over', async () => {
    const [batch = ''] = readdirSync(swarmFile('batches'));
    const command = swarmFile('batches', batch, 'children', 'one', 'attempts', '1', 'command.json');
    const { nonce } = JSON.parse(readFileSync(command, 'utf8')) as { nonce: string };
    const child = spawn('sleep', ['100'], {
      env: { SWARM_NONCE: nonce, PATH: process.env['PATH'] },
      stdio: 'ignore',
    });
    let gone = false;
    child.once('exit', () => (gone = true));
    try {
      await isFoundAndMended('still run');
      await until(() => gone);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
