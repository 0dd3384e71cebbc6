import type { Verdict } from '../../../src/protocol/verdict.js';
import type { Effect } from '../../../src/supervisor/core/effect.js';
import type { Event } from '../../../src/supervisor/core/event.js';

import { exitCode } from '../../../src/supervisor/core/exitCode.js';
import { deriveView } from '../../../src/supervisor/core/view.js';
import { drawEffect, drawTree } from './drawing.js';
import { batchLaunched, verdictOf, World, type BatchShape } from './world.js';

/**
 * Runs a trace. A block is commands, a line `----`, and what is expected; blocks are parted by an empty line, lines
 * with # are comments. Returns the trace with what really came out.
 */
export function runTrace(text: string): string {
  const driver = new Driver();
  return text
    .trimEnd()
    .split(/\n\n+/)
    .map((block) => {
      const [commands = ''] = block.split('\n----');
      const lines = commands.split('\n').filter((line) => line.trim() !== '');
      const told = lines.filter((line) => !line.startsWith('#'));
      if (told.length === 0) return lines.join('\n');
      const out = told.flatMap((line) => driver.run(line));
      return [...lines, '----', ...out, ...driver.tree()].join('\n');
    })
    .join('\n\n')
    .concat('\n');
}

class Driver {
  private readonly world = new World();
  private out: string[] = [];
  private shown = '';

  constructor() {
    for (const kind of ['prepare', 'spawn', 'stop', 'kill', 'snapshot'] as const)
      this.world.automatic.add(kind);
    this.world.watch = (event, effects, before) => this.note(event, effects, this.world.state === before);
  }

  private note(event: Event, effects: readonly Effect[], same: boolean): void {
    if (same && event.type !== 'timerFired') this.out.push(`(${event.type}: nothing changes)`);
    for (const effect of effects) {
      const line = drawEffect(effect);
      if (line !== null && effect.type !== 'snapshot') this.out.push(`  ${line}`);
      else if (line !== null && !this.world.automatic.has('snapshot')) this.out.push(`  ${line}`);
    }
  }

  tree(): readonly string[] {
    const tree = drawTree(deriveView(this.world.state, []));
    const now = tree.join('\n');
    if (now === this.shown) return [];
    this.shown = now;
    return tree;
  }

  run(line: string): readonly string[] {
    this.out = [];
    const [name = '', ...words] = line.trim().split(/\s+/);
    const options = new Map(words.flatMap((word) => (word.includes('=') ? [split(word)] : [])));
    const bare = words.filter((word) => !word.includes('='));
    const before = this.world.now;
    this.command(name, bare, options);
    this.world.settle();
    const passed =
      this.world.now !== before ? [`${new Date(this.world.now).toISOString().slice(0, 19)}`] : [];
    return [...this.out, ...passed];
  }

  private keys(words: readonly string[]): readonly string[] {
    const all = Object.keys(this.world.state.children);
    return words.flatMap((word) =>
      word === 'all'
        ? all
        : [word.includes('/') ? word : (all.find((key) => key.endsWith(`/${word}`)) ?? word)],
    );
  }

  private key(word: string | undefined): string {
    return this.keys([word ?? ''])[0] ?? '';
  }

  private attempt(key: string, options: ReadonlyMap<string, string>): number {
    const given = options.get('attempt');
    return given === undefined ? this.world.child(key).attempt : Number(given);
  }

