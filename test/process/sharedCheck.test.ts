import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Supervisor } from '../../src/supervisor/api.js';
import { openSupervisor } from '../../src/supervisor/supervisor.js';
import { buildCli } from './support/cliBuild.js';
import { createWorld, launchScript, viewWhere, type World } from './support/world.js';

const project = {
  '.gitignore': 'node_modules\n',
  'package.json': '{"private":true,"type":"module"}\n',
  'tsconfig.json': JSON.stringify({
    compilerOptions: { target: 'ES2022', module: 'NodeNext', strict: true, types: [] },
    include: ['src'],
  }),
  'src/index.ts': 'export const version = 1;\n',
};

/**
 * `half` leaves a file that does not compile and waits; `other` writes one that does, asks git and tsc, and waits.
 * What the commands have said goes into the memory.
 */
const agent = `
import fs from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
const say = (line) => fs.writeSync(1, JSON.stringify(line) + '\\n');
const { SWARM_CHILD, TEST_MEMORY } = process.env;
const write = (file, text) => {
  say({ type: 'writing', path: file });
  fs.writeFileSync(file, text);
  say({ type: 'write', path: file });
};
const remember = (name, value) => {
  const file = path.join(TEST_MEMORY, name);
  fs.writeFileSync(file + '.tmp', JSON.stringify(value));
  fs.renameSync(file + '.tmp', file);
};
const waitFor = async (name) => {
  while (!fs.existsSync(path.join(TEST_MEMORY, name))) await new Promise((resolve) => setTimeout(resolve, 30));
};
const run = (...words) => {
  const { status, stdout, stderr } = spawnSync(words[0], words.slice(1), { encoding: 'utf8' });
  return { status, stdout, stderr };
};
say({ type: 'session', id: 'session-' + SWARM_CHILD });
if (SWARM_CHILD === 'half') {
  write('src/half.ts', 'export const half: number = ');
  remember('half-written', true);
  await waitFor('end');
  write('src/half.ts', 'export const half: number = 1;\\n');
} else {
  await waitFor('half-known');
  write('src/other.ts', 'import { version } from "./index.js";\\nexport const other: number = version;\\n');
  remember('asked', {
    stash: run('git', 'stash'),
    status: run('git', 'status', '--porcelain'),
    green: run('npx', 'tsc', '--noEmit'),
  });
  write('src/other.ts', 'export const other: number = "no number";\\n');
  remember('asked-again', { red: run('tsc', '--noEmit') });
  await waitFor('end');
  write('src/other.ts', 'export const other: number = 2;\\n');
}
say({ type: 'done', result: 'made it' });
`;

