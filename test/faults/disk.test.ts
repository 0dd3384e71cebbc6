import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openStore } from '../../src/supervisor/node/store/index.js';
import { lookAtStore } from '../../src/supervisor/node/store/look.js';
import { createProcesses } from '../../src/supervisor/node/processes/index.js';
import { shellAttempt, started, until } from '../support/attempts.js';
import { buildDriver, runDriver } from '../support/driverBuild.js';
import { temporary } from '../support/storeFixtures.js';

const mounted: string[] = [];
afterEach(() => {
  for (const folder of mounted.splice(0)) execFileSync('umount', ['-l', folder]);
});

/** A file system of its own; needs the right to mount one. */
function disk(options: string): string {
  const folder = temporary();
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  mounted.push(folder);
  return folder;
}

describe('a full disk', () => {
  it('of one megabyte: what was acknowledged stays, the last records are paid by the reserve, space is used again', async () => {
    const folder = path.join(disk('size=1m'), '.swarm');
    const run = await runDriver(await buildDriver('diskWriter'), [folder]);
    expect(run.errors).toBe('');
    const words = run.lines.filter((line) => !line.startsWith('ack'));
    expect(words).toEqual(['full', 'probe false', 'told', 'probe true', 'free', 'closed']);
    const last = Number(run.lines.findLast((line) => line.startsWith('ack'))?.split(' ')[1]);
    const look = await lookAtStore(folder);
    expect(look?.problems).toEqual([]);
    expect(look?.events.at(-1)?.seq).toBe(last);
    expect(look?.events).toHaveLength(last);
  });

  it('of 64 KiB is refused or lived with, and never half opened', async () => {
    const folder = path.join(disk('size=64k'), '.swarm');
    const opened = await openStore(folder, { create: true });
    expect(['owner', 'refused']).toContain(opened.kind);
    if (opened.kind === 'owner') await opened.store.close();
  });

  it('with no space at all is refused, and nothing is left behind', async () => {
    const parent = disk('size=64k');
    expect(() => fs.writeFileSync(path.join(parent, 'ballast'), Buffer.alloc(80_000))).toThrow('ENOSPC');
    expect(await openStore(path.join(parent, '.swarm'), { create: true })).toMatchObject({ kind: 'refused' });
    expect(fs.readdirSync(parent)).toEqual(['ballast']);
  });

  it('does not lose how an attempt ended', async () => {
    const parent = disk('size=256k');
    const processes = createProcesses();
    const request = shellAttempt('sleep 0.5; exit 9', { folder: path.join(parent, 'a') });
    started(await processes.start(request));
    expect(() => fs.writeFileSync(path.join(parent, 'ballast'), Buffer.alloc(300_000))).toThrow('ENOSPC');
    await until(async () => (await processes.find(request.folder)).kind !== 'alive');
    expect(await processes.find(request.folder)).toEqual({ kind: 'ended', code: 9, signal: null });
  });

  it('starts nothing, says so, and the attempt may be started later', async () => {
    const parent = disk('size=64k');
    const processes = createProcesses();
    const request = shellAttempt('exit 0', { folder: path.join(parent, 'a') });
    expect(() => fs.writeFileSync(path.join(parent, 'ballast'), Buffer.alloc(80_000))).toThrow('ENOSPC');
    expect(await processes.start(request)).toMatchObject({ kind: 'failed', disk: true });
    fs.rmSync(path.join(parent, 'ballast'));
    expect((await processes.start(request)).kind).toBe('started');
  });
});

describe('a disk that cannot be written', () => {
  it('is refused with what to do, and can be looked at', async () => {
    const parent = disk('size=4m');
    const folder = path.join(parent, '.swarm');
    const first = await openStore(folder, { create: true });
    if (first.kind === 'owner') await first.store.close();
    execFileSync('mount', ['-o', 'remount,ro', parent]);
    expect(await openStore(folder, { create: true })).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('cannot be written') as unknown,
      fix: expect.stringContaining('writable') as unknown,
    });
    expect((await lookAtStore(folder))?.problems).toEqual([]);
  });
});
