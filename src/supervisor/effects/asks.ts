import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { childKey } from '../core/keys.js';
import type { ChildKey } from '../core/state.js';
import type { Attempt } from './attempt.js';
import type { EffectContext } from './context.js';

/**
 * Questions that commands of children put into `.swarm/asks` as files: an agent's sandbox may let its commands write
 * into the tree and read everything, and connect to nothing. `<id>.json` is the question, `<id>.answer` ours; the
 * question lies there as long as its asker works with the answer.
 */
export interface Asks {
  /** Looks for questions as long as somebody may ask. */
  watch(): void;
  /** Nobody of this attempt waits any more. */
  forget(attempt: Attempt): Promise<void>;
  close(): void;
}

const askSchema = z.object({
  batch: z.string().max(128),
  child: z.string().max(128),
  nonce: z.string().max(200),
});

const longestAsk = 4096;
const lookEvery = 60;
const timerName = 'asks';

export function createAsks(
  contextOf: () => EffectContext,
  mayAsk: () => boolean,
  answer: (child: ChildKey, file: string) => Promise<unknown>,
): Asks {
  const seen = new Map<string, ChildKey | null>();
  let closed = false;

  const folder = (): string => path.join(contextOf().store.folder, 'asks');

  function watch(): void {
    const context = contextOf();
    if (closed || context.timers.has(timerName)) return;
    const timer = context.clock.timer(context.clock.now() + lookEvery, () => {
      context.timers.delete(timerName);
      context.track('asks', look());
    });
    context.timers.set(timerName, timer);
  }

  async function look(): Promise<void> {
    const context = contextOf();
    if (closed || !context.mayAct()) return;
    const names = (await readdir(folder()).catch(() => [])).filter((name) =>
      /^[a-f0-9]{8,64}\.json$/.test(name),
    );
    for (const name of seen.keys()) if (!names.includes(name)) seen.delete(name);
    for (const name of names)
      if (!seen.has(name)) {
        seen.set(name, null);
        context.track('ask', answerOne(name));
      }
    if (mayAsk() || names.length > 0) watch();
  }

  async function answerOne(name: string): Promise<void> {
    const file = path.join(folder(), name);
    const asker = await readAsk(file);
    if (asker === null) return;
    seen.set(name, asker);
    const given = await answer(asker, file).catch((error: unknown) => ({ message: String(error) }));
    if (!contextOf().mayAct() || (await lstat(file).catch(() => null)) === null) return;
    const target = file.replace(/\.json$/, '.answer');
    await writeFile(`${target}.tmp`, JSON.stringify(given), { mode: 0o600, flag: 'wx' });
    await rename(`${target}.tmp`, target);
  }

  /** Who asks, if it is one of our attempts. */
  async function readAsk(file: string): Promise<ChildKey | null> {
    try {
      const stats = await lstat(file);
      if (!stats.isFile() || stats.size > longestAsk) return null;
      const ask = askSchema.parse(JSON.parse(await readFile(file, 'utf8')));
      const key = childKey(ask.batch, ask.child);
      return contextOf().attempts.get(key)?.nonce === ask.nonce ? key : null;
    } catch {
      return null;
    }
  }

  return {
    watch,
    async forget(attempt) {
      for (const [name, asker] of seen)
        if (asker === attempt.key)
          for (const left of [name, name.replace(/\.json$/, '.answer')])
            await rm(path.join(folder(), left), { force: true });
    },
    close() {
      closed = true;
    },
  };
}

/** The folder of questions, there before anybody's sandbox is set up. */
export async function makeAsksFolder(swarm: string): Promise<void> {
  await mkdir(path.join(swarm, 'asks'), { recursive: true, mode: 0o700 });
}
