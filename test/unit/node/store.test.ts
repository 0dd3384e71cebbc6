import fs from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { emptyView, event, state, temporary } from '../../support/storeFixtures.js';
import { openStore } from '../../../src/supervisor/node/store/index.js';
import { lookAtFolder } from '../../../src/supervisor/node/look.js';
import { lookAtStore } from '../../../src/supervisor/node/store/look.js';
import type { OpenedStore, Store } from '../../../src/supervisor/ports.js';

const open: Store[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((store) => store.close()));
});

async function own(folder: string, options = {}): Promise<Store> {
  const opened = await openStore(folder, { create: true, version: '1.2.3', ...options });
  if (opened.kind !== 'owner') throw new Error(JSON.stringify(opened));
  open.push(opened.store);
  return opened.store;
}

describe('the folder', () => {
  it('is not made by a look, and has its files after the first opening', async () => {
    const folder = path.join(temporary(), '.swarm');
    expect(await openStore(folder, { create: false })).toEqual({ kind: 'absent' });
    expect(await lookAtStore(folder)).toBeNull();
    expect(fs.existsSync(folder)).toBe(false);
    const store = await own(folder);
    expect(fs.readFileSync(path.join(folder, '.gitignore'), 'utf8')).toBe('*\n');
    expect(JSON.parse(fs.readFileSync(path.join(folder, 'VERSION'), 'utf8'))).toEqual({
      schema: 1,
      minReader: 1,
      createdBy: '1.2.3',
    });
    expect(store.loaded).toEqual({ state: null, events: [], problems: [], lastSeq: 0 });
  });

  it('keeps everything to its user: folders 0700, files 0600', async () => {
    const folder = path.join(temporary(), '.swarm');
    const store = await own(folder);
    await store.append([event(1)], true);
    await store.saveState(state(1));
    await store.saveView(emptyView(1));
    await store.write('batches/b1/batch.json', '{}');
    await store.appendLines('batches/b1/children/a/edits.jsonl', ['{}']);
    await store.attemptFolder('b1', 'a', 1);
    const wrong = everything(folder).filter(
      (file) => (fs.lstatSync(file).mode & 0o777) !== (fs.lstatSync(file).isDirectory() ? 0o700 : 0o600),
    );
    expect(wrong).toEqual([]);
  });

  it('tells of a full disk only while somebody supervises: later it may be free', async () => {
    const folder = path.join(temporary(), '.swarm');
    const store = await own(folder);
    await store.append([{ ...event(1), event: { type: 'diskFilled' } }], true);
    const problems = async () => (await lookAtFolder(folder, Date.now())).problems.map(({ path }) => path);
    expect(await problems()).toEqual(['.swarm']);
    await store.close();
    expect(await problems()).toEqual([]);
  });

  it('gives back what was appended, in order, after the snapshot', async () => {
    const folder = path.join(temporary(), '.swarm');
    const first = await own(folder);
    await first.append([event(1), event(2)], true);
    await first.saveState(state(2));
    await Promise.all([first.append([event(3)], false), first.append([event(4), event(5)], true)]);
    await first.close();
    const second = await own(folder);
    expect(second.loaded.state).toEqual(state(2));
    expect(second.loaded.events).toEqual([event(3), event(4), event(5)]);
    expect(second.loaded.problems).toEqual([]);
    expect(second.owner.epoch).toBe(first.owner.epoch + 1);
  });

  it('a newer version is left alone and shown as far as it can be read', async () => {
    const folder = path.join(temporary(), '.swarm');
    const first = await own(folder);
    await first.saveView(emptyView(7));
    await first.close();
    fs.writeFileSync(
      path.join(folder, 'VERSION'),
      JSON.stringify({ schema: 9, minReader: 9, createdBy: '9.0.0' }),
    );
    const before = everything(folder).map((file) => [file, fs.lstatSync(file).mtimeMs]);
    const opened = await openStore(folder, { create: true });
    expect(opened).toEqual({ kind: 'readOnly', writtenBy: '9.0.0', view: emptyView(7) });
    expect((await lookAtStore(folder))?.writtenBy).toBe('9.0.0');
    expect(everything(folder).map((file) => [file, fs.lstatSync(file).mtimeMs])).toEqual(before);
  });

  it.each(['.', 'journal', 'lock', 'batches', 'corrupt'])('refuses a symbolic link at %s', async (name) => {
    const parent = temporary();
    const folder = path.join(parent, '.swarm');
    fs.mkdirSync(path.join(parent, 'elsewhere'));
    if (name !== '.') fs.mkdirSync(folder);
    fs.symlinkSync(path.join(parent, 'elsewhere'), path.join(folder, name).replace(/\/\.$/, ''));
    const opened = await openStore(folder, { create: true });
    expect(opened.kind).toBe('refused');
    expect(fs.readdirSync(path.join(parent, 'elsewhere'))).toEqual([]);
  });

  it('writes through no link below it and to no path outside', async () => {
    const parent = temporary();
    const store = await own(path.join(parent, '.swarm'));
    fs.mkdirSync(path.join(parent, 'elsewhere'));
    fs.symlinkSync(path.join(parent, 'elsewhere'), path.join(store.folder, 'batches', 'b1'));
    await expect(store.write('batches/b1/batch.json', '{}')).rejects.toThrow(/link|folder of its own/);
    await expect(store.attemptFolder('b1', 'a', 1)).rejects.toThrow(/folder of its own/);
    for (const outside of ['../x', '/tmp/x', 'batches/../../x', 'a\0b', ''])
      await expect(store.write(outside, 'x')).rejects.toThrow(/inside the folder/);
    await expect(store.attemptFolder('..', 'a', 1)).rejects.toThrow(/no id/);
    expect(fs.readdirSync(path.join(parent, 'elsewhere'))).toEqual([]);
    expect(fs.existsSync(path.join(parent, 'x'))).toBe(false);
  });

  it('a whole file is the old one or the new one, and leaves no temporary one', async () => {
    const store = await own(path.join(temporary(), '.swarm'));
    await Promise.all(['a', 'b', 'c'].map((text) => store.write('batches/b1/x.json', text.repeat(100_000))));
    expect((await store.read('batches/b1/x.json'))?.length).toBe(100_000);
    expect(everything(store.folder).filter((file) => file.endsWith('.tmp'))).toEqual([]);
  });

  it('a torn last line of a list is closed before the next is added', async () => {
    const store = await own(path.join(temporary(), '.swarm'));
    await store.appendLines('batches/b1/e.jsonl', ['{"a":1}']);
    fs.appendFileSync(path.join(store.folder, 'batches/b1/e.jsonl'), '{"to');
    await Promise.all([
      store.appendLines('batches/b1/e.jsonl', ['{"b":2}']),
      store.appendLines('batches/b1/e.jsonl', ['{"c":3}']),
    ]);
    expect(await store.read('batches/b1/e.jsonl')).toBe('{"a":1}\n{"to\n{"b":2}\n{"c":3}\n');
  });
});

