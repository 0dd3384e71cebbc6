import type { AgentEvent } from '../agents/agent.js';
import type { Heard, Writer } from '../ports/sharedTree.js';
import { relativePath } from '../research/text.js';
import type { Attempt } from './attempt.js';

/**
 * What attempts in a shared tree have said, noted at the moment it is read. The ledger takes its looks one after the
 * other; what it finds is put down to whoever was at work when it was changed, not when it was found.
 */
export interface Hearing {
  /** `since`: it was printed after that (epoch ms; 0: not known). */
  hear(attempt: Attempt, events: readonly AgentEvent[], since: number): void;
  /** The attempt runs no command any more. */
  silence(attempt: Attempt): void;
  /** What is announced and not yet looked at. */
  claims(attempt: Attempt): readonly { readonly path: string; readonly writer: Writer }[];
  claimDone(attempt: Attempt, path: string): void;
  /** `mayWait`: what is too fresh to be told may be left for the next look. */
  now(mayWait: boolean): Heard;
}

/** A command and the time in which it may have written. */
interface Shell {
  readonly of: string;
  readonly writer: Writer & { readonly command: string };
  readonly since: number;
  until: number | null;
}

interface Claim {
  readonly of: string;
  readonly path: string;
  readonly writer: Writer;
  readonly since: number;
  /** It has been written, too. */
  isDone: boolean;
}

/** An agent prints what it does a little after it has begun with it; on a busy machine much later. */
const usualLag = 250;
const longestLag = 5000;
const claimLag = 2000;
/** Time stamps of files may be behind the clock by as much, in ms. */
export const clockTick = 20;
/** Commands that ended longer ago have no change left to be found. */
const keptFor = 60_000;

/** `top`: of the shared tree, which paths are seen from. */
export function createHearing(top: () => string, clock: () => number): Hearing {
  let shells: Shell[] = [];
  let claims: Claim[] = [];

  function hearOne(attempt: Attempt, event: AgentEvent, since: number): void {
    const of = nameOf(attempt);
    const shellWriter = (command: string) =>
      ({ child: attempt.key, attempt: attempt.number, tool: 'shell', command }) as const;
    switch (event.type) {
      case 'shellStarted':
        shells.push({ of, writer: shellWriter(event.command), since, until: null });
        return;
      case 'shell': {
        const mine = shells.filter((shell) => shell.of === of && shell.until === null);
        const shell = mine.find(({ writer }) => writer.command === event.command) ?? mine[0];
        if (shell !== undefined) shell.until = clock();
        // Told only at its end, or begun before we were there.
        else shells.push({ of, writer: shellWriter(event.command), since: 0, until: clock() });
        return;
      }
      case 'writing':
      case 'write': {
        const path = relativePath(event.path, top());
        const known = claims.find((claim) => claim.of === of && claim.path === path);
        const isDone = event.type === 'write';
        const writer = { child: attempt.key, attempt: attempt.number, tool: event.tool };
        if (known === undefined) claims.push({ of, path, writer, since, isDone });
        else known.isDone = isDone;
        return;
      }
      case 'denied':
        // A command that was refused has no end of its own.
        silence(attempt);
        return;
      case 'text':
        // It speaks again: what it announced and did not do was refused or has failed.
        claims = claims.filter((claim) => claim.of !== of || claim.isDone);
        return;
      default:
        return;
    }
  }

  function silence(attempt: Attempt): void {
    for (const shell of shells) if (shell.of === nameOf(attempt)) shell.until ??= clock();
  }

  function writersAt(time: number | null, path: string): readonly Writer[] {
    const at = time ?? clock();
    return shells
      .filter(({ writer, since, until }) => {
        const lag = namesPath(writer.command, path) ? longestLag : usualLag;
        return at >= since - lag - clockTick && (until === null || at <= until + clockTick);
      })
      .map(({ writer }) => writer);
  }

  return {
    hear(attempt, events, since) {
      shells = shells.filter(({ until }) => until === null || until > clock() - keptFor);
      for (const event of events) hearOne(attempt, event, since);
    },
    silence,
    claims: (attempt) => claims.filter((claim) => claim.of === nameOf(attempt)),
    claimDone(attempt, path) {
      claims = claims.filter((claim) => claim.of !== nameOf(attempt) || claim.path !== path);
    },
    now: (mayWait) => ({
      mayWait,
      writersAt,
      claimAt(time, path) {
        const claim = claims.find((each) => each.path === path);
        const isOlder = claim !== undefined && time !== null && time < claim.since - claimLag;
        return claim === undefined || isOlder ? null : claim.writer;
      },
    }),
  };
}

/** Whether a command has the file's path, or the end of it, among its words. */
export function namesPath(command: string | undefined, file: string): boolean {
  if (command === undefined) return false;
  return command
    .split(/[\s'"`;|&()<>=]+/)
    .some((word) => word === file || word.endsWith(`/${file}`) || file.endsWith(`/${word}`));
}

function nameOf(attempt: Attempt): string {
  return `${attempt.key} ${attempt.number}`;
}
