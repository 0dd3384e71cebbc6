import fs from 'node:fs/promises';
import path from 'node:path';
import type { OpenedStore } from '../../ports.js';
import * as calls from '../fsCalls.js';
import { ownFolders } from './layout.js';
import { readLock } from './lock.js';
import { setAside } from './repair.js';
import { readSnapshot, readVersion, readView, snapshotFiles } from './snapshots.js';

/** Something in `.swarm` that does not belong there, or not like this. */
export interface StoreFinding {
  readonly kind: 'staleLock' | 'temporary' | 'damaged' | 'setAside' | 'foreign' | 'open' | 'link';
  readonly path: string;
  readonly bytes: number;
  readonly message: string;
}

/** A temporary file that is older belongs to nobody any more: whole files are written in moments. */
const oldTemporary = 60_000;
const ownFiles = ['VERSION', '.gitignore', 'state.json', 'view.json', 'reserve', 'probe', 'notified.json'];

/** Looks at everything below `.swarm`; writes nothing and follows no link. Empty where there is no folder. */
export async function examineStore(swarm: string): Promise<readonly StoreFinding[]> {
  const found: StoreFinding[] = [];
  const stats = await calls.entry(swarm).catch(() => null);
  if (stats === null || !stats.isDirectory()) return found;
  await lookBelow(swarm, swarm, found);
  await lookAtLock(swarm, found);
  for (const name of await damagedFiles(swarm))
    found.push(finding('damaged', path.join(swarm, name), 0, 'is damaged and is not used.'));
  return found;
}

/**
 * Mends what is safe: replaces a dead owner (which cuts a torn journal and sets a damaged one aside), sets damaged
 * snapshots aside, removes old temporary files, closes what is open to others. Says what it did, and nothing where a
 * living owner or a newer version has the folder.
 */
export async function mendStore(
  swarm: string,
  open: (swarm: string) => Promise<OpenedStore>,
): Promise<readonly string[]> {
  const before = await examineStore(swarm);
  const opened = await open(swarm);
  if (opened.kind === 'viewer') opened.connection.close();
  if (opened.kind !== 'owner') return [];
  const done: string[] = [];
  try {
    for (const { message, path: file } of opened.store.loaded.problems) done.push(`${file}: ${message}`);
    for (const one of before) done.push(...(await mend(swarm, one)));
  } finally {
    await opened.store.close();
  }
  return done;
}

async function mend(swarm: string, { kind, path: file }: StoreFinding): Promise<readonly string[]> {
  switch (kind) {
    case 'staleLock':
      return [`${file}: taken over and given up properly.`];
    case 'temporary':
      await calls.unlink(file).catch(() => undefined);
      return [`${file}: removed.`];
    case 'damaged':
      return [`${file}: set aside as ${await setAside(swarm, file)}.`];
    case 'open': {
      const stats = await calls.entry(file);
      if (stats === null) return [];
      await fs.chmod(file, stats.isDirectory() ? calls.privateFolder : calls.privateFile);
      return [`${file}: is now for you alone.`];
    }
    case 'setAside':
    case 'foreign':
    case 'link':
      return [];
    default:
      return kind satisfies never;
  }
}

async function lookBelow(swarm: string, folder: string, found: StoreFinding[]): Promise<void> {
  const inCorrupt = folder === path.join(swarm, 'corrupt');
  for (const name of await fs.readdir(folder).catch(() => [])) {
    const file = path.join(folder, name);
    const stats = await calls.entry(file).catch(() => null);
    if (stats === null) continue;
    const bytes = stats.isFile() ? stats.size : 0;
    if (stats.isSymbolicLink())
      found.push(finding('link', file, 0, 'is a symbolic link; it is not followed.'));
    else if (inCorrupt)
      found.push(finding('setAside', file, bytes, 'was damaged and is kept for you to look at.'));
    else if (folder === swarm && !isOwnName(name, stats.isDirectory()))
      found.push(finding('foreign', file, bytes, 'is none of ours; it is left alone.'));
    else if (stats.isFile() && name.endsWith('.tmp') && name !== 'exit.tmp') {
      if (Date.now() - stats.mtimeMs > oldTemporary)
        found.push(
          finding(
            'temporary',
            file,
            bytes,
            'was left over by a process that ended in the middle of a write.',
          ),
        );
    } else if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0)
      found.push(finding('open', file, bytes, 'can be read by other users of this machine.'));
    if (stats.isDirectory() && !inCorrupt) await lookBelow(swarm, file, found);
  }
}

function isOwnName(name: string, isFolder: boolean): boolean {
  if (isFolder) return (ownFolders as readonly string[]).includes(name) || name === 'shims';
  return ownFiles.includes(name) || name.endsWith('.tmp');
}

async function lookAtLock(swarm: string, found: StoreFinding[]): Promise<void> {
  const folder = path.join(swarm, 'lock');
  const names = (await fs.readdir(folder).catch(() => []))
    .filter((name) => /^\d{6,12}(\.closed)?$/.test(name))
    .sort();
  const top = names.at(-1);
  if (top === undefined || top.endsWith('.closed')) return;
  if ((await readLock(folder)).kind === 'free')
    found.push(
      finding(
        'staleLock',
        path.join(folder, top),
        0,
        'is of an owner that died without giving the folder up.',
      ),
    );
}

/** Names of files that are there and cannot be used. The journal is looked at when it is read. */
async function damagedFiles(swarm: string): Promise<readonly string[]> {
  const damaged: string[] = [];
  for (const name of Object.values(snapshotFiles)) {
    const file = path.join(swarm, name);
    if ((await calls.entry(file))?.isFile() && (await readSnapshot(file, [])) === null) damaged.push(name);
  }
  if ((await readVersion(path.join(swarm, 'VERSION'), [])).kind === 'damaged') damaged.push('VERSION');
  const view = path.join(swarm, 'view.json');
  if ((await calls.entry(view))?.isFile() && (await readView(view)) === null) damaged.push('view.json');
  return damaged;
}

function finding(kind: StoreFinding['kind'], file: string, bytes: number, what: string): StoreFinding {
  return { kind, path: file, bytes, message: what };
}
