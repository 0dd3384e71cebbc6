import fs from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Stamped } from '../../../src/supervisor/core/event.js';
import { setFault, parseFault, faultCount } from '../../../src/supervisor/node/fsCalls.js';
import { crc32, plainCrc32 } from '../../../src/supervisor/node/store/crc.js';
import { readContents } from '../../../src/supervisor/node/store/contents.js';
import { openStore } from '../../../src/supervisor/node/store/index.js';
import { decodeRecord, encodeRecord, eventIn } from '../../../src/supervisor/node/store/record.js';
import type { Store } from '../../../src/supervisor/ports.js';
import { often } from '../../support/long.js';
import { event, events, state, temporary } from '../../support/storeFixtures.js';

afterEach(() => setFault(null));

async function own(folder: string, options = {}): Promise<Store> {
  const opened = await openStore(folder, { create: true, ...options });
  if (opened.kind !== 'owner') throw new Error(JSON.stringify(opened));
  return opened.store;
}

/** A closed folder whose journal holds these events; `saved`: up to which numbers its snapshots go. */
async function folderWith(
  upTo: number,
  saved: number | readonly number[] = 0,
  options = {},
): Promise<string> {
  const folder = path.join(temporary(), '.swarm');
  const store = await own(folder, options);
  for (let seq = 1; seq <= upTo; seq++) {
    await store.append([event(seq)], seq === upTo);
    if ([saved].flat().includes(seq)) await store.saveState(state(seq));
  }
  await store.close();
  return folder;
}

function journalOf(folder: string, segment = 1): string {
  return path.join(folder, 'journal', `${String(segment).padStart(6, '0')}.jsonl`);
}

/** Opens, closes, and says what was found; then opens again, which must find the same and nothing wrong. */
async function reopen(folder: string): Promise<Store['loaded']> {
  const store = await own(folder);
  await store.close();
  const again = await own(folder);
  await again.close();
  expect(again.loaded.problems).toEqual([]);
  expect(again.loaded.events).toEqual(store.loaded.events);
  return store.loaded;
}

describe('a record', () => {
  it('comes back as it was, and its sum is over the text of e', () => {
    const line = encodeRecord(event(7), 3, 6);
    const parsed = JSON.parse(line) as { n: number; c: number; e: { epoch: number } };
    expect(line.endsWith('}\n')).toBe(true);
    expect(parsed.c).toBe(crc32(JSON.stringify(parsed.e)));
    const record = decodeRecord(Buffer.from(line.slice(0, -1)));
    expect(record).toMatchObject({ n: 7, epoch: 3, t: event(7).t, offset: 60, prev: null });
    expect(record && eventIn(record)).toEqual(event(7).event);
  });

  it('of an odd time, after a gap, comes back as it was, too', () => {
    for (const [t, offset, prev] of [
      [1.5, -60, 6],
      [-3, 60, 2],
      [9_999_999_999_999_998, 0.5, 6],
    ] as const) {
      const line = encodeRecord({ ...event(7), t, offset }, 3, prev);
      const record = decodeRecord(Buffer.from(line.slice(0, -1)));
      expect(record).toMatchObject({ n: 7, epoch: 3, t, offset, prev: prev === 6 ? null : prev });
      expect(record && eventIn(record)).toEqual(event(7).event);
    }
  });

  it('with any one bit flipped is no record', () => {
    const line = Buffer.from(encodeRecord(event(7), 3, 6).slice(0, -1));
    const whole = decodeRecord(line);
    for (let at = 0; at < line.length; at++)
      for (let bit = 0; bit < 8; bit++) {
        const flipped = Buffer.from(line);
        flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
        const read = decodeRecord(flipped);
        // The number itself is outside the sum: it is held by its neighbours.
        if (read !== null) expect({ ...read, n: 7 }).toEqual(whole);
      }
  });

  it('the two ways to sum agree', () => {
    for (const text of ['', 'a', 'ä€😀', 'x'.repeat(1000)])
      expect(plainCrc32(Buffer.from(text))).toBe(crc32(text));
    expect(crc32('123456789')).toBe(0xcbf43926);
  });
});

