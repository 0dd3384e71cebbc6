/** What must be given back: a listener, a timer, a registration. */
export interface Disposable {
  dispose(): unknown;
}

/** Things that die together, last made first. What is added after the end is disposed of at once. */
export class Lifetime implements Disposable {
  readonly #held: Disposable[] = [];
  #ended = false;

  get ended(): boolean {
    return this.#ended;
  }

  add<T extends Disposable>(thing: T): T {
    if (this.#ended) thing.dispose();
    else this.#held.push(thing);
    return thing;
  }

  dispose(): void {
    this.#ended = true;
    for (const thing of this.#held.splice(0).reverse()) thing.dispose();
  }
}

/** An event with its listeners; the caller of `listen` gets its registration back. */
export class Signal<T> {
  readonly #listeners = new Set<(value: T) => void>();

  listen(listener: (value: T) => void): Disposable {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }

  fire(value: T): void {
    for (const listener of [...this.#listeners]) listener(value);
  }
}
