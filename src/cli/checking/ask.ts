import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { CheckPlace } from '../../protocol/request.js';

/** An owner that has more to do than this answers nobody. */
const patience = 30_000;
const lookEvery = 20;

export type Asked =
  | { readonly kind: 'placed'; readonly place: CheckPlace; readonly done: () => Promise<void> }
  | { readonly kind: 'refused'; readonly message: string; readonly done: () => Promise<void> }
  | { readonly kind: 'nobody'; readonly done: () => Promise<void> };

/** Whether we run inside a child's command. */
export function isChildOf(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env['SWARM_BATCH'] && env['SWARM_CHILD'] && env['SWARM_NONCE']);
}

/**
 * A child's own check asks the owner by a file: its agent's sandbox may let it connect to nothing. The file stays
 * until `done`, so that nobody else takes the scratch tree that was answered.
 */
export async function askOwner(swarm: string, env: NodeJS.ProcessEnv): Promise<Asked> {
  const file = join(swarm, 'asks', randomBytes(12).toString('hex'));
  const done = async (): Promise<void> => {
    await rm(`${file}.json`, { force: true });
    await rm(`${file}.answer`, { force: true });
  };
  const question = {
    batch: env['SWARM_BATCH'],
    child: env['SWARM_CHILD'],
    nonce: env['SWARM_NONCE'],
  };
  try {
    await writeFile(`${file}.tmp`, JSON.stringify(question), { mode: 0o600, flag: 'wx' });
    await rename(`${file}.tmp`, `${file}.json`);
  } catch {
    return { kind: 'nobody', done };
  }
  for (const until = performance.now() + patience; performance.now() < until; await wait(lookEvery)) {
    const text = await readFile(`${file}.answer`, 'utf8').catch(() => null);
    if (text === null) continue;
    const answer = JSON.parse(text) as { readonly place?: CheckPlace; readonly message?: string };
    return answer.place === undefined
      ? { kind: 'refused', message: answer.message ?? 'the owner of this folder gave no reason', done }
      : { kind: 'placed', place: answer.place, done };
  }
  return { kind: 'nobody', done };
}
