import { adapters } from '../agents/index.js';
import type { Executor } from '../agents/agent.js';
import type { ManifestExecutor } from './shape.js';

/** A profile as settings give it: what is not said comes from the adapter's defaults. */
export type Profile = Partial<Executor> & { readonly adapter: string };

/**
 * The executor of a name: the manifest's words before the settings' before the adapter's own defaults.
 * Null where nobody knows the name.
 */
export function mergeExecutor(
  name: string,
  fromManifest: ManifestExecutor | undefined,
  fromSettings: Profile | undefined,
): Executor | null {
  const adapter =
    fromManifest?.adapter ?? fromSettings?.adapter ?? (Object.hasOwn(adapters, name) ? name : undefined);
  if (adapter === undefined) return null;
  // Another adapter's command and arguments would be nonsense.
  const settings = fromSettings?.adapter === adapter ? fromSettings : undefined;
  return {
    name,
    adapter,
    command: fromManifest?.command ?? settings?.command ?? [],
    args: fromManifest?.args ?? settings?.args ?? [],
    env: { ...settings?.env, ...fromManifest?.env },
    model: fromManifest?.model ?? settings?.model ?? null,
    credential:
      fromManifest?.credential ?? settings?.credential ?? (anyProgram.has(adapter) ? name : adapter),
    permissions: fromManifest?.permissions ?? settings?.permissions ?? 'edit',
  };
}

/** Adapters that say how a program talks and nothing about whose it is: each executor has an account of its own. */
const anyProgram: ReadonlySet<string> = new Set(['command', 'acp', 'local']);

/** Names that a task may use. */
export function knownExecutors(
  fromManifest: Readonly<Record<string, ManifestExecutor>>,
  fromSettings: Readonly<Record<string, Profile>>,
): readonly string[] {
  return [...new Set([...Object.keys(fromManifest), ...Object.keys(fromSettings), ...Object.keys(adapters)])];
}

/** Names of the environment variables that a value refers to as `${env:NAME}`. */
export function namesIn(value: string): readonly string[] {
  return [...value.matchAll(/\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g)].map((match) => match[1] ?? '');
}

/** The value with what the environment says; null with the name that is not set. */
export function resolveValue(
  value: string,
  env: Readonly<Record<string, string | undefined>>,
): { readonly ok: true; readonly value: string } | { readonly ok: false; readonly missing: string } {
  const missing = namesIn(value).find((name) => env[name] === undefined);
  if (missing !== undefined) return { ok: false, missing };
  return {
    ok: true,
    value: value.replace(/\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => env[name] ?? ''),
  };
}