describe('a journal', () => {
  it('that goes on while a snapshot is saved keeps what the snapshot does not hold', async () => {
    const folder = path.join(temporary(), '.swarm');
    const store = await own(folder, { segmentSize: 100 });
    for (let seq = 1; seq <= 5; seq++) await store.append([event(seq)], false);
    let isSaved = false;
    const saving = store.saveState(state(5)).then(() => (isSaved = true));
    let last = 5;
    while (!isSaved) await store.append([event(++last)], false);
    await saving;
    await store.close();
    const { loaded } = await own(folder);
    expect(loaded.problems).toEqual([]);
    expect(loaded.state?.seq).toBe(5);
    expect(loaded.events.map(({ seq }) => seq)).toEqual(Array.from({ length: last - 5 }, (_, n) => n + 6));
  });

  it('cut at any byte gives the records before the cut and goes on from there', async () => {
    const folder = await folderWith(4);
    const whole = fs.readFileSync(journalOf(folder));
    const ends = [...whole.entries()].filter(([, byte]) => byte === 10).map(([at]) => at);
    for (let cut = 0; cut <= whole.length; cut += cut < whole.length - 12 ? often(41, 170) : often(1, 4)) {
      fs.writeFileSync(journalOf(folder), whole.subarray(0, cut));
      const loaded = await reopen(folder);
      // A record that lacks nothing but its newline is whole.
      expect(loaded.events.length, `cut at ${cut}`).toBe(ends.filter((end) => end <= cut).length);
      expect(loaded.problems).toEqual([]);
    }
  });

  it('any flipped byte costs at most what comes after it, and is named', async () => {
    const folder = await folderWith(5);
    const whole = fs.readFileSync(journalOf(folder));
    const starts = [0, ...[...whole.entries()].filter(([, byte]) => byte === 10).map(([at]) => at + 1)];
    for (let at = 0; at < whole.length; at += often(61, 230)) {
      fs.rmSync(path.join(folder, 'corrupt'), { recursive: true, force: true });
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ 0x15;
      fs.writeFileSync(journalOf(folder), flipped);
      const loaded = await reopen(folder);
      const line = starts.findLastIndex((start) => start <= at);
      expect(loaded.events.length, `flipped at ${at}`).toBeGreaterThanOrEqual(line);
      expect(loaded.events).toEqual(events(1, loaded.events.length));
      if (loaded.events.length < 5 && at < whole.length - 1) {
        expect(loaded.problems.length).toBeGreaterThan(0);
        expect(fs.readdirSync(path.join(folder, 'corrupt'))).toHaveLength(1);
      }
    }
  });

  it.each([
    ['doubled', (lines: readonly string[]) => [...lines, ...lines.slice(2)]],
    ['swapped', (lines: readonly string[]) => [...lines].reverse()],
    ['interleaved with other text', (lines: readonly string[]) => lines.flatMap((line) => [line, 'hello'])],
    ['interleaved with empty lines', (lines: readonly string[]) => lines.flatMap((line) => ['', line])],
  ])('with lines %s still gives each event once, in order', async (_name, change) => {
    const folder = await folderWith(6);
    const lines = fs.readFileSync(journalOf(folder), 'utf8').trimEnd().split('\n');
    fs.writeFileSync(journalOf(folder), change(lines).join('\n') + '\n');
    const loaded = await reopen(folder);
    expect(loaded.events).toEqual(events(1, 6));
    expect(loaded.problems).toHaveLength(1);
    expect(fs.readdirSync(path.join(folder, 'corrupt'))).toHaveLength(1);
  });

  it('with a line missing gives what is before it; the rest is kept aside and the numbers are used again', async () => {
    const folder = await folderWith(6);
    const lines = fs.readFileSync(journalOf(folder), 'utf8').trimEnd().split('\n');
    fs.writeFileSync(journalOf(folder), lines.filter((_, index) => index !== 3).join('\n') + '\n');
    const loaded = await reopen(folder);
    expect(loaded.events).toEqual(events(1, 3));
    expect(loaded.problems[0]?.message).toMatch(/2 events after number 3/);
    const [copy = ''] = fs.readdirSync(path.join(folder, 'corrupt'));
    expect(fs.readFileSync(path.join(folder, 'corrupt', copy), 'utf8')).toContain(lines[5]);
    const store = await own(folder);
    await store.append([event(4)], true);
    await store.close();
    expect((await reopen(folder)).events).toEqual(events(1, 4));
  });

  it('damaged before a snapshot loses nothing, also when the snapshot is lost afterwards', async () => {
    const folder = await folderWith(6, 4);
    const lines = fs.readFileSync(journalOf(folder), 'utf8').trimEnd().split('\n');
    fs.writeFileSync(journalOf(folder), lines.filter((_, index) => index !== 1).join('\n') + '\n');
    const store = await own(folder);
    expect(store.loaded.state?.seq).toBe(4);
    expect(store.loaded.events).toEqual(events(5, 6));
    await store.close();
    fs.rmSync(path.join(folder, 'state.json'));
    const again = await own(folder);
    expect(again.loaded.state?.seq).toBe(4);
    expect(again.loaded.events).toEqual(events(5, 6));
    await again.close();
  });

  it.each(['', '{', '{"v":1}', 'x'.repeat(200), '{"v":1,"n":4,"epoch":1,"c":1,"state":{}}'])(
    'beside a damaged snapshot (%#) tells everything itself',
    async (content) => {
      const folder = await folderWith(6, 4);
      fs.writeFileSync(path.join(folder, 'state.json'), content);
      const store = await own(folder);
      expect(store.loaded.state).toBeNull();
      expect(store.loaded.events).toEqual(events(1, 6));
      expect(store.loaded.problems).toHaveLength(1);
      await store.close();
    },
  );

  it.each([null, '', '{"v":1,"n":6,"epoch":1,"c":1,"state":{}}'])(
    'whose newest snapshot is lost (%#) is read on from the one before it',
    async (content) => {
      const folder = await folderWith(8, [2, 4, 6]);
      if (content === null) fs.rmSync(path.join(folder, 'state.json'));
      else fs.writeFileSync(path.join(folder, 'state.json'), content);
      const store = await own(folder);
      expect(store.loaded.state?.seq).toBe(4);
      expect(store.loaded.events).toEqual(events(5, 8));
      expect(store.loaded.problems).toHaveLength(content === null ? 0 : 1);
      await store.saveState(state(8));
      await store.close();
      // What was damaged has not taken the place of what was sound.
      fs.rmSync(path.join(folder, 'state.json'));
      const again = await own(folder);
      expect(again.loaded.state?.seq).toBe(4);
      expect(again.loaded.events).toEqual(events(5, 8));
      expect(again.loaded.problems).toEqual([]);
      await again.close();
    },
  );

  it('does not read on from an older snapshot of a superseded owner', async () => {
    const folder = await folderWith(6, [4, 6]);
    fs.rmSync(path.join(folder, 'state.json'));
    // The owner of epoch 9 knew three events only, and wrote others in the place of the rest.
    fs.writeFileSync(
      journalOf(folder, 2),
      encodeRecord({ ...event(4), t: 5 }, 9, 3) + encodeRecord(event(5), 9, 4),
    );
    const { state: used, events: loaded, problems } = await readContents(folder);
    expect(used).toBeNull();
    expect(loaded).toEqual([...events(1, 3), { ...event(4), t: 5 }, event(5)]);
    expect(problems.map((problem) => path.basename(problem.path))).toContain('previous.json');
  });

  it('whose snapshot somebody removes while it is owned gets the next one all the same', async () => {
    const folder = path.join(temporary(), '.swarm');
    const store = await own(folder);
    await store.append(events(1, 4), true);
    await store.saveState(state(2));
    fs.rmSync(path.join(folder, 'state.json'));
    await store.saveState(state(4));
    await store.close();
    expect((await readContents(folder)).state?.seq).toBe(4);
  });

  it('goes on in a new segment when one is full, and reads them all', async () => {
    const folder = await folderWith(40, 0, { segmentSize: 1000 });
    expect(fs.readdirSync(path.join(folder, 'journal')).length).toBeGreaterThan(4);
    expect((await reopen(folder)).events).toEqual(events(1, 40));
  });

  it('loses its old segments once a snapshot covers them, and can be read without state.json after that', async () => {
    const folder = path.join(temporary(), '.swarm');
    const store = await own(folder, { segmentSize: 1000 });
    for (let seq = 1; seq <= 40; seq++) await store.append([event(seq)], false);
    await store.saveState(state(40));
    await store.append([event(41)], true);
    await store.close();
    expect(fs.readdirSync(path.join(folder, 'journal')).length).toBeLessThanOrEqual(3);
    fs.rmSync(path.join(folder, 'state.json'));
    const loaded = await reopen(folder);
    expect(loaded.state?.seq).toBe(40);
    expect(loaded.events).toEqual([event(41)]);
  });

  it('a missing segment in the middle stops the reading there', async () => {
    const folder = await folderWith(40, 0, { segmentSize: 1000 });
    fs.rmSync(journalOf(folder, 3));
    const loaded = await reopen(folder);
    expect(loaded.events.length).toBeGreaterThan(5);
    expect(loaded.events.length).toBeLessThan(40);
    expect(loaded.events).toEqual(events(1, loaded.events.length));
    expect(loaded.problems.some((problem) => problem.message.includes('could not be used'))).toBe(true);
  });

  it('a number that was given up leaves no hole', async () => {
    const folder = path.join(temporary(), '.swarm');
    const store = await own(folder);
    await store.append([event(1)], true);
    await store.append([event(4), event(5)], true);
    await store.close();
    expect((await reopen(folder)).events).toEqual([event(1), event(4), event(5)]);
  });

  it('what a superseded owner wrote late does not count', async () => {
    const folder = await folderWith(3);
    const late = encodeRecord(event(4), 1, 3);
    fs.appendFileSync(journalOf(folder), late);
    fs.writeFileSync(
      journalOf(folder, 2),
      encodeRecord({ ...event(4), t: 5 }, 9, 3) + encodeRecord(event(5), 9, 4),
    );
    const loaded = (await readContents(folder)).events;
    expect(loaded).toEqual([...events(1, 3), { ...event(4), t: 5 }, event(5)]);
  });
});

