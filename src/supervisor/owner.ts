import type { Answer, Request } from '../protocol/request.js';
import { request as requestSchema } from '../protocol/request.js';
import type { Problem, View } from '../protocol/view.js';
import type { SupervisorOptions } from './api.js';
import type { Notice } from './core/effect.js';
import { initialState } from './core/initial.js';
import type { ChildKey } from './core/state.js';
import type { Attempt } from './effects/attempt.js';
import { messageOf, type EffectContext } from './effects/context.js';
import { watchCredentials } from './effects/credentials.js';
import { fileState, findFile, readText } from './effects/files.js';
import { createForecasts } from './effects/forecasts.js';
import { runEffect } from './effects/run.js';
import { createSharedWork } from './effects/shared.js';
import { createSoon } from './effects/soon.js';
import { createTurns } from './effects/turns.js';
import { createSharedTree, installShims, liveEdits, parseEdits, withShims } from './node/git/sharedTree.js';
import { createPlans } from './plans.js';
import { createLoop, type Loop } from './loop.js';
import type { Disposable, Repository, Store } from './ports.js';
import { refused } from './answers.js';
import { answerRequest } from './requests.js';
import { userRules } from './userRules.js';

/** The one writer of a folder: the machine's loop with all that it acts through. */
export interface Owner {
  view(): View;
  request(request: Request): Promise<Answer>;
  settled(): Promise<void>;
  close(options: { readonly stopAgents: boolean }): Promise<void>;
}

export interface OwnerListeners {
  readonly view: (view: View) => void;
  readonly notice: (notice: Notice) => void;
  /** Another owner has taken over. */
  readonly lost: () => void;
  /** Asked to give the folder up to another process. */
  readonly handOver: () => void;
}

