import { readFile } from 'node:fs/promises';
import { batchPlace } from '../protocol/places.js';
import type { UserSettings } from './api.js';
import type { Plan } from './manifest/plan.js';
import { loadPlan, sourceOf, type ValueSources } from './manifest/stored.js';
import type { Store } from './ports.js';

export interface Plans {
  (batch: string): Promise<Plan | null>;
  /** A plan that has just been launched, with the values that its file does not hold. */
  remember(batch: string, plan: Plan): void;
}

/** The plans of the batches: as launched by this process, or from batch.json. */
export function createPlans(store: Store, profiles: UserSettings['executors']): Plans {
  const known = new Map<string, Promise<Plan | null>>();
  const load = async (batch: string): Promise<Plan | null> => {
    const text = await store.read(`${batchPlace(batch)}/batch.json`);
    if (text === null) return null;
    return loadPlan(text, { profiles, manifest: await readManifest(sourceOf(text)) });
  };
  const plans = (batch: string): Promise<Plan | null> => {
    const before = known.get(batch);
    if (before !== undefined) return before;
    const loading = load(batch);
    known.set(batch, loading);
    // What could not be read now may be readable later.
    void loading.then(
      (plan) => plan ?? known.delete(batch),
      () => known.delete(batch),
    );
    return loading;
  };
  return Object.assign(plans, {
    remember: (batch: string, plan: Plan) => void known.set(batch, Promise.resolve(plan)),
  });
}

async function readManifest(path: string | null): Promise<ValueSources['manifest']> {
  if (path === null) return null;
  try {
    const text = await readFile(path, 'utf8');
    const kind = /\.json$/i.test(path) ? 'json' : /\.(md|markdown)$/i.test(path) ? 'markdown' : 'yaml';
    return { kind, text };
  } catch {
    return null;
  }
}
