import type { Verdict } from '../../src/protocol/verdict.js';
import type { Event, Stamped } from '../../src/supervisor/core/event.js';
import { defaultPolicy } from '../../src/supervisor/core/policy.js';

export const children = 1_000;
export const events = 100_000;

/** What an owner has journaled of a batch of 1,000 children, of which the last 100 still run or wait. */
export function journalOf(): readonly Stamped[] {
  const journal: Stamped[] = [];
  let now = Date.now() - 86_400_000;
  const say = (event: Event): void => {
    now += 10;
    journal.push({ seq: journal.length + 1, t: now, offset: 0, event });
  };
  const timeout = { idle: 600_000, total: null };
  const chain = [{ name: 'mine', adapter: 'command', credential: 'mine', model: null }];
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
    say({
      type: 'spawned',
      child,
      attempt: 1,
      process: { pid: 4_000_000 + n, startTime: '1', nonce: `${n}` },
    });
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
    say({
      type: 'exited',
      child,
      attempt: 1,
      exit,
      verdict: nothing,
      result: 'done',
      done: true,
      progress: true,
    });
  }
  return journal;
}

const exit = { kind: 'exited', code: 0, signal: null, asked: false } as const;
const nothing: Verdict = {
  ...{ class: 'none', recoverable: false, needsUser: false, resetAt: null, resetSource: null },
  ...{ zoneAssumed: false, scope: null, window: null, model: null, message: '', nearLimit: null, steps: [] },
};
