let strict = false;
let report: (message: string) => void = () => undefined;

/**
 * Says that something cannot happen. Throws while `strict` is on (tests); else it is told to the listener and the
 * caller keeps the state as it is.
 */
export function impossible(message: string): void {
  if (strict) throw new Error(`impossible: ${message}`);
  report(message);
}

/** Turns throwing on or off; returns what it was. */
export function setStrict(on: boolean): boolean {
  const before = strict;
  strict = on;
  return before;
}

/** The loop's log listens here. */
export function onImpossible(listener: (message: string) => void): void {
  report = listener;
}
