import { setStrict } from '../../../src/supervisor/core/assert.js';
import type { Effect } from '../../../src/supervisor/core/effect.js';
import type { Event, Exit, ReportChange, Stamped, TimerId } from '../../../src/supervisor/core/event.js';
import { maySpawn } from '../../../src/supervisor/core/gates.js';
import { initialState } from '../../../src/supervisor/core/initial.js';
import { violations } from '../../../src/supervisor/core/invariants.js';
import { defaultPolicy } from '../../../src/supervisor/core/policy.js';
import { reduce } from '../../../src/supervisor/core/reduce.js';
import type { Child, Policy, Settings, State, Task } from '../../../src/supervisor/core/state.js';
import type { Verdict } from '../../../src/protocol/verdict.js';

setStrict(true);

export const start = Date.UTC(2026, 4, 4, 12, 0, 0);

/** The loop and the world around the machine, with a clock that is turned by hand. */
export class World {
  now = start;
  offset = 0;
  state: State;
  seq = 0;
  /** Orders that wait for their confirmation, oldest first. */
  pending: Effect[] = [];
  /** Kinds of orders that are confirmed by themselves. */
  readonly automatic = new Set<Effect['type']>();
  readonly timers = new Map<string, { readonly timer: TimerId; readonly at: number }>();
  /** Attempts that were started, by child: nothing may be started twice. */
  readonly started = new Map<string, number>();
  /** Whether quarantines find files that somebody else wrote too. */
  overlaps = false;
  /** Attempts that run, `child#n`. */
  readonly alive = new Set<string>();
  readonly notified = new Map<string, number>();
  readonly journal: Stamped[] = [];
  /** Called after each event, with what it ordered. */
  watch: (event: Event, effects: readonly Effect[], before: State) => void = () => undefined;

  constructor(settings?: Settings) {
    this.state = initialState(settings);
    this.send({ type: 'opened', owner: { pid: 1, epoch: 1, host: 'here' }, version: '0.1.0' });
  }

  /** One event: journaled, reduced, looked at, its orders taken. */
  send(event: Event): readonly Effect[] {
    const before = this.state;
    const stamped: Stamped = { seq: ++this.seq, t: this.now, offset: this.offset, event };
    this.journal.push(stamped);
    const { state, effects } = reduce(before, stamped);
    this.state = state;
    const wrong = violations(state, { before, event, effects });
    if (wrong.length > 0) throw new Error(`after ${JSON.stringify(event)}:\n${wrong.join('\n')}`);
    for (const effect of effects) this.take(effect);
    this.watch(event, effects, before);
    return effects;
  }

  private take(effect: Effect): void {
    if (effect.type === 'setTimer')
      this.timers.set(JSON.stringify(effect.timer), { timer: effect.timer, at: effect.at });
    else if (effect.type === 'clearTimer') this.timers.delete(JSON.stringify(effect.timer));
    else if (effect.type === 'notify')
      this.notified.set(effect.key, (this.notified.get(effect.key) ?? 0) + 1);
    else this.pending.push(effect);
  }

  /** Confirms what is confirmed by itself, until nothing of it is left. */
  settle(): void {
    for (;;) {
      const at = this.pending.findIndex((effect) => this.automatic.has(effect.type));
      const [effect] = at < 0 ? [] : this.pending.splice(at, 1);
      if (effect === undefined) return;
      this.confirm(effect);
    }
  }

