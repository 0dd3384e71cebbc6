import path from 'node:path';

/** The environment with the `node_modules/.bin` of the folder, and of all above it up to `top`, in front of PATH. */
export function withTools<Value extends string | undefined>(
  environment: Readonly<Record<string, Value>>,
  top: string,
  folder: string,
): Readonly<Record<string, Value | string>> {
  const bins: string[] = [];
  for (let at = folder; ; at = path.dirname(at)) {
    bins.push(path.join(at, 'node_modules', '.bin'));
    if (at === top || at === path.dirname(at)) break;
  }
  const key = Object.keys(environment).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  return { ...environment, [key]: [...bins, environment[key] ?? ''].join(path.delimiter) };
}
