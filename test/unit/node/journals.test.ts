import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { initialState } from '../../../src/supervisor/core/initial.js';
import { replay } from '../../../src/supervisor/core/reduce.js';
import { deriveView } from '../../../src/supervisor/core/view.js';
import { openStore } from '../../../src/supervisor/node/store/index.js';
import { encodeRecord } from '../../../src/supervisor/node/store/record.js';
import { hunt } from '../core/hunt.js';
import { temporary } from '../../support/storeFixtures.js';

const kept = path.join(import.meta.dirname, '..', '..', 'journals');

/** With what the kept runs began; settings that change later are events. */
const settings = { maxConcurrent: 5, askAbove: null };

/** `RECORD=<version>` keeps a journal of this version; a kept one is never written again. */
const version = process.env['RECORD'];
if (version !== undefined && !fs.existsSync(path.join(kept, version))) {
  const { journal, state } = hunt(11, 400);
  const folder = path.join(kept, version, 'journal');
  fs.mkdirSync(folder, { recursive: true });
  const lines = journal.map((stamped) => encodeRecord(stamped, 1, stamped.seq - 1));
  fs.writeFileSync(path.join(folder, '000001.jsonl'), lines.join(''));
  fs.writeFileSync(
    path.join(kept, version, 'VERSION'),
    `${JSON.stringify({ schema: 1, minReader: 1, createdBy: version })}\n`,
  );
  const shown = deriveView(state).batches.flatMap(({ id, children }) =>
    children.map((child) => [`${id}/${child.id}`, child.status]),
  );
  fs.writeFileSync(
    path.join(kept, version, 'expected.json'),
    `${JSON.stringify({ lastSeq: state.seq, children: Object.fromEntries(shown) as unknown }, null, 2)}\n`,
  );
}

describe('the journal of a released version', () => {
  it.each(fs.readdirSync(kept))('%s is read whole and gives the same children', async (name) => {
    const folder = path.join(temporary(), '.swarm');
    fs.cpSync(path.join(kept, name), folder, { recursive: true });
    const expected = JSON.parse(fs.readFileSync(path.join(kept, name, 'expected.json'), 'utf8')) as unknown;
    const opened = await openStore(folder, { create: false });
    if (opened.kind !== 'owner') throw new Error(JSON.stringify(opened));
    const { loaded } = opened.store;
    await opened.store.close();
    expect(loaded.problems).toEqual([]);
    const view = deriveView(replay(loaded.state ?? initialState(settings), loaded.events));
    const shown = view.batches.flatMap(({ id, children }) =>
      children.map((child) => [`${id}/${child.id}`, child.status]),
    );
    expect({ lastSeq: loaded.lastSeq, children: Object.fromEntries(shown) as unknown }).toEqual(expected);
  });
});
