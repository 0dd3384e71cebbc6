import { cleanJson } from './clean.js';
import type { Screen } from './reporter.js';

/** One thing that was done: a line for people or, with `json`, one object, a `message` where `value` names no type. */
export function say(
  screen: Screen,
  json: boolean,
  text: string,
  value: Readonly<Record<string, unknown>> = {},
): void {
  const line = json
    ? cleanJson({
        t: new Date().toISOString(),
        type: 'message',
        ...(text === '' ? {} : { message: text }),
        ...value,
      })
    : text;
  screen.write(`${line}\n`);
}
