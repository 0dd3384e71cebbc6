import type { AgentEvent } from '../agents/agent.js';
import type { Heard, Writer } from '../ports/sharedTree.js';
import { relativePath } from '../research/text.js';
import type { Attempt } from './attempt.js';

/**
 * What attempts in a shared tree have said, at the moment it is read. The ledger takes its looks one after the other;
 * by then it must know of everything that may have been at work, whoever's turn it is.
 */
export interface Hearing {
  hear(attempt: Attempt, events: readonly AgentEvent[], since: number): void;
  /** The attempt's command whose beginning or end is looked at now, and what else was going on. */
  shell(attempt: Attempt, command: string): { readonly writer: Writer; readonly heard: Heard };
  /** The look at its end is done. */
  shellDone(attempt: Attempt, command: string): void;
  openShells(attempt: Attempt): readonly string[];
  /** What is announced and not yet looked at. */
  claims(attempt: Attempt): readonly { readonly path: string; readonly writer: Writer }[];
  claimDone(attempt: Attempt, path: string): void;
  /** Nothing of it is open or announced. */
  isSilent(attempt: Attempt): boolean;
  /** For a look that is nobody's turn. */
  now(): Heard;
}

interface Shell {
  readonly of: string;
  readonly command: string;
  readonly writer: Writer;
  readonly since: number;
}

interface Claim {
  readonly of: string;
  readonly path: string;
  readonly writer: Writer;
  /** It has been written, too. */
  isDone: boolean;
}

/** `top`: of the shared tree, which paths are seen from. */
export function createHearing(top: () => string): Hearing {
  const shells: Shell[] = [];
  let claims: Claim[] = [];

  function find(attempt: Attempt, command: string): Shell | undefined {
    const mine = shells.filter((shell) => shell.of === nameOf(attempt));
    return mine.find((shell) => shell.command === command) ?? mine[0];
  }

  function writerOf(attempt: Attempt, command: string): Writer {
    return { child: attempt.key, attempt: attempt.number, tool: 'shell', command };
  }

  function around(attempt: Attempt | null, since: number): Heard {
    const others = shells.filter((shell) => attempt === null || shell.of !== nameOf(attempt));
    return {
      since,
      also: others.map((shell) => shell.writer),
      claims: new Map(claims.map((claim) => [claim.path, claim.writer])),
    };
  }

  return {
    hear(attempt, events, since) {
      const of = nameOf(attempt);
      for (const event of events)
        switch (event.type) {
          case 'shellStarted':
            shells.push({ of, command: event.command, writer: writerOf(attempt, event.command), since });
            break;
          case 'writing':
            claims.push({
              of,
              path: relativePath(event.path, top()),
              writer: { child: attempt.key, attempt: attempt.number, tool: event.tool },
              isDone: false,
            });
            break;
          case 'write': {
            const path = relativePath(event.path, top());
            const known = claims.find((claim) => claim.of === of && claim.path === path);
            const writer = { child: attempt.key, attempt: attempt.number, tool: event.tool };
            if (known === undefined) claims.push({ of, path, writer, isDone: true });
            else known.isDone = true;
            break;
          }
          case 'text':
            // It speaks again: what it announced and did not do was refused or has failed.
            claims = claims.filter((claim) => claim.of !== of || claim.isDone);
            break;
          default:
            break;
        }
    },
    shell(attempt, command) {
      const shell = find(attempt, command);
      return {
        writer: shell?.writer ?? writerOf(attempt, command),
        heard: around(attempt, shell?.since ?? 0),
      };
    },
    shellDone(attempt, command) {
      const shell = find(attempt, command);
      if (shell !== undefined) shells.splice(shells.indexOf(shell), 1);
    },
    openShells: (attempt) =>
      shells.filter((shell) => shell.of === nameOf(attempt)).map((shell) => shell.command),
    claims: (attempt) =>
      claims.filter((claim) => claim.of === nameOf(attempt)).map(({ path, writer }) => ({ path, writer })),
    claimDone(attempt, path) {
      const at = claims.findIndex((claim) => claim.of === nameOf(attempt) && claim.path === path);
      if (at >= 0) claims.splice(at, 1);
    },
    isSilent: (attempt) => ![...shells, ...claims].some((each) => each.of === nameOf(attempt)),
    now: () => around(null, 0),
  };
}

function nameOf(attempt: Attempt): string {
  return `${attempt.key} ${attempt.number}`;
}
