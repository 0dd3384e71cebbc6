import { afterAll, beforeAll, expect, test } from 'vitest';
import { setStrict } from '../../../src/supervisor/core/assert.js';
import type { Supervisor } from '../../../src/supervisor/api.js';
import { StoreError, type OpenedStore, type Store } from '../../../src/supervisor/ports.js';
import { openSupervisor } from '../../../src/supervisor/supervisor.js';
import { settle } from '../../support/fakeClock.js';
import { often } from '../../support/long.js';
import { Account, batchOf, draw, launchRequest, sixTasks, Town } from './town.js';

let strictBefore = false;
beforeAll(() => void (strictBefore = setStrict(true)));
afterAll(() => void setStrict(strictBefore));

const allDone = (batch: string) => (view: ReturnType<Supervisor['view']>) =>
  view.batches.find((each) => each.id === batch)?.status === 'succeeded';

function attemptsOf(town: Town): string[] {
  return town.processes.started.map(
    ({ request }) => `${request.env['SWARM_CHILD']}${request.env['SWARM_ATTEMPT']}`,
  );
}

test('six children on one account: a limit, a pause, one canary, and all are done and applied', async () => {
  const town = new Town();
  const account = new Account(town, 3);
  const supervisor = await town.open();
  const batch = batchOf(await supervisor.request(launchRequest(sixTasks)));
  await town.until(supervisor, 'closed', (view) => view.gates[0]?.state === 'closed');
  await town.rest(supervisor);
  const startedBefore = town.processes.started.length;
  await town.clock.advance(1_800_000);
  await town.rest(supervisor);
  expect(town.processes.started.length).toBe(startedBefore);
  expect(draw(supervisor.view())).toMatchInlineSnapshot(`
    "fake closed
    story paused
      a done x1
      b done x1
      c done x1
      d paused usage_limit x1
      e held usage_limit x0
      f held usage_limit x0"
  `);

  const refusedAt = account.refused.length;
  await town.until(supervisor, 'done', allDone(batch));
  expect(account.refused.length).toBe(refusedAt);
  expect(attemptsOf(town)).toMatchInlineSnapshot(`
    [
      "a1",
      "b1",
      "c1",
      "d1",
      "d2",
      "e1",
      "f1",
    ]
  `);
  expect(town.processes.startedTwice).toEqual([]);

  const targets = sixTasks.tasks.map(({ id }) => ({ batch, child: id }));
  expect(await supervisor.request({ type: 'apply', targets })).toEqual({ ok: true });
  await town.rest(supervisor);
  expect([...town.git.applied].sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  expect(town.log.filter((line) => line.startsWith('error'))).toEqual([]);
  expect(town.notices).toEqual([{ kind: 'done', batch, name: 'story', ready: 6 }]);
  await supervisor.close({ stopAgents: false });
});

test('a resumed child is told what stopped it and not its task again; its session is named to it', async () => {
  const town = new Town();
  new Account(town, 0);
  const supervisor = await town.open();
  const batch = batchOf(
    await supervisor.request(launchRequest({ ...sixTasks, tasks: [{ id: 'a', prompt: 'make a' }] })),
  );
  await town.until(supervisor, 'done', allDone(batch));
  const place = `batches/${batch}/children/a`;
  expect(town.disk.files.get(`${place}/attempts/1/prompt.txt`)).toBe('make a');
  expect(town.disk.files.get(`${place}/attempts/2/prompt.txt`)).toMatchInlineSnapshot(`
    "You were interrupted by a limit of the account and can go on now. Your earlier work in this folder is kept.

    None of the files you know has been changed by others since.
    The main tree has not moved.
    Files written so far:
    - a.txt

    Go on where you stopped. A command that ran when you were interrupted may be half done: look before you repeat it.
    Do not read files again that have not changed, and do not redo what is finished."
  `);
  expect(town.processes.byFolder('attempts/2').request.env['SWARM_SESSION']).toBe('session-a');
  await supervisor.close({ stopAgents: false });
});

test('a child gets the attempt in its environment, its key, and nothing of ours; no value is written down', async () => {
  const town = new Town();
  new Account(town, 10);
  const supervisor = await town.open();
  const batch = batchOf(await supervisor.request(launchRequest({ ...sixTasks, tasks: [{ prompt: 'x' }] })));
  await town.until(supervisor, 'done', allDone(batch));
  const { env, cwd } = town.processes.byFolder('attempts/1').request;
  expect(env).toMatchObject({
    KEY: 'do-not-tell',
    SWARM_BATCH: batch,
    SWARM_CHILD: 't1',
    SWARM_ATTEMPT: '1',
    PATH: '/usr/bin',
  });
  expect(env).not.toHaveProperty('SWARM_SOCKET');
  expect(cwd).toBe(`/repo.worktrees/${batch}/t1`);
  const written = [...town.disk.files.values(), JSON.stringify(town.disk.journal)].join('\n');
  expect(written).not.toContain('do-not-tell');
  await supervisor.close({ stopAgents: false });
});

test('a secret that an agent prints is in no file of ours and not in the view', async () => {
  const town = new Town();
  const secret = `sk-ant-${'a1b2c3d4'.repeat(5)}`;
  town.processes.onStart = (process) => {
    process.print({ type: 'text', text: `my key is ${secret}, do not tell` });
    process.print({ type: 'decision', text: `use ${secret}` });
    process.print({ type: 'shell', command: `curl -H 'x-api-key: ${secret}'`, exitCode: 0 });
    process.print({ type: 'done', result: `with ${secret}` });
    process.exit(0);
  };
  const supervisor = await town.open();
  const batch = batchOf(await supervisor.request(launchRequest({ ...sixTasks, tasks: [{ prompt: 'x' }] })));
  const view = await town.until(supervisor, 'done', allDone(batch));
  await town.clock.advance(2000);
  await town.rest(supervisor);
  expect(JSON.stringify(view)).toContain('use [redacted');
  for (const text of [JSON.stringify(view), JSON.stringify(town.disk.journal), ...town.disk.files.values()])
    expect(text).not.toContain(secret);
  await supervisor.close({ stopAgents: false });
});

test('whoever writes a secret into a prompt is told that the agent does not get it', async () => {
  const town = new Town();
  const supervisor = await town.open();
  const secret = `sk-ant-${'a1b2c3d4'.repeat(5)}`;
  const answer = await supervisor.request(
    launchRequest({
      ...sixTasks,
      tasks: [
        { id: 'plain', prompt: 'x' },
        { id: 'leaky', prompt: `use ${secret}` },
      ],
    }),
  );
  if (!answer.ok) throw new Error('refused');
  expect(answer.notes).toHaveLength(1);
  expect(answer.notes?.[0]).toContain('the prompt of "leaky"');
  expect(answer.notes?.[0]).not.toContain('plain');
  expect(JSON.stringify(answer)).not.toContain(secret);
  await supervisor.close({ stopAgents: false });
});

test('the person’s own rules say what an agent’s message means; a bad one is named and left out', async () => {
  const town = new Town();
  town.processes.onStart = (process) => {
    process.print({ type: 'error', message: 'the frobnicator is asleep' });
    process.exit(1);
  };
  const options = town.options();
  const rules = [
    { when: { text: 'frobnicator' }, class: 'content_policy' },
    { when: {}, class: 'network' },
  ];
  const opened = await openSupervisor({
    ...options,
    settings: { ...options.settings, verdictRules: rules },
  });
  if (!opened.ok) throw new Error(opened.message);
  const { supervisor } = opened;
  batchOf(await supervisor.request(launchRequest({ ...sixTasks, tasks: [{ prompt: 'x' }] })));
  const view = await town.until(supervisor, 'failed', (seen) => seen.batches[0]?.status === 'failed');
  expect(view.batches[0]?.children[0]?.reason?.class).toBe('content_policy');
  expect(town.log.filter((line) => line.startsWith('warn swarm.verdict.rules: rule 2'))).toHaveLength(1);
  await supervisor.close({ stopAgents: false });
});

test('a resume whose session the agent does not know goes on once with the brief, the task in it once', async () => {
  const town = new Town();
  const answers = [
    { type: 'limit', status: 'rejected', resetsAt: town.clock.now() / 1000 + 60, window: 'five_hour' },
    { type: 'error', message: 'No conversation found with session ID session-a', status: 400 },
    { type: 'done', result: 'made it' },
  ];
  town.processes.onStart = (process) => {
    const answer = answers[Number(process.request.env['SWARM_ATTEMPT']) - 1] ?? {};
    if (process.request.env['SWARM_SESSION'] === undefined)
      process.print({ type: 'session', id: 'session-a' });
    process.print(answer);
    process.exit('type' in answer && answer.type === 'done' ? 0 : 1);
  };
  const supervisor = await town.open();
  const batch = batchOf(
    await supervisor.request(launchRequest({ ...sixTasks, tasks: [{ id: 'a', prompt: 'make a' }] })),
  );
  await town.until(supervisor, 'done', allDone(batch));
  const sessions = town.processes.started.map(({ request }) => request.env['SWARM_SESSION'] ?? null);
  expect(sessions).toEqual([null, 'session-a', null]);
  const prompt = town.disk.files.get(`batches/${batch}/children/a/attempts/3/prompt.txt`) ?? '';
  expect(prompt.split('make a')).toHaveLength(2);
  expect(prompt).toContain('An earlier session worked on this task');
  await supervisor.close({ stopAgents: false });
});

/** An `openStore` whose owner dies at its n-th event: after it is in the journal and before its effects, or just before it is written. */
function dyingStore(town: Town, at: number, when: 'afterWrite' | 'beforeWrite') {
  let dead = false;
  const openStore = (): Promise<OpenedStore> => {
    if (dead) return Promise.resolve({ kind: 'refused', message: 'this process is dead', fix: '' });
    const opened = town.disk.open();
    if (opened.kind !== 'owner') return Promise.resolve(opened);
    const inner = opened.store;
    let seen = 0;
    const append: Store['append'] = async (events, synced) => {
      const left = at - seen;
      seen += events.length;
      if (dead || left > events.length) return inner.append(events, synced);
      dead = true;
      if (when === 'afterWrite') await inner.append(events.slice(0, left), true);
      else if (left > 1) await inner.append(events.slice(0, left - 1), true);
      town.disk.crash();
      throw new StoreError('closed', 'killed');
    };
    const store = new Proxy(inner, {
      get: (target, name) => {
        if (name === 'append') return append;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    return Promise.resolve({ kind: 'owner', store });
  };
  return { openStore, isDead: () => dead };
}

test.each(['afterWrite', 'beforeWrite'] as const)(
  'killed at any event (%s), the batch ends as without it: nothing runs twice, nothing is lost',
  async (when) => {
    let crashes = 0;
    for (let at = 2; ; at += often(1, 5)) {
      const town = new Town();
      new Account(town, 1, 60_000);
      const dying = dyingStore(town, at, when);
      const first = await town.open(dying.openStore);
      await settle();
      const manifest = { ...sixTasks, tasks: sixTasks.tasks.slice(0, 3) };
      const answer = await first.request(launchRequest(manifest));
      for (let step = 0; step < 2000 && !dying.isDead(); step++) {
        await town.rest(first);
        if (first.view().batches[0]?.status === 'succeeded') break;
        const next = town.clock.pending()[0];
        if (next === undefined || dying.isDead()) break;
        await town.clock.advanceTo(Math.max(next, town.clock.now()));
      }
      if (!dying.isDead()) {
        await first.close({ stopAgents: false });
        break;
      }
      crashes += 1;
      await first.close({ stopAgents: false });
      const second = await town.open();
      const batch = answer.ok && answer.batch !== undefined ? answer.batch : second.view().batches[0]?.id;
      const id =
        batch !== undefined && second.view().batches.some((each) => each.id === batch)
          ? batch
          : batchOf(await second.request(launchRequest(manifest)));
      const view = await town.until(second, `done after a crash at event ${at}`, allDone(id));
      expect(view.batches.map((each) => each.status)).toEqual(['succeeded']);
      const starts = attemptsOf(town);
      expect(new Set(starts).size, `crash at ${at}: ${starts.join(' ')}`).toBe(starts.length);
      expect(town.processes.running, `crash at ${at}`).toEqual([]);
      // Each child has succeeded once, and was not run again after that.
      for (const child of ['a', 'b', 'c']) {
        const runs = town.processes.started.filter(({ request }) => request.env['SWARM_CHILD'] === child);
        const succeeded = runs.findIndex(({ end }) => end?.kind === 'ended' && end.code === 0);
        expect(succeeded, `crash at ${at}: ${child}`).toBe(runs.length - 1);
      }
      await second.close({ stopAgents: false });
    }
    expect(crashes).toBeGreaterThan(often(25, 5));
  },
  60_000,
);

test.each([4, 5, 6, 7, 8, 9, 10])(
  'killed at event %i while an agent is in the middle of its work, the same agent is followed on and counted once',
  async (at) => {
    for (const when of ['afterWrite', 'beforeWrite'] as const) {
      const town = new Town();
      town.processes.onStart = (process) => {
        process.print({ type: 'session', id: 'mine' });
        process.print({ type: 'usage', input: 100, cachedInput: 10, output: 5 });
        process.print({ type: 'read', path: 'a.ts' });
      };
      const dying = dyingStore(town, at, when);
      const first = await town.open(dying.openStore);
      const tasks = { ...sixTasks, tasks: [{ id: 'a', prompt: 'x' }] };
      const batch = batchOf(await first.request(launchRequest(tasks)));
      for (let step = 0; step < 20 && !dying.isDead(); step++) {
        await town.rest(first);
        await town.clock.advance(300);
      }
      if (!dying.isDead()) town.disk.crash();
      await first.close({ stopAgents: false });
      expect(town.processes.running.length, 'the agent outlives its owner').toBeLessThanOrEqual(1);

      const second = await town.open();
      await town.rest(second);
      await town.clock.advance(1000);
      await town.rest(second);
      const running = second.view().batches[0]?.children[0];
      expect(running, when).toMatchObject({ phase: 'running', attempts: 1, session: 'mine' });
      expect(running?.tokens).toEqual({ input: 100, cachedInput: 10, output: 5 });
      const [process] = town.processes.started;
      process?.print({ type: 'usage', input: 1, cachedInput: 0, output: 1 });
      process?.print({ type: 'done', result: 'made it' });
      process?.exit(0);
      const view = await town.until(second, 'done', allDone(batch));
      expect(view.batches[0]?.children[0]?.tokens).toEqual({ input: 101, cachedInput: 10, output: 6 });
      expect(view.batches[0]?.children[0]?.files.read).toBe(1);
      expect(town.processes.started).toHaveLength(1);
      await second.close({ stopAgents: false });
    }
  },
);

test('an agent whose start was not noted before the crash can be stopped all the same', async () => {
  const town = new Town();
  town.processes.onStart = () => undefined;
  const dying = dyingStore(town, 4, 'beforeWrite');
  const first = await town.open(dying.openStore);
  const batch = batchOf(
    await first.request(launchRequest({ ...sixTasks, tasks: [{ id: 'a', prompt: 'x' }] })),
  );
  await town.rest(first);
  await first.close({ stopAgents: false });
  expect(town.disk.journal.at(-1)?.event.type).toBe('prepared');
  expect(town.processes.running).toHaveLength(1);
  const second = await town.open();
  await town.rest(second);
  await second.request({ type: 'stop', targets: [{ batch, child: 'a' }] });
  await town.rest(second);
  expect(town.processes.started.map(({ asked }) => asked)).toEqual([['SIGTERM']]);
  expect(second.view().batches[0]?.children[0]?.status).toBe('canceled');
  await second.close({ stopAgents: false });
});

test('of two processes the second is a viewer: it sees the same, its wishes reach the owner, and it takes over', async () => {
  const town = new Town();
  new Account(town, 0, 60_000);
  const owner = await town.open();
  const viewer = await town.open();
  expect([owner.role, viewer.role]).toEqual(['owner', 'viewer']);
  const roles: string[] = [];
  viewer.onRole((role) => roles.push(role));
  const batch = batchOf(await viewer.request(launchRequest(sixTasks)));
  await town.until(owner, 'closed', (view) => view.gates[0]?.state === 'closed');
  await town.clock.advance(200);
  expect(draw(viewer.view())).toBe(draw(owner.view()));
  town.disk.crash();
  await owner.close({ stopAgents: false });
  await town.rest(viewer);
  expect(viewer.role).toBe('owner');
  expect(roles).toEqual(['owner']);
  await town.until(viewer, 'done', allDone(batch));
  await viewer.close({ stopAgents: false });
});

test('a superseded owner does nothing more and becomes a viewer', async () => {
  const town = new Town();
  town.processes.onStart = () => undefined;
  const first = await town.open();
  const batch = batchOf(await first.request(launchRequest(sixTasks)));
  await town.rest(first);
  const started = town.processes.started.length;
  const opened = town.disk.supersede();
  if (opened.kind !== 'owner') throw new Error('not taken over');
  for (const process of town.processes.running) process.exit(0);
  await settle(20);
  expect(first.role).toBe('viewer');
  expect(town.processes.started.length).toBe(started);
  expect(town.disk.journal.filter(({ event }) => event.type === 'exited')).toEqual([]);
  new Account(town, 10);
  await opened.store.close();
  await settle(20);
  expect(first.role).toBe('owner');
  await town.until(first, 'done', allDone(batch));
  await first.close({ stopAgents: false });
});

test('with a full disk children pause with `disk`, wishes are refused, and all goes on when there is space', async () => {
  const town = new Town();
  town.processes.onStart = (process) => process.print({ type: 'text', text: 'thinking about it' });
  const supervisor = await town.open();
  const batch = batchOf(await supervisor.request(launchRequest(sixTasks)));
  await town.rest(supervisor);
  expect(town.processes.running).toHaveLength(2);
  for (const { request } of town.processes.running) town.git.edits.set(request.cwd, 1);
  town.disk.full = true;
  town.processes.running[0]?.print({ type: 'session', id: 'one' });
  await town.rest(supervisor);
  const journaled = town.disk.journal.length;
  const [first] = sixTasks.tasks;
  const refused = await supervisor.request({
    type: 'startNext',
    targets: [{ batch, child: first?.id ?? '' }],
  });
  expect(refused).toMatchObject({ ok: false, code: 3 });
  expect(town.processes.running).toEqual([]);
  await town.clock.advance(10_000);
  await town.rest(supervisor);
  expect(draw(supervisor.view())).toMatchInlineSnapshot(`
    "story paused
      a paused disk x1
      b paused disk x1
      c queued x0
      d queued x0
      e queued x0
      f queued x0"
  `);
  // Nothing but what stops agents has been done for events that are not in the journal.
  expect(town.disk.journal).toHaveLength(journaled);
  expect(town.git.refs.size).toBe(0);
  town.disk.full = false;
  new Account(town, 10);
  await town.until(supervisor, 'done', allDone(batch));
  expect(town.disk.journal.map(({ seq }) => seq)).toEqual(town.disk.journal.map((_, i) => i + 1));
  await supervisor.close({ stopAgents: false });
});

test('closed with `stopAgents`, what runs is paused by hand and its work kept; without, it runs on', async () => {
  const town = new Town();
  town.processes.onStart = () => undefined;
  const first = await town.open();
  batchOf(await first.request(launchRequest(sixTasks)));
  await town.rest(first);
  await first.close({ stopAgents: false });
  expect(town.processes.running).toHaveLength(2);
  const second = await town.open();
  await town.rest(second);
  expect(town.processes.started).toHaveLength(2);
  const closing = second.close({ stopAgents: true });
  await settle(30);
  await closing;
  expect(town.processes.running).toEqual([]);
  const third = await town.open();
  await town.rest(third);
  expect(
    third
      .view()
      .batches[0]?.children.slice(0, 2)
      .map((child) => child.reason?.class),
  ).toEqual(['user', 'user']);
  await third.close({ stopAgents: false });
});

test('an apply that breaks off after it was noted is ended at the next start, and only once', async () => {
  const town = new Town();
  new Account(town, 10);
  const first = await town.open();
  const batch = batchOf(
    await first.request(launchRequest({ ...sixTasks, tasks: sixTasks.tasks.slice(0, 1) })),
  );
  await town.until(first, 'done', allDone(batch));
  town.git.apply = async (_, request) => {
    await request.beforeWrite({ children: ['a'], from: 'from', to: 'to', paths: ['a.txt'] });
    town.disk.crash();
    throw new Error('killed');
  };
  await first.request({ type: 'apply', targets: [{ batch, child: 'a' }] });
  await town.rest(first);
  await first.close({ stopAgents: false });
  const second = await town.open();
  await town.rest(second);
  expect(town.git.finished).toEqual([['a']]);
  expect(second.view().batches[0]?.children[0]?.apply?.state).toBe('applied');
  await second.close({ stopAgents: false });
});

test('what is wrong with a launch is said before anything is written', async () => {
  const town = new Town();
  const supervisor = await town.open();
  const before = town.disk.journal.length;
  town.processes.missing.add('/bin/agent');
  expect(await supervisor.request(launchRequest(sixTasks))).toMatchObject({ ok: false, code: 3 });
  town.processes.missing.clear();
  const unset = {
    ...sixTasks,
    executors: { fake: { adapter: 'command', command: ['/bin/agent'], env: { KEY: '${env:NOT_SET}' } } },
  };
  expect(await supervisor.request(launchRequest(unset))).toMatchObject({ ok: false, code: 3 });
  expect(await supervisor.request(launchRequest({ version: 1, tasks: [] }))).toMatchObject({
    ok: false,
    code: 2,
  });
  expect(await supervisor.request({ ...launchRequest(sixTasks), consent: false } as never)).toMatchObject({
    ok: false,
    code: 2,
  });
  expect(await supervisor.request({ type: 'pause', targets: [{ batch: 'x', child: 'y' }] })).toMatchObject({
    ok: false,
    code: 2,
  });
  expect(town.disk.journal.length).toBe(before);
  expect([...town.disk.files.keys()]).toEqual([]);
  await supervisor.close({ stopAgents: false });
});

test('a child whose work cannot be captured is not applied, and the others do not wait for it', async () => {
  const town = new Town();
  new Account(town, 100);
  const supervisor = await town.open();
  const batch = batchOf(
    await supervisor.request(launchRequest({ ...sixTasks, tasks: sixTasks.tasks.slice(0, 3) })),
  );
  await town.until(supervisor, 'done', allDone(batch));
  const snapshot = town.git.snapshot.bind(town.git);
  town.git.snapshot = (request) =>
    request.worktree.path.endsWith('/b') ? Promise.reject(new Error('no .git')) : snapshot(request);
  const targets = ['a', 'b', 'c'].map((child) => ({ batch, child }));
  await supervisor.request({ type: 'apply', targets });
  await town.rest(supervisor);
  expect(town.git.applied).toEqual(['a', 'c']);
  expect(supervisor.view().batches[0]?.children.map((child) => child.apply?.state === 'applied')).toEqual([
    true,
    false,
    true,
  ]);
  await supervisor.close({ stopAgents: false });
});
