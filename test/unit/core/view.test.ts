import { describe, expect, test } from 'vitest';
import { exitCode } from '../../../src/supervisor/core/exitCode.js';
import { gateKey, parseChildKey, parseGateKey } from '../../../src/supervisor/core/keys.js';
import { resumePrice, wayToGoOn } from '../../../src/supervisor/core/price.js';
import { deriveView } from '../../../src/supervisor/core/view.js';
import { batchLaunched, start, verdictOf, World } from './world.js';

function world(tasks: readonly string[], max = 8): World {
  const made = new World();
  for (const kind of ['prepare', 'spawn', 'snapshot', 'stop'] as const) made.automatic.add(kind);
  made.send(batchLaunched({ id: 'b', tasks, max, idle: 1e12 }));
  made.settle();
  return made;
}

const limit = verdictOf('usage_limit', {
  resetAt: start + 3_600_000,
  resetSource: 'event',
  window: 'five_hour',
});
const code = (of: World, noWait: boolean, tty: boolean) =>
  exitCode(deriveView(of.state), { batches: null, noWait, tty });

describe('the view', () => {
  test('is contract for contract what status prints: instants are ISO, resets without margin', () => {
    const it = world(['a', 'b'], 1);
    it.exit('b/a', 1, limit);
    const view = deriveView(it.state, [{ path: 'x', message: 'y' }]);
    expect(view).toMatchObject({
      schema: 1,
      owner: { pid: 1, epoch: 1, host: 'here' },
      problems: [{ path: 'x', message: 'y' }],
      gates: [
        {
          credential: 'claude',
          state: 'closed',
          until: '2026-05-04T13:00:00.000Z',
          reason: 'usage_limit',
          source: 'event',
          held: 1,
          waiting: 2,
          first: { id: 'a' },
          actions: ['resumeNow', 'resumeAt', 'dontResume'],
        },
      ],
      batches: [
        {
          id: 'b',
          status: 'paused',
          children: [
            { id: 'a', phase: 'paused', status: 'paused', attempts: 1, resetAt: '2026-05-04T13:00:00.000Z' },
            { id: 'b', phase: 'queued', status: 'held', attempts: 0, reason: { class: 'usage_limit' } },
          ],
        },
      ],
    });
    expect('model' in (view.gates[0] ?? {})).toBe(false);
  });

  test('a held child that a person resumes is tried first at its gate', () => {
    const it = world(['a', 'b'], 2);
    it.exit('b/a', 1, limit);
    it.exit('b/b', 1, limit);
    it.send(batchLaunched({ id: 'later', tasks: ['c'], max: 8, idle: 1e12 }));
    it.send({ type: 'stopRequested', children: ['b/a', 'b/b'] });
    it.settle();
    expect(deriveView(it.state).batches[1]?.children[0]?.status).toBe('held');
    it.send({ type: 'resumeRequested', children: ['later/c'], how: 'auto' });
    it.settle();
    expect(deriveView(it.state).gates[0]).toMatchObject({ state: 'probing', canary: 'c' });
  });

  test('never counts more resumed than have waited, whoever starts meanwhile', () => {
    const it = world(['a', 'b'], 2);
    it.exit('b/a', 1, limit);
    it.exit('b/b', 1, limit);
    it.advance(3_602_000);
    it.report('b/a', true);
    it.send(batchLaunched({ id: 'later', tasks: ['c', 'd'], max: 8, idle: 1e12 }));
    it.settle();
    it.report('b/b', true);
    it.settle();
    expect(deriveView(it.state).batches[1]?.children[0]?.status).toBe('running');
    expect(deriveView(it.state).gates[0]?.resumed).toEqual({ done: 1, of: 1 });
  });

  test('says how long a child ran, waits not counted', () => {
    const it = world(['a']);
    it.advance(60_000);
    it.exit('b/a', 1, limit);
    it.advance(3_541_000);
    it.advance(30_000);
    it.report('b/a', true);
    expect(deriveView(it.state).batches[0]?.children[0]).toMatchObject({
      ranFor: 90,
      history: [
        { kind: 'queued' },
        { kind: 'running', attempt: 1, how: 'started' },
        { kind: 'paused', reason: 'usage_limit' },
        { kind: 'running', attempt: 2, how: 'resumedFresh', to: null },
      ],
    });
  });

  test('a child that does not change is drawn from what was drawn', () => {
    const it = world(['a', 'b']);
    const before = deriveView(it.state).batches[0]?.children;
    it.report('b/a', true);
    const after = deriveView(it.state).batches[0]?.children;
    expect(after?.[1]?.history).toBe(before?.[1]?.history);
    expect(after?.[0]).not.toBe(before?.[0]);
    // What it reports adds nothing to its past.
    expect(after?.[0]?.history).toBe(before?.[0]?.history);
  });

  test('every action that is primary is among the actions', () => {
    const it = world(['a', 'b', 'c', 'd'], 3);
    it.exit('b/a', 1, verdictOf('unknown'));
    it.exit('b/b', 1, verdictOf('invalid_request'));
    it.exit('b/c', 1, verdictOf('none'), {}, { result: 'x' });
    for (const child of deriveView(it.state).batches[0]?.children ?? [])
      if (child.primary !== null) expect(child.actions).toContain(child.primary);
  });

  test('the resume price tells same session warm and cold, and fresh with a brief', () => {
    const it = world(['a']);
    it.report('b/a', true, { input: 90_000, output: 1_000, context: 60_000, written: 2 });
    it.send({ type: 'sessionLearned', child: 'b/a', attempt: 1, session: 's' });
    expect(resumePrice(it.child('b/a'))).toEqual({ sameNow: 7_000, sameLater: 61_000, fresh: 1_660 });
    it.exit('b/a', 1, limit);
    expect(wayToGoOn(it.child('b/a'), it.now)).toBe('session');
    // A large context that has gone cold is dearer by far than a brief.
    expect(wayToGoOn(it.child('b/a'), it.now + 3_700_000)).toBe('brief');
  });
});

