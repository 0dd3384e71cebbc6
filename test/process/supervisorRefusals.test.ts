import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Request } from '../../src/protocol/request.js';
import { openSupervisor } from '../../src/supervisor/supervisor.js';
import { createGit } from '../../src/supervisor/node/git/index.js';
import { createWorld, type World } from './support/world.js';

let world: World;
afterEach(() => world.clean());

/** Every file of a folder with its content, mode and time, git's own files too. */
function fingerprint(folder: string): string {
  const hash = createHash('sha256');
  const walk = (current: string) => {
    for (const name of readdirSync(current).sort()) {
      const file = path.join(current, name);
      const stats = lstatSync(file);
      hash.update(`${file}\0${stats.mode}\0${stats.isDirectory() ? '' : stats.mtimeMs}\0`);
      if (stats.isSymbolicLink()) hash.update(readlinkSync(file));
      else if (stats.isDirectory()) walk(file);
      else hash.update(readFileSync(file));
    }
  };
  walk(folder);
  return hash.digest('hex');
}

function launch(manifest: object, consent = true): Request {
  return {
    type: 'launch',
    manifest: { kind: 'json', text: JSON.stringify(manifest), name: 'x.json' },
    consent,
  };
}

function manifest(command: readonly string[], more: object = {}): object {
  return {
    version: 1,
    executor: 'mine',
    executors: { mine: { adapter: 'command', command } },
    tasks: [{ prompt: 'x' }],
    ...more,
  };
}

/** Opens, asks, closes; what was answered, with the whole repository as before. */
async function refusalOf(
  request: Request,
  settings: Record<string, unknown> = {},
): Promise<{ code: number; messages: string[] }> {
  const before = fingerprint(world.repository);
  const supervisor = await world.open(settings);
  const answer = await supervisor.request(request);
  await supervisor.close({ stopAgents: false });
  expect(fingerprint(world.repository), 'the repository is byte for byte as before').toBe(before);
  expect(existsSync(`${world.repository}.worktrees`)).toBe(false);
  if (answer.ok) throw new Error('not refused');
  return { code: answer.code, messages: answer.errors.map((error) => `${error.message} | ${error.fix}`) };
}

/** What opening says where there is nothing to own. */
async function openingOf(folder: string, git = createGit()): Promise<string> {
  const opened = await openSupervisor({ ...world.options(), folder, git });
  if (opened.ok) {
    await opened.supervisor.close({ stopAgents: false });
    return 'opened';
  }
  return `${opened.code} ${opened.message}`;
}

test('a manifest that is wrong, names an unknown executor or is too large starts and writes nothing', async () => {
  world = createWorld();
  expect((await refusalOf(launch({ version: 1, tasks: [] }))).code).toBe(2);
  expect(
    (await refusalOf(launch({ version: 1, executor: 'nobody', tasks: [{ prompt: 'x' }] }))).messages,
  ).toEqual([expect.stringContaining('Unknown executor "nobody"')]);
  expect(
    (
      await refusalOf(
        launch(manifest(['node'], { maxTotalSpawned: 1, tasks: [{ prompt: 'a' }, { prompt: 'b' }] })),
      )
    ).code,
  ).toBe(2);
});

test('a program that is missing or not executable is said before anything is made', async () => {
  world = createWorld();
  const plain = world.write('plain.sh', '#!/bin/sh\n');
  const missing = await refusalOf(launch(manifest(['no-such-program-here'])));
  const closed = await refusalOf(launch(manifest([plain])));
  expect({ missing: missing.code, closed: closed.code }).toEqual({ missing: 3, closed: 3 });
  expect(missing.messages[0]).toContain('no-such-program-here');
  expect(closed.messages[0]).toContain('plain.sh');
});

test('a manifest with programs of its own is not started without consent', async () => {
  world = createWorld();
  const refused = await refusalOf(launch(manifest(['node', 'agent.mjs']), false));
  expect(refused.messages).toEqual([expect.stringContaining('node agent.mjs')]);
});