  /** What the loop and the world make of an order. */
  confirm(effect: Effect): void {
    switch (effect.type) {
      case 'prepare': {
        const place = { path: `/w/${effect.child}`, base: 'base', inputs: [] };
        this.send({ type: 'prepared', child: effect.child, attempt: effect.launch.attempt, place });
        return;
      }
      case 'spawn': {
        const { child, launch } = effect;
        if (!maySpawn(this.state, child, launch.attempt)) {
          const message = 'may not start now';
          this.send({ type: 'spawnFailed', child, attempt: launch.attempt, message, disk: false });
          return;
        }
        const id = `${child}#${launch.attempt}`;
        if (!this.alive.has(id)) {
          const last = this.started.get(child) ?? 0;
          if (last >= launch.attempt) throw new Error(`${id} is started twice`);
          this.started.set(child, launch.attempt);
          this.alive.add(id);
        }
        this.send({ type: 'spawned', child, attempt: launch.attempt, process: processOf(id) });
        return;
      }
      case 'adopt': {
        const id = `${effect.child}#${effect.launch.attempt}`;
        if (this.alive.has(id))
          this.send({
            type: 'adopted',
            child: effect.child,
            attempt: effect.launch.attempt,
            process: processOf(id),
          });
        else this.exit(effect.child, effect.launch.attempt, verdictOf('none'), { kind: 'lost', code: null });
        return;
      }
      case 'stop':
      case 'kill': {
        const signal = effect.type === 'kill' ? 'SIGKILL' : 'SIGTERM';
        const ended = { asked: true, code: null, signal };
        this.exit(effect.child, effect.attempt, verdictOf('cancelled'), ended);
        return;
      }
      case 'snapshot': {
        const n = (this.state.children[effect.child]?.snapshot?.n ?? 0) + 1;
        const ref = `refs/swarm/${effect.child}/${n}`;
        if (this.state.children[effect.child] !== undefined)
          this.send({ type: 'snapshotTaken', child: effect.child, n, ref, commit: `c${n}` });
        const clones = n % 5 === 0 ? [{ path: 'vendor/', reason: 'a clone of another repository' }] : [];
        if (clones.length > 0 || this.state.children[effect.child]?.uncaptured !== undefined)
          this.send({ type: 'uncaptured', child: effect.child, paths: clones });
        if (n % 5 === 1)
          this.send({
            type: 'strayed',
            child: effect.child,
            strays: [{ path: 'a.ts', who: 'you', moved: true }],
          });
        if (effect.why !== 'edits')
          this.send({ type: 'worktreeMeasured', child: effect.child, bytes: 4096 * n });
        return;
      }
      case 'quarantine':
        this.send({ type: 'quarantineStarted', child: effect.child });
        this.send({
          type: 'quarantined',
          child: effect.child,
          moved: ['src/half.ts'],
          left:
            this.overlaps && this.state.children[effect.child]?.quarantine?.whole !== true
              ? [{ path: 'src/both.ts', who: 'you' }]
              : [],
        });
        return;
      case 'restoreWorktree': {
        const place = { path: `/w/${effect.child}`, base: 'base', inputs: [] };
        this.send({ type: 'worktreeRestored', child: effect.child, place });
        return;
      }
      case 'apply': {
        const none = { conflicts: [], red: [], message: null };
        this.send({ type: 'applyEnded', children: effect.children, applied: effect.children, ...none });
        return;
      }
      case 'watchDisk':
        this.send({ type: 'diskFreed' });
        return;
      case 'forecast':
      case 'check':
      case 'writeResult':
      case 'setTimer':
      case 'clearTimer':
      case 'notify':
        return;
      default:
        effect satisfies never;
    }
  }

  exit(child: string, attempt: number, verdict: Verdict, change: Partial<Exit> = {}, more: Said = {}): void {
    this.alive.delete(`${child}#${attempt}`);
    this.send({
      type: 'exited',
      child,
      attempt,
      exit: { kind: 'exited', code: verdict.class === 'none' ? 0 : 1, signal: null, asked: false, ...change },
      verdict,
      result: more.result ?? '',
      progress: more.progress ?? false,
      ...(more.done === undefined ? {} : { done: more.done }),
    });
  }