describe('the exit code', () => {
  test('0 only if all are done', () => {
    const it = world(['a']);
    expect(code(it, true, false)).toBeNull();
    it.exit('b/a', 1, verdictOf('none'), {}, { result: 'x' });
    expect(code(it, false, true)).toBe(0);
  });

  test('1 if one has failed or was stopped, and nothing is left to do', () => {
    const it = world(['a', 'b']);
    it.exit('b/a', 1, verdictOf('invalid_request'));
    expect(code(it, true, false)).toBeNull();
    it.send({ type: 'stopRequested', children: ['b/b'] });
    it.settle();
    expect(code(it, false, false)).toBe(1);
  });

  test('75 at once with --no-wait, else only when nobody but a person can help, and never on a terminal', () => {
    const it = world(['a', 'b'], 1);
    it.exit('b/a', 1, limit);
    expect([code(it, true, false), code(it, false, false), code(it, false, true)]).toEqual([75, null, null]);
    it.send({ type: 'gateAnswered', gate: 'claude', answer: 'decline' });
    expect([code(it, true, false), code(it, false, false), code(it, false, true)]).toEqual([75, 75, null]);
  });

  test('follows only the batches it is asked for', () => {
    const it = world(['a']);
    it.send(batchLaunched({ id: 'c', tasks: ['x'] }));
    it.exit('b/a', 1, verdictOf('none'), {}, { result: 'x' });
    const view = deriveView(it.state);
    expect(exitCode(view, { batches: ['b'], noWait: false, tty: false })).toBe(0);
    expect(exitCode(view, { batches: ['c'], noWait: false, tty: false })).toBeNull();
  });
});

describe('keys', () => {
  test('no two gates share a key, whatever their names', () => {
    const keys = [gateKey('a b', null), gateKey('a', 'b'), gateKey('a%20b', null), gateKey('a', null)];
    expect(new Set(keys).size).toBe(4);
    expect(keys.map(parseGateKey)[0]).toEqual({ credential: 'a b', model: null });
    expect(parseGateKey(gateKey('a', 'b c'))).toEqual({ credential: 'a', model: 'b c' });
    expect(parseChildKey('batch/child')).toEqual({ batch: 'batch', id: 'child' });
  });

  test('a credential and a batch may be called constructor', () => {
    const it = new World();
    for (const kind of ['prepare', 'spawn', 'snapshot'] as const) it.automatic.add(kind);
    it.send(batchLaunched({ id: 'constructor', tasks: ['toString'], chain: ['constructor', '__proto__'] }));
    it.settle();
    it.exit('constructor/toString', 1, limit);
    expect(deriveView(it.state).gates[0]).toMatchObject({ credential: 'constructor', state: 'closed' });
  });
});
