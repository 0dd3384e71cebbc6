import fs from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Contender, race } from '../support/contenders.js';
import { buildDriver } from '../support/driverBuild.js';
import { openStore } from '../../src/supervisor/node/store/index.js';
import { lookAtStore } from '../../src/supervisor/node/store/look.js';
import { events, temporary } from '../support/storeFixtures.js';
import { until } from '../support/attempts.js';

let driver = '';
beforeAll(async () => {
  driver = await buildDriver('contender');
});

const contenders: Contender[] = [];
afterEach(async () => {
  await Promise.all(contenders.splice(0).map((one) => one.end()));
});

function contender(): Contender {
  const one = new Contender(driver);
  contenders.push(one);
  return one;
}

describe('several processes and one folder', () => {
  it('started at the same moment, one owns it and hears the others', async () => {
    const folder = path.join(temporary(), '.swarm');
    expect(await race([contender(), contender(), contender()], folder, 15)).toEqual([]);
  });

  it('an owner that was killed is replaced within two seconds, and all it acknowledged is there', async () => {
    const folder = path.join(temporary(), '.swarm');
    const [first, second] = [contender(), contender()];
    await first.order({ do: 'open', folder });
    expect((await second.order({ do: 'open', folder })).kind).toBe('viewer');
    await first.order({ do: 'append' });
    await second.order({ do: 'append' });
    first.signal('SIGKILL');
    const start = performance.now();
    await until(() => second.told.includes('closed'));
    await second.order({ do: 'close' });
    const opened = await second.order({ do: 'open', folder });
    expect(performance.now() - start).toBeLessThan(2_000);
    expect(opened).toMatchObject({ kind: 'owner', last: 2 });
  });

  it('an owner that stood still is superseded; when it goes on it writes nothing more', async () => {
    const folder = path.join(temporary(), '.swarm');
    const [first, second] = [contender(), contender()];
    await first.order({ do: 'open', folder });
    await first.order({ do: 'append' });
    first.signal('SIGSTOP');
    expect(await second.order({ do: 'open', folder, answerWithin: 700 })).toMatchObject({
      kind: 'owner',
      last: 1,
    });
    await second.order({ do: 'append' });
    const before = journal(folder);
    first.signal('SIGCONT');
    expect(await first.order({ do: 'append' })).toMatchObject({ kind: 'superseded' });
    await until(() => first.told.includes('superseded'));
    expect(journal(folder)).toBe(before);
    await second.order({ do: 'append' });
    await second.order({ do: 'close' });
    expect((await lookAtStore(folder))?.events).toEqual(events(1, 3));
  });

  it('a lock whose process number now belongs to another is stale', async () => {
    const folder = path.join(temporary(), '.swarm');
    const first = contender();
    await first.order({ do: 'open', folder });
    await first.order({ do: 'append' });
    await first.end();
    const bystander = spawn('sleep', ['60'], { stdio: 'ignore' });
    try {
      const lock = path.join(folder, 'lock');
      for (const name of fs.readdirSync(lock)) {
        const file = path.join(lock, name);
        const holder = JSON.parse(fs.readFileSync(file, 'utf8')) as object;
        fs.writeFileSync(file, JSON.stringify({ ...holder, pid: bystander.pid }));
      }
      const start = performance.now();
      const opened = await openStore(folder, { create: false });
      expect(performance.now() - start).toBeLessThan(2_000);
      if (opened.kind !== 'owner') throw new Error(JSON.stringify(opened));
      expect(opened.store.loaded.events).toEqual(events(1, 1));
      await opened.store.close();
      expect(bystander.exitCode).toBeNull();
    } finally {
      bystander.kill('SIGKILL');
    }
  });

  it.each(['', 'x', '{}', '{"pid":1}'])(
    "a lock file that says %j is nobody's after a moment",
    async (text) => {
      const folder = path.join(temporary(), '.swarm');
      fs.mkdirSync(path.join(folder, 'lock'), { recursive: true });
      fs.writeFileSync(path.join(folder, 'lock', '000004'), text);
      const opened = await openStore(folder, { create: true });
      if (opened.kind !== 'owner') throw new Error(JSON.stringify(opened));
      expect(opened.store.owner.epoch).toBe(5);
      await opened.store.close();
    },
  );

  it('a stranger who does not know the secret is not heard', async () => {
    const folder = path.join(temporary(), '.swarm');
    const first = contender();
    await first.order({ do: 'open', folder });
    const file = path.join(folder, 'lock', 'owner.json');
    const holder = JSON.parse(fs.readFileSync(file, 'utf8')) as { readonly socket: string };
    expect(fs.statSync(holder.socket).mode & 0o777).toBe(0o600);
    expect(fs.statSync(path.dirname(holder.socket)).mode & 0o777).toBe(0o700);
    const net = await import('node:net');
    const socket = net.connect(holder.socket);
    socket.write('{"id":1,"request":{}}\n');
    let heard = '';
    socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
    await new Promise((resolve) => socket.once('close', resolve));
    expect(heard).toBe('');
    expect((await lookAtStore(folder))?.events).toEqual([]);
  });
});

function journal(folder: string): string {
  const files = fs.readdirSync(path.join(folder, 'journal')).sort();
  return files.map((name) => fs.readFileSync(path.join(folder, 'journal', name), 'utf8')).join('--\n');
}
