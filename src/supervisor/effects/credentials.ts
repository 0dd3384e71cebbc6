import { stat } from 'node:fs/promises';
import { adapters } from '../agents/index.js';
import type { Disposable } from '../ports.js';
import type { EffectContext } from './context.js';

const every = 3000;

/**
 * While an account waits for a sign-in, looks whether the agent's own files for it have changed, and says so.
 * It only proposes: a person answers.
 */
export function watchCredentials(context: EffectContext): Disposable {
  const seen = new Map<string, number>();
  let timer: Disposable | null = null;
  let stopped = false;

  const look = async () => {
    const waiting = waitingCredentials(context);
    for (const credential of seen.keys()) if (!waiting.has(credential)) seen.delete(credential);
    for (const [credential, files] of waiting) {
      const newest = Math.max(
        0,
        ...(await Promise.all(files.map((file) => modified(file, context.env['HOME'])))),
      );
      if (stopped || !context.mayAct()) return;
      const before = seen.get(credential);
      seen.set(credential, newest);
      if (before !== undefined && newest > before) context.post({ type: 'credentialChanged', credential });
    }
  };
  const arm = () => {
    timer = context.clock.timer(context.clock.now() + every, () => {
      if (stopped || !context.mayAct()) return;
      context.watch('credentials', look().finally(arm));
    });
  };
  arm();
  return {
    dispose: () => {
      stopped = true;
      timer?.dispose();
    },
  };
}

/** Credentials whose gate waits for a sign-in, with the files of the agents that use them. */
function waitingCredentials(context: EffectContext): ReadonlyMap<string, readonly string[]> {
  const state = context.state();
  const found = new Map<string, readonly string[]>();
  for (const gate of Object.values(state.gates)) {
    const { position } = gate;
    if (position.name !== 'closed') continue;
    if (position.reason !== 'auth_expired' && position.reason !== 'auth_denied') continue;
    const users = Object.values(state.children).flatMap((child) =>
      child.task.chain.filter((choice) => choice.credential === gate.credential),
    );
    const files = [...new Set(users.map((choice) => choice.adapter))].flatMap(
      (adapter) => adapters[adapter]?.credentialFiles ?? [],
    );
    if (files.length > 0) found.set(gate.credential, files);
  }
  return found;
}

async function modified(file: string, home: string | undefined): Promise<number> {
  try {
    return (await stat(file.replace(/^~/, home ?? '~'))).mtimeMs;
  } catch {
    return 0;
  }
}