interface Said {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

let world: World;
let cli: string;
let supervisor: Supervisor;

beforeEach(async () => {
  world = createWorld(project);
  mkdirSync(path.join(world.repository, 'node_modules', '.bin'), { recursive: true });
  const typescript = path.resolve('node_modules', 'typescript');
  symlinkSync(typescript, path.join(world.repository, 'node_modules', 'typescript'));
  symlinkSync('../typescript/bin/tsc', path.join(world.repository, 'node_modules', '.bin', 'tsc'));
  cli = await buildCli(world.root);
});

afterEach(async () => {
  await supervisor.close({ stopAgents: true });
  await world.clean();
});

async function launch(): Promise<string> {
  const opened = await openSupervisor({
    ...world.options(),
    ownProgram: { file: process.execPath, args: [cli], env: {} },
  });
  if (!opened.ok) throw new Error(opened.message);
  supervisor = opened.supervisor;
  const script = world.write('agent.mjs', agent);
  return launchScript(supervisor, script, {
    isolation: 'shared',
    check: ['tsc', '--noEmit'],
    tasks: ['half', 'other'].map((id) => ({ id, prompt: `make ${id}` })),
  });
}

function remembered(name: string): Promise<unknown> {
  const file = path.join(world.memory, name);
  return new Promise((resolve, reject) => {
    const until = Date.now() + 60_000;
    const look = (): void => {
      if (existsSync(file)) resolve(JSON.parse(readFileSync(file, 'utf8')));
      else if (Date.now() > until) reject(new Error(`${name} was never written\n${world.log.join('\n')}`));
      else setTimeout(look, 20);
    };
    look();
  });
}

function tell(name: string): void {
  writeFileSync(path.join(world.memory, name), '');
}

async function halfIsKnown(): Promise<void> {
  await remembered('half-written');
  await viewWhere(supervisor, 'half has written', (view) =>
    (view.batches[0]?.children ?? []).some((child) => child.id === 'half' && child.files.written === 1),
  );
  tell('half-known');
}

async function swarmCheck(...command: string[]): Promise<Said> {
  const child = spawn(process.execPath, [cli, '-C', world.repository, 'check', ...command], {
    env: { PATH: process.env['PATH'], HOME: world.root },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const status = await new Promise<number>((done) => child.on('close', (code) => done(code ?? -1)));
  return { status, stdout, stderr };
}

describe('children in one tree', () => {
  test('an agent’s git may look and not change, and its tsc sees nobody’s half-written files but its own', async () => {
    await launch();
    await halfIsKnown();
    const asked = (await remembered('asked')) as { stash: Said; status: Said; green: Said };
    expect(asked.stash).toMatchObject({ status: 1, stdout: '' });
    expect(asked.stash.stderr).toContain('others work in this folder too');
    expect(asked.status).toMatchObject({ status: 0, stderr: '' });
    expect(asked.status.stdout).toContain('src/half.ts');
    expect(asked.green).toMatchObject({ status: 0, stdout: '' });
    expect(asked.green.stderr).toContain('held back: 1 file of half (running, half-written)');
    const { red } = (await remembered('asked-again')) as { red: Said };
    expect(red.status).toBe(2);
    expect(red.stdout).toContain('src/other.ts(1,14): error TS2322');
    expect(red.stdout).not.toContain('half.ts');
    expect(red.stderr).toContain('1 error: 0 in your own files, 1 in files of other');
    expect(world.git('stash', 'list')).toBe('');
    tell('end');
    await viewWhere(supervisor, 'all done', (view) => view.batches[0]?.status === 'succeeded', 60_000);
  });

  test('a person’s check holds back what children are in the middle of, and passes the command through', async () => {
    const batch = await launch();
    await halfIsKnown();
    await remembered('asked-again');
    writeFileSync(path.join(world.repository, 'src/mine.ts'), 'export const mine: string = 3;\n');
    const head = world.git('rev-parse', 'HEAD');
    const index = readFileSync(path.join(world.repository, '.git/index'));

    const red = await swarmCheck();
    expect(red.stdout).toBe(
      "src/mine.ts(1,14): error TS2322: Type 'number' is not assignable to type 'string'.\n",
    );
    expect(red.status).toBe(2);
    expect(red.stderr).toContain('1 error: 1 in your own files');
    expect(red.stderr).toMatch(/held back: 1 file of half \(running, half-written\), 1 file of other/);
    const shown = await viewWhere(
      supervisor,
      'the check is shown',
      (view) => view.batches[0]?.check !== null,
    );
    expect(shown.batches[0]?.check).toMatchObject({ state: 'red', errors: 1, errorsInTree: 1 });

    // Byte for byte and with its own exit code, whatever it is.
    const through = await swarmCheck('--', 'sh', '-c', 'printf "a\\001b"; printf c >&2; exit 7');
    expect(through).toMatchObject({ status: 7, stdout: 'a\u0001b' });
    expect(through.stderr).toMatch(/^cswarm: held back/);
    expect((await swarmCheck('--', 'no-such-program')).status).toBe(125);

    // A child that stops leaves nothing in the way: then the check runs on the tree itself.
    const targets = [
      { batch, child: 'half' },
      { batch, child: 'other' },
    ];
    expect(await supervisor.request({ type: 'pause', targets })).toEqual({ ok: true });
    await viewWhere(supervisor, 'both are moved', (view) =>
      (view.batches[0]?.children ?? []).every((child) => child.quarantine?.moved === 1),
    );
    writeFileSync(path.join(world.repository, 'src/mine.ts'), 'export const mine: string = "3";\n');
    const where = await swarmCheck('--', 'pwd');
    expect(where.stdout).toBe(`${world.repository}\n`);
    expect(where.stderr).toContain('1 file of half (paused, in its own worktree)');
    expect((await swarmCheck()).status).toBe(0);
    expect(world.git('rev-parse', 'HEAD')).toBe(head);
    expect(readFileSync(path.join(world.repository, '.git/index')).equals(index)).toBe(true);
    expect(execFileSync('git', ['stash', 'list'], { cwd: world.repository, encoding: 'utf8' })).toBe('');
  });
});
