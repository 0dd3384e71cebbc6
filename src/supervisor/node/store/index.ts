import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { OpenedStore, Store } from '../../ports.js';
import * as calls from '../fsCalls.js';
import { startTimeOf } from '../processes/identity.js';
import { connectTo } from './connection.js';
import { readContents } from './contents.js';
import { Journal } from './journal.js';
import { isOwnFolder, ownFolders } from './layout.js';
import { claim, readLock, thisHolder, type Claim } from './lock.js';
import { writeBase } from './prune.js';
import { repairJournal } from './repair.js';
import { ViewerServer } from './server.js';
import { readVersion, readView, schemaVersion } from './snapshots.js';
import { socketPath } from './socketPath.js';
import { freeReserve, SwarmStore } from './store.js';

export { examineStore, mendStore, type StoreFinding } from './examine.js';
export { lookAtStore, type StoreLook } from './look.js';

export interface OpenStoreOptions {
  /** Where there is no folder: make one, or say `absent`. */
  readonly create: boolean;
  /** Of this program, for `VERSION`. */
  readonly version?: string;
  /** How long an owner that lives but does not answer is waited for, before it is superseded. */
  readonly answerWithin?: number;
  readonly segmentSize?: number;
}

/**
 * Becomes the owner of `.swarm`, or a viewer beside the one there is. An owner that died is replaced at once, one that
 * is stuck after `answerWithin`; the old one is fenced off by its epoch.
 */
export async function openStore(swarmFolder: string, options: OpenStoreOptions): Promise<OpenedStore> {
  const swarm = path.resolve(swarmFolder);
  const found = await calls.entry(swarm).catch(() => null);
  if (found === null && !options.create) return { kind: 'absent' };
  if (found !== null && !isOwnFolder(found))
    return refused(
      `${swarm} is ${found.isSymbolicLink() ? 'a symbolic link' : 'not a folder'}.`,
      'Move it away; Swarm Panel keeps its own files there.',
    );
  const version = await readVersion(path.join(swarm, 'VERSION'), []);
  if (version.kind === 'newer')
    return {
      kind: 'readOnly',
      writtenBy: version.writtenBy,
      view: await readView(path.join(swarm, 'view.json')),
    };
  let made: readonly string[] = [];
  try {
    made = await makeLayout(swarm, options.version ?? '0.0.0');
    return await ownOrView(swarm, options);
  } catch (error) {
    await removeEmpty(made);
    return explain(swarm, error);
  }
}

async function ownOrView(swarm: string, options: OpenStoreOptions): Promise<OpenedStore> {
  const lockFolder = path.join(swarm, 'lock');
  const patience = options.answerWithin ?? 10_000;
  const nonce = randomBytes(16).toString('hex');
  const socket = await socketPath(swarm, nonce);
  const startTime = (await startTimeOf(process.pid)) ?? '';
  const me = thisHolder(nonce, socket, options.version ?? '0.0.0', startTime);
  let waitedFor = '';
  let since = 0;
  for (;;) {
    const lock = await readLock(lockFolder);
    if (lock.kind === 'free') {
      const mine = await claim(lockFolder, lock.epoch, me);
      if (mine !== null) return await own(swarm, mine, false, options);
      continue;
    }
    if (waitedFor !== lock.holder.nonce) since = performance.now();
    waitedFor = lock.holder.nonce;
    const left = patience - (performance.now() - since);
    if (left > 0) {
      const connection = await connectTo(lock.holder, left);
      if (typeof connection !== 'string') return { kind: 'viewer', connection };
      // It may be on its way: it claims first and listens then.
      await delay(25);
      continue;
    }
    const mine = await claim(lockFolder, lock.epoch, me);
    if (mine !== null) return await own(swarm, mine, true, options);
  }
}