  report(child: string, progress: boolean, change: Partial<ReportChange> = {}): void {
    const known = this.state.children[child];
    if (known === undefined) throw new Error(`no child ${child}`);
    const { read, written, input, cachedInput, output } = known.report;
    const report: ReportChange = {
      ...{ read, written, input, cachedInput, output, lastLine: 'works', lastLineAt: this.now },
      ...{ details: null, stdout: 0, stderr: 0 },
      ...change,
    };
    this.send({ type: 'reported', child, attempt: known.attempt, progress, report });
  }

  /** Turns the clock on, firing on the way what is due, and confirming what is confirmed by itself. */
  advance(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      let next: { key: string; timer: TimerId; at: number } | null = null;
      for (const [key, { timer, at }] of this.timers)
        if (at <= end && (next === null || at < next.at)) next = { key, timer, at };
      if (next === null) break;
      this.now = Math.max(this.now, next.at);
      this.fire(next.key, next.timer);
    }
    this.now = end;
  }

  private fire(key: string, timer: TimerId): void {
    this.timers.delete(key);
    this.send({ type: 'timerFired', timer });
    this.settle();
  }

  /** The clock jumps (sleep, or somebody sets it); what is due by then fires late and at once. */
  jump(ms: number): void {
    this.now += ms;
    for (const [key, { timer, at }] of [...this.timers]) if (at <= this.now) this.fire(key, timer);
  }

  /** The process dies and is back: the state from the journal, pending orders and timers lost. */
  restart(): void {
    this.state = JSON.parse(JSON.stringify(this.state)) as State;
    this.pending = [];
    this.timers.clear();
    this.send({ type: 'opened', owner: { pid: 2, epoch: 2, host: 'here' }, version: '0.1.0' });
  }

  child(key: string): Child {
    const child = this.state.children[key];
    if (child === undefined) throw new Error(`no child ${key}`);
    return child;
  }
}

export interface Said {
  readonly result?: string;
  readonly progress?: boolean;
  readonly done?: boolean;
}

function processOf(id: string) {
  return { pid: 100, startTime: '1', nonce: id };
}

export function verdictOf(kind: Verdict['class'], change: Partial<Verdict> = {}): Verdict {
  const terminal: readonly Verdict['class'][] = [
    'auth_denied',
    'invalid_request',
    'content_policy',
    'cancelled',
    'unknown',
  ];
  return {
    class: kind,
    recoverable: kind !== 'none' && !terminal.includes(kind),
    needsUser: kind === 'auth_expired' || kind === 'credits_exhausted' || kind === 'auth_denied',
    resetAt: null,
    resetSource: null,
    zoneAssumed: false,
    scope: kind === 'none' ? null : 'account',
    window: null,
    model: null,
    message: kind === 'none' ? '' : `said ${kind}`,
    nearLimit: null,
    steps: [],
    ...change,
  };
}

export interface BatchShape {
  readonly id: string;
  readonly tasks: readonly string[];
  readonly max?: number;
  readonly isolation?: 'worktree' | 'shared';
  /** `executor`, `executor:credential`, or `executor:credential:model`; several for a chain. */
  readonly chain?: readonly string[];
  readonly policy?: Partial<Policy>;
  readonly idle?: number;
  readonly total?: number | null;
}

export function batchLaunched(shape: BatchShape): Extract<Event, { type: 'batchLaunched' }> {
  const timeout = { idle: shape.idle ?? 600_000, total: shape.total ?? null };
  const chain = (shape.chain ?? ['claude']).map((text) => {
    const [name = '', credential = name, model] = text.split(':');
    return { name, adapter: name, credential, model: model ?? null };
  });
  return {
    type: 'batchLaunched',
    batch: {
      id: shape.id,
      name: shape.id,
      isolation: shape.isolation ?? 'worktree',
      maxConcurrent: shape.max ?? 8,
      policy: { ...defaultPolicy, ...shape.policy },
      timeout,
      check: ['npx', 'tsc', '--noEmit'],
      base: 'base',
    },
    tasks: shape.tasks.map((id): Task => ({
      ...{ id, title: id, chain, files: null, timeout, check: null, promptTokens: 100 },
    })),
  };
}
