import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/protocol/view.js';
import { syncedEvents, type Stamped } from '../../../src/supervisor/core/event.js';
import { initialState } from '../../../src/supervisor/core/initial.js';
import { reduce } from '../../../src/supervisor/core/reduce.js';
import { parseEvents } from '../../../src/supervisor/node/store/eventDoor.js';
import { decodeRecord, encodeRecord, parseObject } from '../../../src/supervisor/node/store/record.js';
import { parseState } from '../../../src/supervisor/node/store/stateDoor.js';
import { hunt } from '../core/hunt.js';
import { often } from '../../support/long.js';

/** What the machine itself has heard in long random runs must come back through the doors as it was. */
describe('what the machine has written', () => {
  const runs = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => hunt(seed, often(300, 120)));

  it('comes back from the journal as it was, every event of it', () => {
    const kinds = new Set<string>();
    for (const { journal } of runs) {
      const problems: Problem[] = [];
      const records = journal.map((stamped) => {
        kinds.add(stamped.event.type);
        const record = decodeRecord(Buffer.from(encodeRecord(stamped, 1, stamped.seq - 1).slice(0, -1)));
        if (record === null) throw new Error(JSON.stringify(stamped));
        return record;
      });
      const read = parseEvents(records, 'journal', problems);
      expect(problems).toEqual([]);
      expect(read).toEqual(JSON.parse(JSON.stringify(journal)));
    }
    // The random runs reach nearly all; what they do not is here.
    const missing = Object.keys(syncedEvents).filter((type) => !kinds.has(type));
    expect(missing.length, `not reached: ${missing.join()}`).toBeLessThan(8);
  });

  it('comes back from a snapshot as it was, at every hundredth event', () => {
    for (const { journal } of runs) {
      let state = initialState();
      journal.forEach((stamped: Stamped, index) => {
        state = reduce(state, stamped).state;
        if (index % 100 !== 0) return;
        const text = JSON.stringify(state);
        expect(parseState(parseObject(text))).toEqual(JSON.parse(text));
      });
    }
  });
});

describe('a snapshot that is not whole', () => {
  const { state } = hunt(7, 120);
  const whole = JSON.parse(JSON.stringify(state)) as Record<string, unknown>;
  it.each(Object.keys(whole).filter((name) => name !== 'offset'))('is none without %s', (name) => {
    const { [name]: _gone, ...rest } = whole;
    expect(parseState(rest)).toBeNull();
  });

  it('is none where a child, a batch or an executor is missing that something refers to', () => {
    const text = JSON.stringify(whole);
    const [key = ''] = Object.keys(whole['children'] as object);
    const without = JSON.parse(text) as { children: Record<string, unknown>; batches: object };
    delete without.children[key];
    expect(parseState(without)).toBeNull();
    expect(parseState({ ...(JSON.parse(text) as object), batches: {} })).toBeNull();
    expect(parseState(JSON.parse(text.replace(/"chosen":\d+/, '"chosen":99')))).toBeNull();
  });
});
