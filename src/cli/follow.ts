import type { Supervisor } from '../supervisor/api.js';
import { jsonReporter } from './output/json.js';
import { linesReporter } from './output/lines.js';
import type { Reporter, Screen } from './output/reporter.js';
import { tableReporter } from './output/table.js';
import { exitCode } from '../supervisor/core/exitCode.js';
import { exitCodes } from './exitCodes.js';
import { complain } from './output/clean.js';

export interface FollowOptions {
  readonly supervisor: Supervisor;
  /** The batches to follow; null: all unfinished ones. */
  readonly ids: ReadonlySet<string> | null;
  readonly json: boolean;
  /** False: end with 75 as soon as something is paused and nothing runs or can start. */
  readonly wait: boolean;
  readonly screen: Screen;
  /** The first line of the report, if any. */
  readonly greeting?: string;
  /** Ends the following early: nobody needs this process any more. */
  readonly over?: AbortSignal;
}

/**
 * Follows batches to their end, waits and resumes included, and gives the folder up. Returns the exit code.
 * The first Ctrl-C leaves the agents running; a second one within two seconds stops them.
 */
export async function follow(options: FollowOptions): Promise<number> {
  const { supervisor, screen } = options;
  const reporter = createReporter(screen, options);
  if (options.greeting) reporter.message(options.greeting);
  let release = (): void => undefined;
  const result = await new Promise<{ readonly code: number; readonly stopAgents: boolean }>((ended) => {
    let asked: NodeJS.Timeout | null = null;
    let finished = false;
    const finish = (end: { readonly code: number; readonly stopAgents: boolean }): void => {
      if (finished) return;
      finished = true;
      if (asked) clearTimeout(asked);
      // The first view comes before the listener is ours to dispose.
      queueMicrotask(() => listening.dispose());
      ended(end);
    };
    const interrupt = (): void => {
      if (finished) return;
      if (asked) return finish({ code: exitCodes.interrupted, stopAgents: true });
      reporter.message(
        'The agents go on; "swarm supervise" takes them up. Ctrl-C again within 2 s stops them, their work kept.',
      );
      asked = setTimeout(() => finish({ code: exitCodes.interrupted, stopAgents: false }), 2000);
    };
    const terminate = (): void => finish({ code: exitCodes.interrupted, stopAgents: false });
    process.on('SIGINT', interrupt).on('SIGTERM', terminate);
    release = () => void process.off('SIGINT', interrupt).off('SIGTERM', terminate);
    const leave = (): void => finish({ code: exitCodes.done, stopAgents: false });
    whenAborted(options.over, leave);
    // Nobody reads on: the folder is given up in good order.
    screen.reader.watch();
    whenAborted(screen.reader.gone, terminate);
    const seen = new Set<string>();
    const listening = supervisor.onView((view) => {
      const there = new Set(view.batches.map(({ id }) => id));
      const gone = [...seen].filter((id) => !there.has(id) && options.ids?.has(id) === true);
      if (gone.length > 0) {
        for (const { path, message } of view.problems) complain(`${path}: ${message}`);
        complain(`${gone.join(', ')} cannot be followed any more: nothing in .swarm tells of it.`);
        return finish({ code: exitCodes.environment, stopAgents: false });
      }
      for (const id of there) seen.add(id);
      reporter.view(view);
      const code = exitCode(view, {
        batches: options.ids === null ? null : [...options.ids],
        noWait: !options.wait,
        tty: screen.isTTY,
      });
      if (code !== null) finish({ code, stopAgents: false });
    });
  });
  try {
    await supervisor.settled();
    reporter.view(supervisor.view());
    await supervisor.close({ stopAgents: result.stopAgents });
  } finally {
    // Not before: the table's own listener ends the process where nobody else listens, and the agents would go on.
    release();
  }
  reporter.end(result.code);
  return result.code;
}

/** A live table on a terminal, plain lines otherwise, one object a line with `json`. */
function createReporter(
  screen: Screen,
  options: { readonly json: boolean; readonly ids: ReadonlySet<string> | null },
): Reporter {
  if (options.json) return jsonReporter(screen, options.ids);
  return screen.isTTY ? tableReporter(screen, options.ids) : linesReporter(screen, options.ids);
}

function whenAborted(signal: AbortSignal | undefined, then: () => void): void {
  if (signal?.aborted) setImmediate(then);
  else signal?.addEventListener('abort', then, { once: true });
}