describe('hostile content', () => {
  const deep = '{"a":'.repeat(50_000) + '1' + '}'.repeat(50_000);
  const record = (text: string): string => `{"n":1,"c":${crc32(text)},"e":${text}}\n`;
  it.each([
    ['deep JSON', record(deep)],
    ['an array', record('[1]')],
    [
      'prototype keys',
      record('{"v":1,"epoch":1,"t":1,"offset":0,"type":"batchRemoved","batch":"__proto__"}'),
    ],
    ['a prototype', record('{"v":1,"epoch":1,"t":1,"offset":0,"type":"__proto__","__proto__":{"x":1}}')],
    ['a constructor', record('{"v":1,"epoch":1,"t":1,"offset":0,"type":"constructor"}')],
    ['an event without its parts', record('{"v":1,"epoch":1,"t":1,"offset":0,"type":"spawned"}')],
    ['an event of a later version', record('{"v":1,"epoch":1,"t":1,"offset":0,"type":"teleported"}')],
    ['a later envelope', record('{"v":2,"epoch":1,"t":1,"offset":0,"type":"diskFilled"}')],
    ['times that are none', record('{"v":1,"epoch":1,"t":"x","offset":0,"type":"diskFilled"}')],
    ['bytes', '\u0000\u0001\u0002\n\n\n'],
  ])('%s is passed over and named, nothing is thrown', async (_name, text) => {
    const folder = await folderWith(0);
    fs.writeFileSync(journalOf(folder), text);
    const store = await own(folder);
    expect(store.loaded.events).toEqual([]);
    expect(store.loaded.problems.length).toBeGreaterThan(0);
    await store.append([event(store.loaded.lastSeq + 1)], true);
    await store.close();
    const again = await own(folder);
    expect(again.loaded.events).toEqual([event(store.loaded.lastSeq + 1)]);
    await again.close();
  });

  it('foreign files and folders are left where they are', async () => {
    const folder = await folderWith(2);
    fs.writeFileSync(path.join(folder, 'journal', 'notes.txt'), 'mine');
    fs.mkdirSync(path.join(folder, 'journal', '000007.jsonl'));
    fs.writeFileSync(path.join(folder, 'stranger'), 'mine');
    const store = await own(folder);
    expect(store.loaded.events).toEqual(events(1, 2));
    await store.append([event(3)], true);
    await store.close();
    expect((await reopen(folder)).events).toEqual(events(1, 3));
    expect(fs.readFileSync(path.join(folder, 'journal', 'notes.txt'), 'utf8')).toBe('mine');
    expect(fs.readFileSync(path.join(folder, 'stranger'), 'utf8')).toBe('mine');
  });
});

