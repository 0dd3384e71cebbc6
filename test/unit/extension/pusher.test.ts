import { describe, expect, it } from 'vitest';
import type { HostState, ToPanel } from '../../../src/protocol/messages.js';
import { createPusher } from '../../../src/extension/panel/pusher.js';
import { viewOf } from '../../support/views.js';

const host: HostState = {
  workspace: 'ready',
  executors: [],
  supervisor: 'owner',
  writtenBy: null,
  letterKeys: false,
  hour12: null,
  locale: 'en',
};

/** A clock turned by hand, and the pushes with their time. */
function setUp() {
  let now = 1000;
  let view = viewOf({ seq: 1 });
  let waiting: { readonly at: number; readonly then: () => void } | null = null;
  const posts: string[] = [];
  const pusher = createPusher({
    read: () => ({ view, host }),
    post: (message: ToPanel) => {
      if (message.type === 'view') posts.push(`${now}: #${message.serial} seq ${message.view.seq}`);
    },
    now: () => now,
    after: (milliseconds, then) => {
      const timer = { at: now + milliseconds, then };
      waiting = timer;
      return {
        dispose: () => {
          if (waiting === timer) waiting = null;
        },
      };
    },
  });
  return {
    pusher,
    posts,
    change: (seq: number): void => {
      view = viewOf({ seq });
      pusher.changed();
    },
    pass: (milliseconds: number): void => {
      now += milliseconds;
      const due = waiting;
      if (due !== null && due.at <= now) {
        waiting = null;
        due.then();
      }
    },
  };
}

describe('pushes to the panel', () => {
  it('go at once when the panel asks, and again each time it asks', () => {
    const { pusher, posts } = setUp();
    pusher.ready();
    pusher.ready();
    expect(posts).toEqual(['1000: #1 seq 1', '1000: #2 seq 1']);
  });

  it('are at most one in 100 ms, and the last change always arrives', () => {
    const { pusher, posts, change, pass } = setUp();
    pusher.ready();
    for (let seq = 2; seq <= 40; seq += 1) {
      change(seq);
      pass(10);
    }
    pass(100);
    const times = posts.map((post) => Number(post.split(':')[0]));
    expect(times.slice(1).every((time, index) => time - (times[index] ?? 0) >= 100)).toBe(true);
    expect(posts.at(-1)).toContain('seq 40');
    expect(posts.length).toBeLessThanOrEqual(6);
  });

  it('are left out when nothing differs from what was sent', () => {
    const { pusher, posts, pass } = setUp();
    pusher.ready();
    pass(500);
    pusher.changed();
    pass(500);
    expect(posts).toHaveLength(1);
  });

  it('stop when the panel is gone', () => {
    const { pusher, posts, change, pass } = setUp();
    pusher.ready();
    change(2);
    pusher.dispose();
    pass(500);
    expect(posts).toHaveLength(1);
  });
});