describe('two owners', () => {
  it('the second is a viewer: its requests reach the owner and it gets views', async () => {
    const folder = path.join(temporary(), '.swarm');
    const store = await own(folder);
    const viewer = asViewer(await openStore(folder, { create: true }));
    const early = viewer.request({ ask: 'early' });
    store.serve((request) => Promise.resolve({ heard: request }));
    expect(await early).toEqual({ heard: { ask: 'early' } });
    expect(await viewer.request({ ask: 1 })).toEqual({ heard: { ask: 1 } });
    const seen = new Promise((resolve) => viewer.onView((view) => view.seq === 3 && resolve(view)));
    store.publish(emptyView(3));
    expect(await seen).toEqual(emptyView(3));
    expect(viewer.owner).toEqual(store.owner);
    store.serve(() => Promise.reject(new Error('no such child')));
    await expect(viewer.request({})).rejects.toThrow('no such child');
    await store.close();
    await viewer.closed;
    await expect(viewer.request({})).rejects.toThrow(/gone/);
    await own(folder);
  });

  it('a late viewer gets the view that was published before it came', async () => {
    const folder = path.join(temporary(), '.swarm');
    const store = await own(folder);
    store.publish(emptyView(5));
    const viewer = asViewer(await openStore(folder, { create: true }));
    expect(await new Promise((resolve) => viewer.onView(resolve))).toEqual(emptyView(5));
    viewer.close();
  });

  it('who was superseded writes nothing more and is told once', async () => {
    const folder = path.join(temporary(), '.swarm');
    const store = await own(folder);
    await store.append([event(1)], true);
    let told = 0;
    store.onSuperseded(() => (told += 1));
    fs.writeFileSync(path.join(folder, 'lock', '000009'), '');
    const before = fs.readFileSync(path.join(folder, 'journal', '000001.jsonl'), 'utf8');
    await expect(store.append([event(2)], true)).rejects.toMatchObject({ kind: 'superseded' });
    await expect(store.append([event(2)], false)).rejects.toMatchObject({ kind: 'superseded' });
    await expect(store.write('x.json', '1')).rejects.toMatchObject({ kind: 'superseded' });
    await expect(store.saveState(state(1))).rejects.toMatchObject({ kind: 'superseded' });
    expect(fs.readFileSync(path.join(folder, 'journal', '000001.jsonl'), 'utf8')).toBe(before);
    expect(told).toBe(1);
  });
});

function asViewer(opened: OpenedStore): Extract<OpenedStore, { kind: 'viewer' }>['connection'] {
  if (opened.kind !== 'viewer') throw new Error(`not a viewer: ${JSON.stringify(opened)}`);
  return opened.connection;
}

function everything(folder: string): readonly string[] {
  return [
    folder,
    ...fs
      .readdirSync(folder, { recursive: true, withFileTypes: true })
      .map((one) => path.join(one.parentPath, one.name)),
  ];
}
