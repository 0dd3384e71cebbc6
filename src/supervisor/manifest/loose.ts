import { checkShape, type Manifest, type ManifestPath } from './shape.js';

/** What can be read of a manifest although parts of it were refused. */
export interface ReadManifest {
  readonly manifest: Manifest;
  /** Whether the part at a path was refused, or one around it: its mistake has been told, and is told once. */
  readonly wasRefused: (path: ManifestPath) => boolean;
}

/** The manifest without what was refused in it, and with all the rest, so that every mistake is told at once. */
export function looseManifest(value: unknown, refused: readonly ManifestPath[]): ReadManifest {
  let kept = value;
  let wrong = refused;
  // What was left out may be missed in its place, so it is looked at again; a few times is more than enough.
  for (let round = 0; round < 5 && wrong.length > 0 && wrong.every((path) => path.length > 0); round++) {
    // From the end: what is taken out of a list moves what follows it.
    for (const path of [...wrong].reverse()) kept = without(kept, path, 0);
    const tried = checkShape({ value: kept, errors: [], lineOf: () => null });
    if (tried.manifest !== null)
      return { manifest: tried.manifest, wasRefused: (path) => covers(refused, path) };
    wrong = tried.refused;
  }
  return { manifest: { version: 1 }, wasRefused: () => true };
}

function covers(refused: readonly ManifestPath[], path: ManifestPath): boolean {
  return refused.some((wrong) => wrong.length <= path.length && wrong.every((step, i) => step === path[i]));
}

function without(value: unknown, path: ManifestPath, depth: number): unknown {
  const step = path[depth];
  if (step === undefined || typeof value !== 'object' || value === null) return value;
  const isLast = depth === path.length - 1;
  const part: unknown = isLast ? standIn(path) : without(Reflect.get(value, step), path, depth + 1);
  if (Array.isArray(value))
    return value.flatMap((item: unknown, i) => (i !== step ? [item] : part === undefined ? [] : [part]));
  const others = Object.entries(value).filter(([key]) => key !== String(step));
  return Object.fromEntries(part === undefined ? others : [...others, [step, part]]);
}

/** What stands in the place of a refused part that is counted, named elsewhere or cannot be missing. */
function standIn(path: ManifestPath): unknown {
  const [first, , third] = path;
  if (first === 'version') return 1;
  if (first === 'tasks' && path.length === 2) return { prompt: 'x' };
  if (first === 'tasks' && path.length === 3 && third === 'prompt') return 'x';
  if (first === 'items' && path.length === 2) return 'x';
  if (first === 'executors' && path.length === 2) return {};
  return undefined;
}
