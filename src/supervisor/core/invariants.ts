import type { Effect } from './effect.js';
import type { Event } from './event.js';
import { choiceOf, gatesOf, isCanary, isShut } from './gateLookup.js';
import { lookUp } from './keys.js';
import type { Child, State } from './state.js';

/** One step of the machine, to be looked at. */
export interface Step {
  readonly before: State;
  readonly event: Event;
  readonly effects: readonly Effect[];
}

/** What must never be, said in words; empty if all is well. Tests ask after every event. */
export function violations(state: State, step?: Step): readonly string[] {
  const found = [...shapeOf(state)];
  if (step !== undefined) found.push(...changesOf(state, step), ...ordersOf(state, step));
  return found;
}

function* shapeOf(state: State): Generator<string> {
  for (const id of state.batchOrder)
    for (const key of lookUp(state.batches, id)?.children ?? [])
      if (lookUp(state.children, key) === undefined) yield `batch ${id} has lost its child ${key}`;
  for (const child of Object.values(state.children)) {
    const { phase } = child;
    if (lookUp(state.batches, child.batch) === undefined) yield `${child.key} is in no batch`;
    if (child.chosen < 0 || child.chosen >= child.task.chain.length) yield `${child.key} has no executor`;
    if ('launch' in phase && phase.launch.attempt !== child.attempt)
      yield `${child.key} runs attempt ${phase.launch.attempt}, its last is ${child.attempt}`;
    if (phase.name === 'paused' && phase.pause.gate !== null) {
      const gate = lookUp(state.gates, phase.pause.gate.key);
      if (gate === undefined || gate.episode < phase.pause.gate.episode)
        yield `${child.key} waits for a closing that never was`;
    }
    if (phase.name === 'paused' && phase.pause.wanted && phase.pause.declined)
      yield `${child.key} is both wanted and declined`;
    if (child.history.filter((stretch) => stretch.to === null).length > 1)
      yield `${child.key} has two stretches that last`;
  }
  for (const gate of Object.values(state.gates)) {
    if (gate.position.name !== 'probing') continue;
    const canary = lookUp(state.children, gate.position.canary);
    if (canary === undefined || !('launch' in canary.phase))
      yield `${gate.key} is tried by ${gate.position.canary}, which does not run`;
  }
}

function* changesOf(state: State, step: Step): Generator<string> {
  const { before, event } = step;
  if (state !== before && state.at < before.at) yield 'time has gone back';
  for (const gate of Object.values(before.gates)) {
    const now = lookUp(state.gates, gate.key);
    if (now !== undefined && now.episode < gate.episode) yield `${gate.key} has gone back an episode`;
    if (now !== undefined && now.episode > gate.episode + 1) yield `${gate.key} has skipped an episode`;
  }
  for (const was of Object.values(before.children)) {
    const now = lookUp(state.children, was.key);
    if (now === undefined || now === was) continue;
    if (was.phase.name === 'succeeded' && now.phase.name !== 'succeeded' && event.type !== 'retryRequested')
      yield `${was.key} was finished and is ${now.phase.name}`;
    const taken =
      was.phase.name === 'preparing' || (was.phase.name === 'running' && was.phase.process === null);
    if (now.attempt < was.attempt && !taken) yield `${was.key} has lost an attempt`;
    if (now.attempt > was.attempt + 1) yield `${was.key} has skipped an attempt`;
  }
}

function* ordersOf(state: State, step: Step): Generator<string> {
  const started = startedIn(state, step.before);
  for (const child of started) yield* startOf(state, step, child);
  if (started.length > 0) yield* capsOf(state, started);
  const ordered = new Set<string>();
  for (const effect of step.effects) {
    if (effect.type !== 'prepare' && effect.type !== 'spawn') continue;
    const key = `${effect.type} ${effect.child}`;
    if (ordered.has(key)) yield `${key} is ordered twice`;
    ordered.add(key);
    if (effect.type === 'spawn' && step.event.type !== 'opened') {
      const child = lookUp(state.children, effect.child);
      if (child === undefined) continue;
      const shut = gatesOf(state, choiceOf(child)).find((gate) => isShut(gate) && !isCanary(gate, child));
      if (shut !== undefined) yield `${child.key} is started into ${shut.key}, which is shut`;
    }
  }
}

function startedIn(state: State, before: State): readonly Child[] {
  return Object.values(state.children).filter(
    (child) =>
      child.phase.name === 'preparing' && lookUp(before.children, child.key)?.phase.name !== 'preparing',
  );
}

function* startOf(state: State, step: Step, child: Child): Generator<string> {
  const { before, event } = step;
  const was = lookUp(before.children, child.key);
  if (child.phase.name !== 'preparing') return;
  const { launch } = child.phase;
  if (state.diskFullSince !== null) yield `${child.key} starts on a full disk`;
  for (const gate of gatesOf(state, choiceOf(child))) {
    if (isShut(gate) && !isCanary(gate, child)) yield `${child.key} starts behind ${gate.key}, which is shut`;
    const wished = event.type === 'startNextRequested' && event.children.includes(child.key);
    const isNew = !wished && (was === undefined || (was.phase.name === 'queued' && !was.phase.startNext));
    if (gate.near !== null && isNew && launch.attempt === 1 && !isCanary(gate, child))
      yield `${child.key} is new and starts near the limit of ${gate.key}`;
  }
  const limit = lookUp(state.batches, child.batch)?.policy.maxAutoResumes ?? 0;
  if (launch.by === 'auto' && child.resumesWithoutProgress > limit)
    yield `${child.key} goes on by itself for the ${child.resumesWithoutProgress}th time`;
  if (launch.by === 'auto' && was?.phase.name === 'paused' && was.phase.pause.declined)
    yield `${child.key} goes on although a person declined`;
}

function* capsOf(state: State, started: readonly Child[]): Generator<string> {
  const active = Object.values(state.children).filter((child) => 'launch' in child.phase);
  if (active.length > state.settings.maxConcurrent) yield `${active.length} run, more than may over all`;
  for (const id of new Set(started.map((child) => child.batch))) {
    const own = active.filter((child) => child.batch === id).length;
    if (own > (lookUp(state.batches, id)?.maxConcurrent ?? 0)) yield `${own} run of ${id}, more than may`;
  }
}
