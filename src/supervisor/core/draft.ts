import type { Effect } from './effect.js';
import type { Stamped } from './event.js';
import { lookUp } from './keys.js';
import type { Batch, Child, ChildKey, Gate, GateKey, Instant, State } from './state.js';

/**
 * The next state while one event (or, in a replay, many) is worked in. Copies a record once, before the first change,
 * so that the state it began with stays as it was. Nothing outside `reduce` sees one.
 */
export class Draft {
  readonly effects: Effect[] = [];
  now: Instant = 0;
  offset = 0;
  /** Something has changed that may let a child start. */
  restless = false;
  private touched = false;
  private ownsBatches = false;
  private ownsChildren = false;
  private ownsGates = false;
  private current: State;

  constructor(before: State) {
    this.current = before;
  }

  /** The state as it is now; read-only for all but this class. */
  get state(): State {
    return this.current;
  }

  begin(stamped: Stamped): void {
    this.now = stamped.t;
    this.offset = stamped.offset;
    this.restless = false;
    this.effects.length = 0;
  }

  /**
   * Whatever the event has changed, the state now carries its number and time. False without a change: then the state is
   * as it was.
   */
  end(stamped: Stamped): boolean {
    if (!this.touched) return false;
    this.touched = false;
    const { seq, t, offset } = stamped;
    // A change has made it an object of this draft, which nobody has seen yet.
    Object.assign(this.current, { seq, at: Math.max(this.current.at, t), offset });
    return true;
  }

  child(key: ChildKey): Child | undefined {
    return lookUp(this.current.children, key);
  }

  gate(key: GateKey): Gate | undefined {
    return lookUp(this.current.gates, key);
  }

  batch(id: string): Batch | undefined {
    return lookUp(this.current.batches, id);
  }

  /** The batch of a child that is there. */
  batchOf(child: Child): Batch {
    const batch = this.batch(child.batch);
    if (batch === undefined) throw new Error(`child ${child.key} without its batch`);
    return batch;
  }

  putChild(child: Child): void {
    if (!this.ownsChildren) {
      this.set({ children: { ...this.current.children } });
      this.ownsChildren = true;
    }
    this.touched = true;
    (this.current.children as Record<ChildKey, Child>)[child.key] = child;
  }

  putGate(gate: Gate): void {
    if (!this.ownsGates) {
      this.set({ gates: { ...this.current.gates } });
      this.ownsGates = true;
    }
    this.touched = true;
    (this.current.gates as Record<GateKey, Gate>)[gate.key] = gate;
    this.restless = true;
  }

  putBatch(batch: Batch): void {
    if (!this.ownsBatches) {
      this.set({ batches: { ...this.current.batches } });
      this.ownsBatches = true;
    }
    this.touched = true;
    (this.current.batches as Record<string, Batch>)[batch.id] = batch;
    this.restless = true;
  }

  removeBatch(id: string): void {
    const batches = Object.fromEntries(Object.entries(this.current.batches).filter(([key]) => key !== id));
    const children = Object.fromEntries(
      Object.entries(this.current.children).filter(([, child]) => child.batch !== id),
    );
    this.set({ batches, children, batchOrder: this.current.batchOrder.filter((each) => each !== id) });
    this.ownsBatches = true;
    this.ownsChildren = true;
    this.restless = true;
  }

  set(change: Partial<Omit<State, 'seq' | 'at' | 'offset'>>): void {
    this.current = { ...this.current, ...change };
    this.touched = true;
  }

  order(effect: Effect): void {
    this.effects.push(effect);
  }
}