  private command(name: string, bare: readonly string[], options: ReadonlyMap<string, string>): void {
    const { world } = this;
    const children = this.keys(bare);
    const key = this.key(bare[0]);
    switch (name) {
      case 'launch':
        world.send(batchLaunched(shapeOf(bare[0] ?? 'b', options)));
        return;
      case 'settings':
        world.send({
          type: 'settingsChanged',
          settings: {
            maxConcurrent: Number(options.get('max') ?? 8),
            askAbove: options.has('askAbove') ? Number(options.get('askAbove')) : null,
          },
        });
        return;
      case 'auto':
        for (const kind of bare) world.automatic.add(kind as Effect['type']);
        return;
      case 'manual':
        for (const kind of bare) world.automatic.delete(kind as Effect['type']);
        return;
      case 'confirm': {
        const at = world.pending.findIndex(
          (effect) => effect.type === bare[0] && (bare[1] === undefined || this.concerns(effect, bare[1])),
        );
        const [effect] = at < 0 ? [] : world.pending.splice(at, 1);
        if (effect === undefined) throw new Error(`nothing to confirm: ${bare.join(' ')}`);
        world.confirm(effect);
        return;
      }
      case 'progress':
        for (const child of children) world.report(child, true);
        return;
      case 'report':
        world.report(key, options.get('progress') === 'yes', {
          ...number(options, 'input'),
          ...number(options, 'output'),
          ...number(options, 'written'),
          ...number(options, 'context'),
        });
        return;
      case 'session':
        world.send({
          type: 'sessionLearned',
          child: key,
          attempt: this.attempt(key, options),
          session: bare[1] ?? 's',
        });
        return;
      case 'limit':
        world.send({
          type: 'limitHeard',
          child: key,
          attempt: this.attempt(key, options),
          verdict: this.verdict(bare[1], options),
        });
        return;
      case 'near':
        world.send({
          type: 'limitHeard',
          child: key,
          attempt: this.attempt(key, options),
          verdict: verdictOf('none', {
            nearLimit: {
              utilization: Number(options.get('use') ?? 1),
              window: 'five_hour',
              resetAt: this.instant(options.get('reset')),
            },
          }),
        });
        return;
      case 'exit':
        this.exit(key, bare[1] ?? 'done', options);
        return;
      case 'prepareFailed':
        world.pending = world.pending.filter(
          (effect) => !(effect.type === 'prepare' && effect.child === key),
        );
        world.send({
          type: 'prepareFailed',
          child: key,
          attempt: this.attempt(key, options),
          failure: { kind: (bare[1] ?? 'setup') as 'setup', message: `${bare[1] ?? 'setup'} failed` },
        });
        return;
      case 'spawnFailed':
        world.pending = world.pending.filter((effect) => !(effect.type === 'spawn' && effect.child === key));
        world.send({
          type: 'spawnFailed',
          child: key,
          attempt: this.attempt(key, options),
          message: 'not started',
          disk: options.get('disk') === 'yes',
        });
        return;
      case 'advance':
        world.advance(duration(bare[0] ?? '0s'));
        return;
      case 'jump':
        world.jump(duration(bare[0] ?? '0s'));
        return;
      case 'zone':
        world.offset = Number(bare[0] ?? 0);
        return;
      case 'restart':
        if (bare.includes('killed')) world.alive.clear();
        world.restart();
        return;
      case 'code': {
        const view = deriveView(world.state, []);
        const ask = { batches: null, noWait: bare.includes('noWait'), tty: bare.includes('tty') };
        this.out.push(`  exit code ${exitCode(view, ask) ?? 'none, goes on'}`);
        return;
      }
      case 'click':
        this.click(bare[0] ?? '', bare.slice(1), options);
        return;
      default:
        this.fact(name, key, bare);
    }
  }

  private fact(name: string, key: string, bare: readonly string[]): void {
    const { world } = this;
    switch (name) {
      case 'diskFilled':
      case 'diskFreed':
        world.send({ type: name });
        return;
      case 'worktreeLost':
        world.send({ type: name, child: key });
        return;
      case 'credentialChanged':
        world.send({ type: name, credential: bare[0] ?? '' });
        return;
      case 'batchRemoved':
        world.send({ type: name, batch: bare[0] ?? '' });
        return;
      case 'conflict':
        world.pending = world.pending.filter((effect) => effect.type !== 'apply');
        world.send({
          type: 'applyEnded',
          children: [key],
          applied: [],
          conflicts: [{ child: key, with: [{ who: 'you', path: 'src/a.ts' }] }],
          red: [],
          message: null,
        });
        return;
      default:
        throw new Error(`unknown command ${name}`);
    }
  }

  private click(what: string, bare: readonly string[], options: ReadonlyMap<string, string>): void {
    const { world } = this;
    const children = this.keys(bare);
    const gate = (bare[0] ?? '').replace('+', ' ');
    switch (what) {
      case 'resume':
        world.send({ type: 'resumeRequested', children, how: 'auto' });
        return;
      case 'startFresh':
        world.send({ type: 'resumeRequested', children, how: 'brief' });
        return;
      case 'resumeAt':
        world.send({ type: 'resumeAtRequested', children, at: this.instant(options.get('at')) ?? 0 });
        return;
      case 'dontResume':
        world.send({ type: 'declineRequested', children });
        return;
      case 'pause':
        world.send({ type: 'pauseRequested', children });
        return;
      case 'stop':
        world.send({ type: 'stopRequested', children });
        return;
      case 'retry':
        world.send({ type: 'retryRequested', children, prompt: options.get('prompt') ?? null });
        return;
      case 'startNext':
        world.send({ type: 'startNextRequested', children });
        return;
      case 'restore':
        world.send({ type: 'restoreRequested', child: children[0] ?? '' });
        return;
      case 'apply':
        world.send({ type: 'applyRequested', batch: 'b', children });
        return;
      case 'check':
        world.send({ type: 'checkRequested', batch: 'b' });
        return;
      case 'gateNow':
        world.send({ type: 'gateAnswered', gate, answer: 'resumeNow' });
        return;
      case 'gateThen':
        world.send({ type: 'gateAnswered', gate, answer: 'resumeAtReset' });
        return;
      case 'gateDont':
        world.send({ type: 'gateAnswered', gate, answer: 'decline' });
        return;
      case 'gateAt': {
        const at = this.instant(options.get('at')) ?? 0;
        world.send({ type: 'gateAnswered', gate, answer: { at } });
        return;
      }
      default:
        throw new Error(`unknown click ${what}`);
    }
  }