/** `forced`: the last owner may still be running, so its segment is left to it. */
async function own(
  swarm: string,
  mine: Claim,
  forced: boolean,
  options: OpenStoreOptions,
): Promise<OpenedStore> {
  const { holder } = mine;
  const owner = { pid: holder.pid, epoch: holder.epoch, host: holder.host };
  const server = new ViewerServer(holder.socket, holder.nonce, owner);
  try {
    const contents = await readContents(swarm);
    if (contents.journal.needsBase && contents.state !== null)
      await writeBase(swarm, contents.state, holder.epoch);
    const repaired = await repairJournal(swarm, contents.journal);
    const end = forced ? { ...repaired, segment: repaired.segment + 1, length: 0 } : repaired;
    const journal = new Journal({
      folder: path.join(swarm, 'journal'),
      epoch: holder.epoch,
      end,
      segmentSize: options.segmentSize ?? 16 * 1024 * 1024 - 64 * 1024,
      syncWithin: 40,
      fence: () => mine.check(),
      onRefused: (error) => freeReserve(swarm, error),
    });
    await server.listen();
    await mine.announce();
    const loaded: Store['loaded'] = {
      state: contents.state,
      events: contents.events,
      problems: contents.problems,
      lastSeq: contents.lastSeq,
    };
    const store = new SwarmStore(swarm, owner, loaded, mine, journal, server, contents.newestIsSound);
    if ((await calls.entry(path.join(swarm, 'reserve'))) === null)
      await store.makeReserve().catch(() => undefined);
    return { kind: 'owner', store };
  } catch (error) {
    await server.close().catch(() => undefined);
    await mine.release();
    throw error;
  }
}

/** Makes what is missing and says what it made. Throws where a part is not what it should be. */
async function makeLayout(swarm: string, version: string): Promise<readonly string[]> {
  const made: string[] = [];
  try {
    for (const folder of [swarm, ...ownFolders.map((name) => path.join(swarm, name))]) {
      const stats = await calls.entry(folder);
      if (stats === null) {
        await calls.mkdir(folder);
        made.push(folder);
      } else if (!isOwnFolder(stats)) throw new NotOurs(folder);
      else if ((stats.mode & 0o077) !== 0 && process.platform !== 'win32')
        await fs.chmod(folder, calls.privateFolder);
    }
    const files = {
      '.gitignore': '*\n',
      VERSION: `${JSON.stringify({ schema: schemaVersion, minReader: 1, createdBy: version })}\n`,
    };
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(swarm, name);
      const stats = await calls.entry(file);
      if (stats === null) await calls.writeWhole(file, text);
      else if (!stats.isFile()) throw new NotOurs(file);
    }
    return made;
  } catch (error) {
    await removeEmpty(made);
    throw error;
  }
}

class NotOurs extends Error {
  constructor(readonly path: string) {
    super(`${path} is a link or not what belongs there.`);
  }
}

/** A command that failed leaves nothing behind: folders made just now go, with the files that every folder has. */
async function removeEmpty(made: readonly string[]): Promise<void> {
  const swarm = made[0];
  if (swarm === undefined) return;
  for (const folder of [...made].reverse()) {
    if (folder === swarm)
      for (const name of ['.gitignore', 'VERSION'])
        await fs.unlink(path.join(folder, name)).catch(() => undefined);
    await fs.rmdir(folder).catch(() => undefined);
  }
}

function explain(swarm: string, error: unknown): OpenedStore {
  if (error instanceof NotOurs)
    return refused(error.message, 'Remove it; Swarm Panel writes through no links.');
  const code = calls.errorCode(error);
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return refused(
        `${swarm} cannot be written: ${calls.messageOf(error)}`,
        `Make the folder writable for ${os.userInfo().username}, or move the repository to a place that is.`,
      );
    case 'ENOSPC':
    case 'EDQUOT':
      return refused(`There is no space left for ${swarm}.`, 'Free some space on this disk.');
    default:
      return refused(
        `${swarm} cannot be used: ${calls.messageOf(error)}`,
        'See the message; "swarm doctor" tells more.',
      );
  }
}

function refused(message: string, fix: string): OpenedStore {
  return { kind: 'refused', message, fix };
}