test('without a repository, without a commit, bare, or without git: said with what to do', async () => {
  world = createWorld();
  const bare = path.join(world.root, 'bare.git');
  execFileSync('git', ['init', '-q', '--bare', bare]);
  const empty = path.join(world.root, 'empty');
  execFileSync('git', ['init', '-q', empty]);
  const nothing = path.join(world.root, 'nothing');
  mkdirSync(nothing);
  for (const folder of [bare, empty, nothing]) {
    const before = fingerprint(folder);
    expect(await openingOf(folder)).toMatch(/^3 ./);
    expect(fingerprint(folder)).toBe(before);
  }
  expect(await openingOf(world.repository, createGit({ git: '/no/git/here' }))).toMatch(/^3 ./);
  const old = world.write('old-git', '#!/bin/sh\necho git version 2.20.1\n');
  chmodSync(old, 0o755);
  expect(await openingOf(world.repository, createGit({ git: old }))).toMatch(/^3 .*2\.20/);
});

test('a `.swarm` that is a symlink is refused and not followed', async () => {
  world = createWorld();
  const target = path.join(world.root, 'elsewhere');
  mkdirSync(target);
  symlinkSync(target, path.join(world.repository, '.swarm'));
  expect(await openingOf(world.repository)).toMatch(/^3 ./);
  expect(readdirSync(target)).toEqual([]);
});

test('a `.swarm` of a newer version is shown as far as it can be read, and nothing is launched', async () => {
  world = createWorld();
  mkdirSync(path.join(world.repository, '.swarm'), { mode: 0o700 });
  writeFileSync(
    path.join(world.repository, '.swarm', 'VERSION'),
    JSON.stringify({ schema: 9, minReader: 9, createdBy: '9.9.9' }),
  );
  const supervisor = await world.open();
  expect(supervisor.role).toBe('readOnly');
  expect(await supervisor.request(launch(manifest([process.execPath])))).toMatchObject({
    ok: false,
    code: 3,
    errors: [{ message: expect.stringContaining('9.9.9') as string }],
  });
  await supervisor.close({ stopAgents: false });
  expect(readdirSync(path.join(world.repository, '.swarm'))).toEqual(['VERSION']);
});

test('where `.swarm` cannot be made, that is said and nothing is left', async () => {
  world = createWorld();
  const before = fingerprint(world.repository);
  const { openStore } = world.options();
  // No permission keeps the root user out; here nobody can make a folder.
  const opened = await openSupervisor({
    ...world.options(),
    openStore: (_, options) => openStore('/proc/.swarm', options),
  });
  if (!opened.ok) throw new Error(opened.message);
  const answer = await opened.supervisor.request(launch(manifest([process.execPath])));
  expect(answer).toMatchObject({ ok: false, code: 3 });
  await opened.supervisor.close({ stopAgents: false });
  expect(fingerprint(world.repository)).toBe(before);
});

test('a full file system is said, and no `.swarm` is left behind', async () => {
  world = createWorld();
  const supervisor = await world.open();
  await supervisor.close({ stopAgents: false });
  const { openStore } = world.options();
  const opened = await openSupervisor({
    ...world.options(),
    openStore: (folder, options) =>
      options.create
        ? Promise.resolve({ kind: 'refused', message: 'No space left', fix: 'Free some space.' })
        : openStore(folder, options),
  });
  if (!opened.ok) throw new Error(opened.message);
  const answer = await opened.supervisor.request(launch(manifest([process.execPath])));
  expect(answer).toMatchObject({ ok: false, code: 3, errors: [{ message: 'No space left' }] });
  await opened.supervisor.close({ stopAgents: false });
  expect(existsSync(path.join(world.repository, '.swarm'))).toBe(false);
  rmSync(`${world.repository}.worktrees`, { recursive: true, force: true });
});
