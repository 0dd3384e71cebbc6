import { CommandEnd, open, type OpenOptions } from '../environment.js';
import { follow } from '../follow.js';
import { exitCodes } from '../exitCodes.js';
import { cleanJson } from '../output/clean.js';
import type { Screen } from '../output/reporter.js';
import type { Supervisor } from '../../supervisor/api.js';

export interface SuperviseOptions extends OpenOptions {
  readonly wait: boolean;
  /** Process of the window that gives its folder to this one as it closes; null: a person has started it. */
  readonly after: number | null;
}

/**
 * `swarm supervise`: takes over all unfinished batches and follows them to their end. In the place of a window that
 * has closed it gives the folder to the next window that opens, and ends.
 */
export async function supervise(options: SuperviseOptions, screen: Screen): Promise<number> {
  const supervisor = await open({ ...options, yields: options.after !== null });
  if (supervisor.role === 'readOnly') {
    await supervisor.close({ stopAgents: false });
    throw new CommandEnd(
      exitCodes.environment,
      'Nothing can be supervised here: .swarm was written by a newer version and can only be read.',
      'Update Swarm Panel.',
    );
  }
  const unfinished = supervisor.view().batches.filter((batch) => batch.endedAt === null);
  if (unfinished.length === 0) {
    await supervisor.close({ stopAgents: false });
    screen.write(
      options.json
        ? cleanJson({ t: new Date().toISOString(), type: 'end', code: 0 }) + '\n'
        : 'Nothing is unfinished here.\n',
    );
    return exitCodes.done;
  }
  return follow({
    supervisor,
    ids: new Set(unfinished.map((batch) => batch.id)),
    json: options.json,
    wait: options.wait,
    screen,
    ...(options.after === null ? {} : { over: notNeeded(supervisor, options.after) }),
  });
}

/** Aborted when another process than the one that is closing has the folder: then nobody needs this one. */
function notNeeded(supervisor: Supervisor, after: number): AbortSignal {
  const over = new AbortController();
  let owned = false;
  supervisor.onRole((role) => {
    if (owned && role !== 'owner') over.abort();
  });
  supervisor.onView(({ owner }) => {
    owned ||= supervisor.role === 'owner';
    if (owned || owner === null) return;
    if (owner.pid !== after && owner.pid !== process.pid) over.abort();
  });
  // Whoever waits for this process before it closes need wait no longer.
  if (process.connected)
    process.send?.('ready', undefined, undefined, () => {
      if (process.connected) process.disconnect();
    });
  return over.signal;
}
