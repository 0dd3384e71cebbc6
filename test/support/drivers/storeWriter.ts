import fs from 'node:fs';
import { faultCount } from '../../../src/supervisor/node/fsCalls.js';
import { openStore } from '../../../src/supervisor/node/store/index.js';
import { StoreError } from '../../../src/supervisor/ports.js';
import { emptyView, event, state } from '../storeValues.js';

/**
 * Owns a folder and does all that an owner does, saying on stdout what was acknowledged before it does the next thing.
 * It is killed, or refused a call, at any point. Arguments: folder, number of events.
 */
async function main(folder: string, upTo: number): Promise<void> {
  const opened = await openStore(folder, { create: true, segmentSize: 2_000 });
  if (opened.kind !== 'owner') {
    say(`${opened.kind} ${'message' in opened ? opened.message : ''}`);
    return;
  }
  const { store } = opened;
  say(`opened ${store.loaded.lastSeq}`);
  for (let seq = store.loaded.lastSeq + 1; seq <= upTo; seq++) {
    const synced = seq % 3 !== 0;
    await again(() => store.append([event(seq)], synced));
    say(`ack ${seq} ${synced}`);
    if (seq % 5 === 0) {
      await again(() => store.saveState(state(seq)));
      say(`state ${seq}`);
    }
    if (seq % 4 === 0) {
      await again(() => store.write('batches/b1/batch.json', JSON.stringify({ seq })));
      say(`file ${seq}`);
      await again(() => store.appendLines('batches/b1/edits.jsonl', [JSON.stringify({ seq })]));
      say(`line ${seq}`);
      await again(() => store.saveView(emptyView(seq)));
    }
  }
  await store.close();
  say(`closed ${faultCount()}`);
}

/** A refused call is tried once more, as the loop would when there is space again. */
async function again(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof StoreError) || error.kind !== 'disk') throw error;
    say('refused');
    await work();
  }
}

function say(line: string): void {
  fs.writeSync(1, `${line}\n`);
}

await main(process.argv[2] ?? '', Number(process.argv[3]));