/** Starts to own a folder: reads what was, finds again what runs, goes on. */
export async function startOwner(
  options: SupervisorOptions,
  repository: Repository,
  store: Store,
  listeners: OwnerListeners,
): Promise<Owner> {
  const { clock, log } = options;
  let alive = true;
  let closing = false;
  let stopping = options.passive === true;
  const problems: Problem[] = [...store.loaded.problems];
  const inFlight = new Set<Promise<unknown>>();
  const attempts = new Map<ChildKey, Attempt>();
  const timers = new Map<string, Disposable>();
  const cleanups: Disposable[] = [];
  const waiters = new Set<() => void>();

  const plans = createPlans(store, options.settings.executors);

  const publish = createSoon(
    clock,
    () => 100,
    () => {
      if (!alive) return Promise.resolve();
      const view = loop.view();
      listeners.view(view);
      store.publish(view);
      return Promise.resolve();
    },
  );
  const saveView = createSoon(
    clock,
    // Many at work make it large.
    () => Math.max(1000, 20 * attempts.size),
    async () => {
      if (!alive) return;
      await store.saveView(loop.view()).catch((error: unknown) => {
        if (alive) log.warn(`view.json not written: ${messageOf(error)}`);
      });
    },
  );

  const loop: Loop = createLoop({
    store,
    clock,
    log,
    initial: initialState({ maxConcurrent: options.settings.maxConcurrent, askAbove: null }),
    problems: () => problems,
    run: (effect) => {
      if (!alive || closing) return;
      if (!stopping || (effect.type !== 'prepare' && effect.type !== 'spawn')) runEffect(context, effect);
      // What was ordered may have been started before: it is followed, and nothing new is started.
      else if (effect.type === 'spawn') runEffect(context, { ...effect, type: 'adopt', process: null });
    },
    changed: () => {
      publish.want();
      saveView.want();
      for (const waiter of [...waiters]) waiter();
    },
    lost: () => {
      if (!alive) return;
      end();
      listeners.lost();
    },
  });

  function keep(set: Set<Promise<unknown>> | null, name: string, work: Promise<unknown>): void {
    const kept = work
      .catch((error: unknown) => {
        if (alive)
          log.error(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}`);
      })
      .finally(() => set?.delete(kept));
    set?.add(kept);
  }

  const context: EffectContext = {
    store,
    git: options.git,
    processes: options.processes,
    clock,
    log,
    settings: options.settings,
    rules: userRules(options.settings.verdictRules, log),
    ownProgram: options.ownProgram ?? null,
    helpers: options.helpers ?? null,
    env: options.env,
    random: options.random,
    repository,
    state: () => loop.state(),
    post: (event) => {
      if (alive) loop.post(event);
    },
    postDurably: (event) => (alive ? loop.postDurably(event) : Promise.resolve(false)),
    mayAct: () => alive,
    track: (name, work) => keep(inFlight, name, work),
    watch: (name, work) => keep(null, name, work),
    notice: (notice) => listeners.notice(notice),
    diskFilled: () => {
      if (alive) loop.diskFilled();
    },
    fileState: (folder, name) => fileState(folder, name, repository.objectFormat),
    readText: (file) => readText(file, 4 * 1024 * 1024),
    findFile,
    plan: plans,
    shared: createSharedWork(() => context, {
      make: createSharedTree,
      parse: parseEdits,
      live: liveEdits,
      installShims,
      withShims,
    }),
    forecasts: createForecasts(clock, () => context),
    attempts,
    timers,
    turns: createTurns(),
    notified: await readNotified(store),
  };

  /** Nothing may be done from here on; agents go on by themselves. */
  function end(): void {
    alive = false;
    for (const timer of timers.values()) timer.dispose();
    timers.clear();
    for (const attempt of attempts.values()) {
      attempt.follower?.dispose();
      attempt.recorder?.dispose();
    }
    attempts.clear();
    publish.dispose();
    saveView.dispose();
    for (const cleanup of cleanups) cleanup.dispose();
    for (const waiter of [...waiters]) waiter();
  }

  async function settled(): Promise<void> {
    for (;;) {
      await loop.drained();
      if (inFlight.size === 0) return;
      await Promise.all(inFlight);
    }
  }

  /** Resolves when the state fulfils the condition, at the deadline, or at the end. */
  function until(condition: () => boolean, milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        timer.dispose();
        waiters.delete(look);
        resolve();
      };
      const look = () => {
        if (!alive || condition()) finish();
      };
      const timer = clock.timer(clock.now() + milliseconds, finish);
      waiters.add(look);
      look();
    });
  }

  async function close({ stopAgents }: { readonly stopAgents: boolean }): Promise<void> {
    if (!alive || closing) return;
    if (stopAgents) {
      stopping = true;
      loop.post({ type: 'settingsChanged', settings: { ...loop.state().settings, maxConcurrent: 0 } });
      const working = Object.values(loop.state().children).filter((child) => 'launch' in child.phase);
      if (working.length > 0)
        await loop.postDurably({ type: 'pauseRequested', children: working.map((child) => child.key) });
      await until(() => attempts.size === 0, 30_000);
    }
    closing = true;
    const patience = new Promise<void>((resolve) => {
      cleanups.push(clock.timer(clock.now() + 5000, resolve));
    });
    await Promise.race([settled(), patience]);
    await loop.stop();
    if (!alive) return;
    const view = loop.view();
    await store
      .saveView(view)
      .catch((error: unknown) => log.warn(`view.json not written: ${messageOf(error)}`));
    end();
    await store.close();
  }

  async function request(wanted: Request): Promise<Answer> {
    if (!alive || closing) return gone;
    if (wanted.type === 'handOver') {
      if (options.yields !== true) return refused(3, 'This folder is in use', 'Close the other window.');
      listeners.handOver();
      return { ok: true };
    }
    return answerRequest({ context, options, plans }, wanted);
  }

  cleanups.push(
    store.onSuperseded((reason) => {
      if (!alive) return;
      log.warn(reason);
      end();
      listeners.lost();
    }),
    store.serve(async (raw) => {
      const parsed = requestSchema.safeParse(raw);
      if (!parsed.success)
        return {
          ok: false,
          code: 2,
          errors: [{ line: null, message: 'The request was not understood', fix: 'Use the same version.' }],
        } satisfies Answer;
      return request(parsed.data);
    }),
    watchCredentials(context),
  );

  const stale = await options.git.clearStaleLocks(repository);
  if (stale.length > 0)
    log.warn(`Locks and marks of a git that was killed were removed: ${stale.join(', ')}`);
  await context.shared.wake();
  // A passive owner has no slots: it follows what runs and starts nothing.
  const maxConcurrent = options.passive ? 0 : options.settings.maxConcurrent;
  if (loop.state().settings.maxConcurrent !== maxConcurrent)
    loop.post({ type: 'settingsChanged', settings: { ...loop.state().settings, maxConcurrent } });
  loop.post({ type: 'opened', owner: store.owner, version: options.version });
  // What comes of it, of a thousand children perhaps, is shown as it comes.
  await loop.worked();
  context.forecasts.watch();
  publish.want();
  return { view: () => loop.view(), request, settled, close };
}

const gone: Answer = {
  ok: false,
  code: 3,
  errors: [{ line: null, message: 'This folder is being given up', fix: 'Ask again.' }],
};

async function readNotified(store: Store): Promise<Set<string>> {
  try {
    const parsed: unknown = JSON.parse((await store.read('notified.json')) ?? '[]');
    return new Set(
      Array.isArray(parsed) ? parsed.filter((key): key is string => typeof key === 'string') : [],
    );
  } catch {
    return new Set();
  }
}
