import fs from 'node:fs';
import path from 'node:path';
import { openStore } from '../../../src/supervisor/node/store/index.js';
import { StoreError } from '../../../src/supervisor/ports.js';
import { event } from '../storeValues.js';

/**
 * Fills a small disk with events and lives through it. Arguments: folder. Says each acknowledged number, `full` at the
 * first refusal, `told` when the record about it was written all the same, `free` when there is space again.
 */
async function main(folder: string): Promise<void> {
  const opened = await openStore(folder, { create: true });
  if (opened.kind !== 'owner') {
    say(`${opened.kind} ${'message' in opened ? opened.message : ''}`);
    return;
  }
  const { store } = opened;
  let seq = store.loaded.lastSeq;
  const append = async (size: number): Promise<boolean> => {
    try {
      await store.append([event(seq + 1, size)], true);
      seq += 1;
      say(`ack ${seq}`);
      return true;
    } catch (error) {
      if (error instanceof StoreError && error.kind === 'disk') return false;
      throw error;
    }
  };
  const ballast = path.join(folder, '..', 'ballast');
  // Others fill the disk up to the last byte.
  fillUp(ballast);
  while (await append(3_000));
  say('full');
  say(`probe ${await store.probe()}`);
  if (await append(0)) say('told');
  fs.rmSync(ballast);
  for (let tries = 0; tries < 50 && !(await store.probe()); tries++)
    await new Promise((resolve) => setTimeout(resolve, 20));
  say(`probe ${await store.probe()}`);
  if (await append(10)) say('free');
  await store.close();
  say('closed');
}

function fillUp(file: string): void {
  const fd = fs.openSync(file, 'w');
  for (const size of [65_536, 4_096, 1])
    try {
      for (;;) fs.writeSync(fd, Buffer.alloc(size));
    } catch {
      // Full for this size.
    }
  fs.closeSync(fd);
}

function say(line: string): void {
  fs.writeSync(1, `${line}\n`);
}

await main(process.argv[2] ?? '');