describe('a disk that refuses', () => {
  it.each(['ENOSPC', 'EIO', 'EDQUOT'])(
    '%s at a write leaves nothing of it, and the next one goes on',
    async (code) => {
      const folder = await folderWith(2);
      const store = await own(folder);
      setFault(parseFault(`${code}:1:write`));
      await expect(store.append([event(3), event(4)], true)).rejects.toMatchObject({ kind: 'disk' });
      expect(fs.readFileSync(journalOf(folder), 'utf8').trimEnd().split('\n')).toHaveLength(2);
      await store.append([event(3)], true);
      await store.close();
      expect((await reopen(folder)).events).toEqual(events(1, 3));
    },
  );

  it('a write that fails and cannot be cut off is cut off before the next', async () => {
    const folder = await folderWith(2);
    const store = await own(folder);
    setFault({ what: 'error', code: 'EIO', n: 1, kind: null, stays: true });
    await expect(store.append([event(3)], true)).rejects.toMatchObject({ kind: 'disk' });
    await expect(store.append([event(3)], true)).rejects.toMatchObject({ kind: 'disk' });
    setFault(null);
    await store.append([event(3)], true);
    await store.close();
    expect((await reopen(folder)).events).toEqual(events(1, 3));
  });

  it('after a failed sync what was acknowledged before is written anew through another handle', async () => {
    const folder = await folderWith(2);
    const store = await own(folder);
    await store.append([event(3)], true);
    const synced = fs.statSync(journalOf(folder)).size;
    await store.append([event(4)], false);
    setFault(parseFault('EIO:1:fsync'));
    await expect(store.append([event(5)], true)).rejects.toMatchObject({ kind: 'disk' });
    setFault(null);
    // What the system has kept of what was not synced may be anything.
    fs.truncateSync(journalOf(folder), synced);
    await store.append([event(5)], true);
    await store.close();
    expect((await reopen(folder)).events).toEqual(events(1, 5));
  });

  it('what waits behind a refused write is refused with it: no record follows a hole', async () => {
    const folder = await folderWith(1);
    const store = await own(folder);
    setFault(parseFault('ENOSPC:1:write'));
    const results = await Promise.allSettled([
      store.append([event(2)], true),
      store.append([event(3)], true),
      Promise.resolve().then(() => store.append([event(4)], true)),
    ]);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected', 'rejected']);
    await store.append([event(2)], true);
    await store.close();
    expect((await reopen(folder)).events).toEqual(events(1, 2));
  });

  it('every refused call of an opening ends in a clear refusal or an owner, and the next opening is sound', async () => {
    const folder = await folderWith(3, 2);
    const torn = Buffer.concat([fs.readFileSync(journalOf(folder)), Buffer.from('{"n":4')]);
    setFault(parseFault('count:1'));
    await (await own(folder)).close();
    const calls = faultCount();
    expect(calls).toBeGreaterThan(5);
    for (let n = 1; n <= calls; n += often(1, 6)) {
      fs.writeFileSync(journalOf(folder), torn);
      setFault(parseFault(`EIO:${n}`));
      const opened = await openStore(folder, { create: true });
      setFault(null);
      if (opened.kind === 'owner') await opened.store.close();
      else expect(opened).toMatchObject({ kind: 'refused' });
      const after = await own(folder);
      expect(after.loaded.state?.seq, `call ${n}`).toBe(2);
      expect(after.loaded.events).toEqual([event(3)]);
      await after.close();
    }
  });
});

describe('throughput', () => {
  it('what is appended in one turn goes out with one sync', async () => {
    const folder = path.join(temporary(), '.swarm');
    const store = await own(folder);
    await store.append([event(1)], true);
    setFault({ what: 'count', code: '', n: 1, kind: 'fsync', stays: false });
    await Promise.all(events(2, 200).map((one: Stamped) => store.append([one], true)));
    expect(faultCount()).toBeLessThanOrEqual(2);
    await store.close();
  });
});
