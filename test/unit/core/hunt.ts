import { isDeepStrictEqual } from 'node:util';
import type { Verdict } from '../../../src/protocol/verdict.js';
import { exitCode, waitsForPerson } from '../../../src/supervisor/core/exitCode.js';
import type { Event, Stamped } from '../../../src/supervisor/core/event.js';
import { initialState } from '../../../src/supervisor/core/initial.js';
import { violations } from '../../../src/supervisor/core/invariants.js';
import { recover } from '../../../src/supervisor/core/recover.js';
import { reduce, replay } from '../../../src/supervisor/core/reduce.js';
import type { Child, State } from '../../../src/supervisor/core/state.js';
import { deriveView } from '../../../src/supervisor/core/view.js';
import { batchLaunched, verdictOf, World } from './world.js';

/** A chance that always comes out the same for a seed. */
export function chanceOf(seed: number): () => number {
  let x = seed >>> 0;
  return () => {
    x = (x + 0x6d2b79f5) >>> 0;
    let t = Math.imul(x ^ (x >>> 15), 1 | x);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Random events against the invariants: facts of the world, wishes, the clock, and every kind of disorder. Events are
 * lost, doubled and late; the process is killed and comes back. At the end the world turns kind and all must end.
 */
export function hunt(seed: number, steps: number): World {
  const world = new World({ maxConcurrent: 5, askAbove: seed % 3 === 0 ? 40_000 : null });
  world.overlaps = true;
  const hunter = new Hunter(world, chanceOf(seed));
  for (let step = 0; step < steps; step++) hunter.step();
  hunter.beKind();
  return world;
}

const causes: readonly Verdict['class'][] = [
  'usage_limit',
  'usage_limit',
  'usage_limit',
  'rate_limit',
  'credits_exhausted',
  'overloaded',
  'stream_interrupted',
  'network',
  'auth_expired',
  'auth_denied',
  'timeout',
  'context_overflow',
  'invalid_request',
  'process_crash',
  'cancelled',
  'unknown',
];

class Hunter {
  private readonly past: Event[] = [];
  private batches = 0;

  constructor(
    private readonly world: World,
    private readonly chance: () => number,
  ) {
    world.watch = (event, _effects, before) => {
      if (event.type !== 'opened' && event.type !== 'batchLaunched') this.past.push(event);
      if (this.past.length > 200) this.past.shift();
      this.lookAt(before);
    };
    this.launch();
  }

  /** After each event: the state goes through JSON, reads the same from the journal, and can be recovered and drawn. */
  private lookAt(before: State): void {
    const { state } = this.world;
    if (state === before) return;
    if (this.chance() < 0.02) {
      const again = JSON.parse(JSON.stringify(state)) as State;
      if (!isDeepStrictEqual(again, state)) throw new Error('the state does not survive JSON');
      this.recoverFrom(again);
      const view = deriveView(state);
      // What is kept of earlier drawings must not show.
      if (!isDeepStrictEqual(view, deriveView(again)))
        throw new Error('the view depends on what was drawn before');
      exitCode(view, { batches: null, noWait: false, tty: false });
    }
  }

  /** A crash right here: what is ordered again starts nothing that was not started before. */
  private recoverFrom(state: State): void {
    for (const effect of recover(state)) {
      if (effect.type !== 'spawn' && effect.type !== 'prepare') continue;
      const child = state.children[effect.child];
      const phase = child?.phase.name;
      if (phase !== (effect.type === 'spawn' ? 'running' : 'preparing'))
        throw new Error(
          `${effect.type} of ${effect.child} is ordered again although it is ${phase ?? 'gone'}`,
        );
    }
    const stamped: Stamped = {
      seq: state.seq + 1,
      t: this.world.now,
      offset: this.world.offset,
      event: { type: 'opened', owner: { pid: 9, epoch: 9, host: 'h' }, version: '0' },
    };
    const step = reduce(state, stamped);
    const wrong = violations(step.state, { before: state, event: stamped.event, effects: step.effects });
    if (wrong.length > 0) throw new Error(`after a crash: ${wrong.join('; ')}`);
  }

  private pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.chance() * from.length)];
  }

  private launch(): void {
    const { world, chance } = this;
    const id = `b${++this.batches}`;
    world.send(
      batchLaunched({
        id,
        tasks: Array.from({ length: 3 + Math.floor(chance() * 5) }, (_, n) => `t${n + 1}`),
        max: 1 + Math.floor(chance() * 4),
        isolation: chance() < 0.3 ? 'shared' : 'worktree',
        chain:
          this.pick([
            ['claude'],
            ['codex'],
            ['claude', 'codex'],
            ['opus:api:opus'],
            ['sonnet:api:sonnet', 'codex'],
          ]) ?? [],
        idle: 300_000,
        total: chance() < 0.3 ? 3_600_000 : null,
        policy: {
          fallbackAfter: chance() < 0.5 ? 1_800_000 : null,
          quietHours: chance() < 0.3 ? { from: 1380, to: 420 } : null,
          tokensPerWake: chance() < 0.3 ? 50_000 : null,
          maxAutoResumes: Math.floor(chance() * 4),
          ramp: 1 + Math.floor(chance() * 2),
        },
      }),
    );
  }

  private children(): readonly Child[] {
    return Object.values(this.world.state.children);
  }

  private verdict(): Verdict {
    const { chance, world } = this;
    const kind = this.pick(causes) ?? 'unknown';
    const stated = chance() < 0.6;
    return verdictOf(kind, {
      resetAt: stated ? world.now + Math.floor((chance() - 0.1) * 7_200_000) : null,
      resetSource: stated ? (this.pick(['event', 'header', 'body', 'text'] as const) ?? 'event') : null,
      window: this.pick([null, 'minute', 'five_hour', 'weekly', 'unknown'] as const) ?? null,
      scope: this.pick(['account', 'account', 'model', 'request'] as const) ?? 'account',
      model: this.pick([null, 'opus'] as const) ?? null,
      recoverable: chance() < 0.8,
      nearLimit: null,
    });
  }

  step(): void {
    const { world, chance } = this;
    const dice = chance();
    if (dice < 0.4) this.confirmSome();
    else if (dice < 0.6) this.fact();
    else if (dice < 0.72) world.advance(Math.floor(chance() ** 4 * 14_400_000));
    else if (dice < 0.75) world.jump(Math.floor((chance() - 0.3) * 20_000_000));
    else if (dice < 0.87) this.wish();
    else if (dice < 0.94) this.disorder();
    else if (dice < 0.97) this.surroundings();
    else this.crash();
    if (this.chance() < 0.01 && this.batches < 12) this.launch();
  }

  /** Orders are carried out in any order; now and then one is lost or done twice. */
  private confirmSome(): void {
    const { world, chance } = this;
    const at = Math.floor(chance() * world.pending.length);
    const [effect] = world.pending.splice(at, 1);
    if (effect === undefined || chance() < 0.02) return;
    if (effect.type === 'prepare' && chance() < 0.08) {
      const kind =
        this.pick(['programMissing', 'worktreeGone', 'repository', 'disk', 'setup', 'session'] as const) ??
        'setup';
      const failure = { kind, message: kind };
      world.send({ type: 'prepareFailed', child: effect.child, attempt: effect.launch.attempt, failure });
      return;
    }
    world.confirm(effect);
    if (chance() < 0.03 && effect.type !== 'stop' && effect.type !== 'kill') world.confirm(effect);
  }

  private fact(): void {
    const { world, chance } = this;
    const alive = this.children().filter((child) => world.alive.has(`${child.key}#${child.attempt}`));
    const child = this.pick(alive);
    if (child === undefined) return;
    const { key, attempt } = child;
    const dice = chance();
    if (dice < 0.45) {
      const more = {
        input: child.report.input + Math.floor(chance() * 9000),
        output: child.report.output + 100,
      };
      world.report(key, chance() < 0.6, {
        ...more,
        written: child.report.written + (chance() < 0.4 ? 1 : 0),
      });
    } else if (dice < 0.5)
      world.send({ type: 'sessionLearned', child: key, attempt, session: `s${attempt}` });
    else if (dice < 0.56) world.send({ type: 'limitHeard', child: key, attempt, verdict: this.verdict() });
    else if (dice < 0.6)
      world.send({
        type: 'limitHeard',
        child: key,
        attempt,
        verdict: verdictOf('none', {
          nearLimit: { utilization: chance() * 1.2, window: 'five_hour', resetAt: world.now + 600_000 },
        }),
      });
    else if (dice < 0.8)
      world.exit(key, attempt, this.verdict(), { asked: chance() < 0.1 }, { progress: chance() < 0.3 });
    else world.exit(key, attempt, verdictOf('none'), {}, { result: 'done', progress: chance() < 0.5 });
  }

  private wish(): void {
    const { world, chance } = this;
    const child = this.pick(this.children());
    if (child === undefined) return;
    const children = chance() < 0.1 ? this.children().map((each) => each.key) : [child.key];
    const gate = this.pick(Object.keys(world.state.gates)) ?? 'claude';
    const at = world.now + Math.floor((chance() - 0.1) * 3_600_000);
    const wishes: readonly Event[] = [
      { type: 'resumeRequested', children, how: 'auto' },
      { type: 'resumeRequested', children, how: 'brief' },
      { type: 'resumeAtRequested', children, at },
      { type: 'declineRequested', children: [child.key] },
      { type: 'pauseRequested', children },
      { type: 'stopRequested', children: [child.key] },
      { type: 'retryRequested', children, prompt: chance() < 0.2 ? 'more' : null },
      { type: 'startNextRequested', children },
      { type: 'gateAnswered', gate, answer: 'resumeNow' },
      { type: 'gateAnswered', gate, answer: 'resumeAtReset' },
      { type: 'gateAnswered', gate, answer: 'decline' },
      { type: 'gateAnswered', gate, answer: { at } },
      { type: 'applyRequested', batch: child.batch, children },
      { type: 'checkRequested', batch: child.batch },
      { type: 'restoreRequested', child: child.key },
      { type: 'settleLeftRequested', child: child.key, how: chance() < 0.5 ? 'move' : 'keep' },
    ];
    const wish = this.pick(wishes);
    if (wish !== undefined) world.send(wish);
  }

  /** What has been said is said again, later; or of another attempt. */
  private disorder(): void {
    const old = this.pick(this.past);
    if (old === undefined) return;
    // A second life of a process is not disorder of events: what is replayed are words, not deaths that never were.
    if (old.type === 'exited' && this.world.alive.has(`${old.child}#${old.attempt}`)) return;
    if (
      (old.type === 'spawned' || old.type === 'adopted') &&
      !this.world.alive.has(`${old.child}#${old.attempt}`)
    )
      return;
    if (old.type === 'spawnFailed' || old.type === 'prepared' || old.type === 'prepareFailed') return;
    this.world.send(old);
  }

  private surroundings(): void {
    const { world, chance } = this;
    const child = this.pick(this.children());
    const dice = chance();
    if (dice < 0.15) world.send({ type: 'diskFilled' });
    else if (dice < 0.5) world.send({ type: 'diskFreed' });
    else if (dice < 0.6) world.send({ type: 'credentialChanged', credential: 'claude' });
    else if (dice < 0.7 && child !== undefined) world.send({ type: 'worktreeLost', child: child.key });
    else if (dice < 0.8)
      world.send({
        type: 'settingsChanged',
        settings: { maxConcurrent: 1 + Math.floor(chance() * 6), askAbove: chance() < 0.2 ? 20_000 : null },
      });
    else if (dice < 0.85) world.offset = world.offset === 60 ? 120 : 60;
    else if (dice < 0.9 && child !== undefined) world.send({ type: 'batchRemoved', batch: child.batch });
  }

  /** Killed; some of the children have died with it. */
  private crash(): void {
    const { world, chance } = this;
    for (const id of [...world.alive]) if (chance() < 0.3) world.alive.delete(id);
    const before = world.state;
    const read = replay(initialState({ maxConcurrent: 5, askAbove: null }), []);
    if (read.seq !== 0) throw new Error('an empty journal is not empty');
    world.restart();
    if (world.state.batchOrder.length !== before.batchOrder.length) throw new Error('a batch is lost');
  }

  /** From here on every order is carried out, every agent does its work, every person says yes. */
  beKind(): void {
    const { world } = this;
    world.send({ type: 'settingsChanged', settings: { maxConcurrent: 5, askAbove: null } });
    world.send({ type: 'diskFreed' });
    for (const kind of ['prepare', 'spawn', 'adopt', 'stop', 'kill', 'snapshot', 'quarantine'] as const)
      world.automatic.add(kind);
    for (const kind of ['restoreWorktree', 'apply', 'watchDisk', 'check', 'forecast', 'writeResult'] as const)
      world.automatic.add(kind);
    // Orders that were lost are given again after a restart.
    world.restart();
    for (let round = 0; round < 400; round++) {
      world.settle();
      const left = this.children().filter((child) => !isEnded(child));
      if (left.length === 0) return;
      for (const child of left) this.help(child);
      world.settle();
      world.advance(120_000);
    }
    const left = this.children().filter((child) => !isEnded(child));
    throw new Error(`these never end: ${JSON.stringify(left.map((child) => [child.key, child.phase]))}`);
  }

  private help(known: Child): void {
    const { world } = this;
    const child = world.state.children[known.key];
    if (child === undefined) return;
    const { phase, key } = child;
    if (phase.name === 'running' && world.alive.has(`${key}#${child.attempt}`)) {
      world.report(key, true);
      world.exit(key, child.attempt, verdictOf('none'), {}, { result: 'done', progress: true });
    } else if (phase.name === 'paused') {
      if (phase.pause.detail === 'worktreeGone') world.send({ type: 'restoreRequested', child: key });
      else if (phase.pause.needsUser || phase.pause.declined || waitsForYou(world.state, child))
        world.send({ type: 'resumeRequested', children: [key], how: 'auto' });
    }
    for (const gate of Object.values(world.state.gates))
      if (
        gate.position.name === 'closed' &&
        (gate.position.tryAt === null || gate.position.answer === 'decline')
      )
        world.send({ type: 'gateAnswered', gate: gate.key, answer: 'resumeNow' });
      else if (gate.position.name === 'closed' && gate.position.needsUser)
        world.send({ type: 'gateAnswered', gate: gate.key, answer: 'resumeAtReset' });
  }
}

function waitsForYou(state: State, child: Child): boolean {
  const view = deriveView(state);
  const batch = view.batches.find((each) => each.id === child.batch);
  const drawn = batch?.children.find((each) => each.id === child.task.id);
  return drawn !== undefined && waitsForPerson(drawn, view);
}

function isEnded(child: Child): boolean {
  return child.phase.name === 'succeeded' || child.phase.name === 'failed' || child.phase.name === 'canceled';
}

/** The journal of a world read from the start gives its state. */
export function readAgain(world: World, settings: State['settings']): State {
  return replay(initialState(settings), world.journal);
}