  private concerns(effect: Effect, word: string): boolean {
    return 'child' in effect && effect.child === this.key(word);
  }

  private exit(key: string, kind: string, options: ReadonlyMap<string, string>): void {
    const asked = options.get('asked') === 'yes';
    if (asked)
      this.world.pending = this.world.pending.filter(
        (effect) => !((effect.type === 'stop' || effect.type === 'kill') && effect.child === key),
      );
    const ends = {
      asked,
      ...(kind === 'lost' ? { kind: 'lost' as const, code: null } : {}),
      ...(options.has('code') ? { code: Number(options.get('code')) } : {}),
      ...(options.has('signal') ? { signal: options.get('signal') ?? null, code: null } : {}),
    };
    const verdict =
      kind === 'done' || kind === 'lost' || kind === 'silent'
        ? verdictOf('none')
        : this.verdict(kind, options);
    this.world.exit(key, this.attempt(key, options), verdict, ends, {
      progress: options.get('progress') === 'yes',
      result: kind === 'done' ? 'all done' : '',
    });
  }

  private verdict(kind: string | undefined, options: ReadonlyMap<string, string>): Verdict {
    const resetAt = this.instant(options.get('reset'));
    const model = options.get('model') ?? null;
    return verdictOf((kind ?? 'usage_limit') as Verdict['class'], {
      resetAt,
      resetSource: resetAt === null ? null : ((options.get('source') ?? 'event') as 'event'),
      window: (options.get('window') ?? null) as Verdict['window'],
      ...(options.has('scope') ? { scope: options.get('scope') as Verdict['scope'] } : {}),
      ...(options.has('terminal') ? { recoverable: false } : {}),
      model,
    });
  }

  /** `+30m` from now, or a time of the first day. */
  private instant(text: string | undefined): number | null {
    if (text === undefined) return null;
    if (text.startsWith('+')) return this.world.now + duration(text.slice(1));
    if (text.startsWith('-')) return this.world.now - duration(text.slice(1));
    return Date.parse(`2026-05-04T${text}Z`);
  }
}

function split(word: string): [string, string] {
  const at = word.indexOf('=');
  return [word.slice(0, at), word.slice(at + 1)];
}

function number(options: ReadonlyMap<string, string>, name: string): Record<string, number> {
  const text = options.get(name);
  return text === undefined ? {} : { [name]: Number(text) };
}

function duration(text: string): number {
  const sign = text.startsWith('-') ? -1 : 1;
  const match = /^-?(\d+)(ms|s|m|h|d)$/.exec(text);
  if (match === null) throw new Error(`no duration: ${text}`);
  const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
  return sign * Number(match[1]) * units[match[2] as keyof typeof units];
}

function shapeOf(id: string, options: ReadonlyMap<string, string>): BatchShape {
  const policy: Record<string, unknown> = {};
  for (const [name, text] of options) {
    if (name === 'probe') policy[name] = text.split(',').map(duration);
    if (name === 'margin' || name === 'fallbackAfter') policy[name] = duration(text);
    if (name === 'ramp' || name === 'maxAutoResumes' || name === 'holdAbove' || name === 'tokensPerWake')
      policy[name] = Number(text);
    if (name === 'quiet') {
      const [from = 0, to = 0] = text.split('-').map((hour) => Number(hour) * 60);
      policy['quietHours'] = { from, to };
    }
    if (name === 'consent') policy[name] = Object.fromEntries(text.split(',').map((each) => each.split(':')));
  }
  return {
    id,
    tasks: (options.get('tasks') ?? 'a').split(','),
    max: Number(options.get('max') ?? 8),
    isolation: options.get('isolation') === 'shared' ? 'shared' : 'worktree',
    chain: (options.get('on') ?? 'claude').split(','),
    policy: policy,
    idle: duration(options.get('idle') ?? '1000h'),
    ...(options.has('total') ? { total: duration(options.get('total') ?? '') } : {}),
  };
}
