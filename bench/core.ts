import { initialState } from '../src/supervisor/core/initial.js';
import { defaultPolicy } from '../src/supervisor/core/policy.js';
import { reduce, replay } from '../src/supervisor/core/reduce.js';
import type { Event, Stamped } from '../src/supervisor/core/event.js';
import type { State } from '../src/supervisor/core/state.js';
import type { Verdict } from '../src/protocol/verdict.js';
import { deriveView } from '../src/supervisor/core/view.js';

/**
 * What the machine costs: a journal of 100,000 events over 1,000 children read from the start, one event at a time in
 * the running loop, and the view. Run: `node bench/core.mjs` after bundling, or through `npm run bench`.
 */
const children = 1_000;
const events = 100_000;

function journalOf(): readonly Stamped[] {
  const journal: Stamped[] = [];
  let now = Date.UTC(2026, 0, 1);
  const say = (event: Event) => {
    now += 10;
    journal.push({ seq: journal.length + 1, t: now, offset: 0, event });
  };
  const timeout = { idle: 600_000, total: null };
  const chain = [{ name: 'claude', adapter: 'claude', credential: 'claude', model: null }];
  say({ type: 'opened', owner: { pid: 1, epoch: 1, host: 'here' }, version: '0' });
  say({ type: 'settingsChanged', settings: { maxConcurrent: 100, askAbove: null } });
  say({
    type: 'batchLaunched',
    batch: {
      ...{ id: 'b', name: 'b', isolation: 'worktree', maxConcurrent: 100, policy: defaultPolicy, timeout },
      ...{ check: null, base: 'base' },
    },
    tasks: Array.from({ length: children }, (_, n) => ({
      ...{ id: `t${n}`, title: `Task ${n}`, chain, files: null, timeout, check: null, promptTokens: 100 },
    })),
  });
  const perChild = Math.floor((events - 3) / children);
  for (let n = 0; n < children; n++) {
    const child = `b/t${n}`;
    say({ type: 'prepared', child, attempt: 1, place: { path: `/w/${n}`, base: 'base', inputs: [] } });
    say({ type: 'spawned', child, attempt: 1, process: { pid: n, startTime: '1', nonce: `${n}` } });
    for (let k = 0; k < perChild - 3; k++)
      say({
        type: 'reported',
        child,
        attempt: 1,
        progress: true,
        report: {
          ...{ read: k, written: 0, input: k * 100, cachedInput: 0, output: k, lastLine: `line ${k}` },
          ...{ lastLineAt: now, details: null, stdout: k * 80, stderr: 0 },
        },
      });
    if (n < children - 100) say({ type: 'exited', child, attempt: 1, exit, verdict: nothing, ...ended });
  }
  return journal;
}

const exit = { kind: 'exited', code: 0, signal: null, asked: false } as const;
const ended = { result: 'done', progress: true } as const;
const nothing: Verdict = {
  ...{ class: 'none', recoverable: false, needsUser: false, resetAt: null, resetSource: null },
  ...{ zoneAssumed: false, scope: null, window: null, model: null, message: '', nearLimit: null, steps: [] },
};

function timed<T>(work: () => T): readonly [T, number] {
  const from = performance.now();
  const result = work();
  return [result, performance.now() - from];
}

const journal = journalOf();
const [state, read] = timed(() => replay(initialState(), journal));
const [, naive] = timed(() => {
  let one: State = initialState();
  for (const stamped of journal.slice(0, 10_000)) one = reduce(one, stamped).state;
});
const [, firstView] = timed(() => deriveView(state));
const [, nextView] = timed(() => deriveView(state));
const running = Object.values(state.children).filter((child) => child.phase.name === 'running').length;
console.log(
  JSON.stringify({
    ...{ children, events: journal.length, running },
    readMs: Math.round(read),
    perEventMicroseconds: Math.round(naive / 10),
    firstViewMs: Math.round(firstView * 10) / 10,
    nextViewMs: Math.round(nextView * 10) / 10,
  }),
);
