import { onImpossible } from './core/assert.js';
import { deriveView } from './core/view.js';
import type { Effect } from './core/effect.js';
import { syncedEvents, type Event, type Stamped } from './core/event.js';
import { Reducing, replay } from './core/reduce.js';
import type { State } from './core/state.js';
import { messageOf } from './effects/context.js';
import type { Clock, Log, Store } from './ports.js';
import { StoreError } from './ports.js';
import type { Problem, View } from '../protocol/view.js';

/** The one loop that owns the state. Everything else only posts events to it and reads what it has journaled. */
export interface Loop {
  /** The last state whose events are all in the journal, or held back by a full disk. */
  state(): State;
  view(): View;
  /** Queues a fact. Nothing happens once the loop has stopped. */
  post(event: Event): void;
  /** Queues a wish or a step that must not be forgotten; false if it was refused, by a full disk or the end. */
  postDurably(event: Event): Promise<boolean>;
  diskFilled(): void;
  /** What was queued until now is in the journal, or held back by a full disk, and its effects are ordered. */
  worked(): Promise<void>;
  /** The queue is empty and everything in it is in the journal. */
  drained(): Promise<void>;
  /** Takes no more events; what was queued is written first. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly initial: State;
  readonly run: (effect: Effect) => void;
  /** Called after each change of the state. */
  readonly changed: () => void;
  /** Another owner has taken over, or the store is closed: nothing may be done any more. */
  readonly lost: () => void;
  readonly problems: () => readonly Problem[];
}

interface Queued {
  readonly event: Event;
  /** Answers whoever waits for it; null: a fact, which is never dropped. */
  readonly answer: ((journaled: boolean) => void) | null;
}

/** Orders that are safe before their event is on the disk: they start nothing and write nothing. */
const safeUnwritten: ReadonlySet<Effect['type']> = new Set<Effect['type']>([
  'stop',
  'kill',
  'setTimer',
  'clearTimer',
  'notify',
  'watchDisk',
]);

const snapshotEvery = 2000;

export function createLoop(options: LoopOptions): Loop {
  const { store, clock, log } = options;
  let state = replay(store.loaded.state ?? options.initial, store.loaded.events);
  let lastSeq = Math.max(state.seq, store.loaded.lastSeq);
  let queue: Queued[] = [];
  /** Reduced, but the disk was full: written before anything else. */
  let unwritten: Stamped[] = [];
  let deferred: Effect[] = [];
  let pumping: Promise<void> | null = null;
  /** Told at the end of the turn that takes what is queued now. */
  let waiting: (() => void)[] = [];
  let stopped = false;
  /** The last view, and of what. Problems are only added. */
  let shown: { readonly of: State; readonly problems: number; readonly view: View } | null = null;
  let sinceSnapshot = store.loaded.events.length;
  onImpossible((message) => log.error(`Ignored, for it cannot happen: ${message}`));

  function post(queued: Queued): void {
    if (stopped) {
      queued.answer?.(false);
      return;
    }
    queue.push(queued);
    pumping ??= pump();
  }

  async function pump(): Promise<void> {
    // Events of the same turn are written together.
    await Promise.resolve();
    try {
      while (queue.length > 0) {
        const told = waiting;
        waiting = [];
        await turn().finally(() => told.forEach((tell) => tell()));
      }
    } finally {
      pumping = null;
      for (const tell of waiting.splice(0)) tell();
    }
  }

  /** 1. take what is queued, 2. stamp and reduce, 3. journal, 4. make it the state, 5. run its effects. */
  async function turn(): Promise<void> {
    const taken = queue;
    queue = [];
    const next = reduceAll(taken);
    try {
      const events = [...unwritten, ...next.stamped];
      if (events.length > 0)
        await store.append(
          events,
          events.some(({ event }) => syncedEvents[event.type]),
        );
    } catch (error) {
      if (error instanceof StoreError && error.kind === 'disk') holdBack(taken);
      else lose(error, taken);
      return;
    }
    const held = deferred;
    unwritten = [];
    deferred = [];
    commit(next.state, next.stamped.length);
    for (const { answer } of taken) answer?.(true);
    for (const effect of [...held, ...next.effects]) options.run(effect);
    // Reports its own failures. What happens meanwhile does not wait for it.
    void saveSnapshot();
  }

  function reduceAll(taken: readonly Queued[]): {
    readonly state: State;
    readonly stamped: readonly Stamped[];
    readonly effects: readonly Effect[];
  } {
    const t = clock.now();
    const offset = clock.offset(t);
    const stamped: Stamped[] = [];
    const reducing = new Reducing(state);
    for (const { event } of taken) {
      const candidate: Stamped = { seq: lastSeq + stamped.length + 1, t, offset, event };
      // What changes nothing is not worth a line in the journal.
      if (reducing.take(candidate)) stamped.push(candidate);
    }
    return { state: reducing.state, stamped, effects: reducing.effects };
  }

  function commit(next: State, events: number): void {
    const changed = next !== state;
    state = next;
    lastSeq += events;
    sinceSnapshot += events;
    if (changed) options.changed();
  }

  /**
   * The disk is full: wishes are refused, facts are kept in memory until they can be written, and all children are
   * told to stop. What would start or write anything waits for the journal.
   */
  function holdBack(taken: readonly Queued[]): void {
    // That it is free again was not true.
    const facts = taken.filter(({ event, answer }) => answer === null && event.type !== 'diskFreed');
    const filled: Queued[] =
      state.diskFullSince === null ? [{ event: { type: 'diskFilled' }, answer: null }] : [];
    const next = reduceAll([...filled, ...facts]);
    unwritten = [...unwritten, ...next.stamped];
    commit(next.state, next.stamped.length);
    for (const { answer } of taken) answer?.(false);
    for (const effect of next.effects)
      if (safeUnwritten.has(effect.type)) options.run(effect);
      else deferred.push(effect);
    if (filled.length > 0) log.error('The disk is full: all children pause until there is space.');
    else if (taken.some(({ event }) => event.type === 'diskFreed')) options.run({ type: 'watchDisk' });
  }

  function lose(error: unknown, taken: readonly Queued[]): void {
    stopped = true;
    const rest = [...taken, ...queue];
    queue = [];
    for (const { answer } of rest) answer?.(false);
    log.warn(`This process gives the folder up: ${messageOf(error)}`);
    options.lost();
  }

  async function saveSnapshot(): Promise<void> {
    if (sinceSnapshot < snapshotEvery) return;
    sinceSnapshot = 0;
    try {
      await store.saveState(state);
    } catch (error) {
      log.warn(`state.json not written: ${messageOf(error)}`);
    }
  }

  const loop: Loop = {
    state: () => state,
    view() {
      const problems = options.problems();
      if (shown === null || shown.of !== state || shown.problems !== problems.length)
        shown = { of: state, problems: problems.length, view: deriveView(state, problems) };
      return shown.view;
    },
    post: (event) => post({ event, answer: null }),
    postDurably: (event) => new Promise((resolve) => post({ event, answer: resolve })),
    diskFilled: () => {
      if (state.diskFullSince === null) post({ event: { type: 'diskFilled' }, answer: null });
    },
    worked: () => (pumping === null ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    async drained() {
      while (pumping !== null) await pumping;
    },
    async stop() {
      await loop.drained();
      stopped = true;
      if (unwritten.length === 0) {
        try {
          await store.saveState(state);
        } catch (error) {
          log.warn(`state.json not written: ${messageOf(error)}`);
        }
      }
    },
  };
  return loop;
}
