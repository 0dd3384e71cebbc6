import type { CheckPlace, Request } from '../../protocol/request.js';
import { CommandEnd, open } from '../environment.js';

/**
 * Asks whoever owns the folder to take half-written work out of the way; without an owner this process is it for the
 * moment. The check itself then runs without holding the folder.
 */
export async function openForCheck(folder: string): Promise<
  | {
      readonly ok: true;
      readonly place: CheckPlace | null;
      readonly tell?: (ended: Request & { readonly type: 'checkEnded' }) => Promise<void>;
      readonly done: () => Promise<void>;
    }
  | { readonly ok: false; readonly message: string; readonly fix: string }
> {
  try {
    const supervisor = await open({ folder, verbose: false, json: false, passive: true });
    const close = (): Promise<void> => supervisor.close({ stopAgents: false });
    const answer = await supervisor.request({ type: 'placeCheck', pid: process.pid });
    if (!answer.ok) {
      await close();
      const [error] = answer.errors;
      return { ok: false, message: error?.message ?? 'the owner refused', fix: error?.fix ?? '' };
    }
    const place = answer.place ?? null;
    if (supervisor.role === 'owner') {
      await supervisor.settled();
      await close();
      return { ok: true, place, done: () => Promise.resolve() };
    }
    return {
      ok: true,
      place,
      tell: async (ended) => void (await supervisor.request(ended)),
      done: close,
    };
  } catch (error) {
    if (error instanceof CommandEnd) return { ok: false, message: error.message, fix: error.fix };
    throw error;
  }
}
