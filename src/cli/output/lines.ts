import { plainLine } from '../../protocol/plainText.js';
import type { View } from '../../protocol/view.js';
import { changesBetween, type Change } from './changes.js';
import { leftLines } from './left.js';
import type { Reporter, Screen } from './reporter.js';
import { clock, gateText, nowText, statusWords } from './words.js';

/** One line for each change of a state that a person would want to know; no ticks, no output of agents. */
export function linesReporter(screen: Screen, ids: ReadonlySet<string> | null): Reporter {
  let last: View | null = null;
  const write = (text: string): void =>
    screen.write(`${clock(new Date().toISOString(), Date.now())}  ${text}\n`);
  return {
    view(view) {
      for (const change of changesBetween(last, view, ids)) {
        const text = lineOf(change, view);
        if (text !== null) write(text);
      }
      last = view;
    },
    message: (text) => write(plainLine(text, 1000)),
    end: () => undefined,
  };
}

/** Null: not worth a line. */
function lineOf(change: Change, view: View): string | null {
  const now = Date.now();
  switch (change.type) {
    case 'batch':
      return 'status' in change.changed
        ? `${change.batch.id}  ${plainLine(change.batch.name)}: ${change.batch.status}`
        : null;
    case 'gate': {
      const { gate, before } = change;
      // How many wait changes with every child; a line is worth only what a person would act on.
      if (
        before &&
        before.display === gate.display &&
        before.until === gate.until &&
        before.canary === gate.canary
      )
        return null;
      const after = gateText(gate, now);
      return after ?? (before ? `${gate.credential} open` : null);
    }
    case 'child': {
      const { child, before } = change;
      const left = (before?.quarantine?.left ?? 0) === (child.quarantine?.left ?? 0) ? [] : leftLines(child);
      if (
        left.length === 0 &&
        before?.display === child.display &&
        before.resetAt === child.resetAt &&
        before.attempts === child.attempts
      )
        return null;
      const parts = [child.id.padEnd(12), statusWords[child.display].padEnd(9)];
      if (child.status === 'running') parts.push(child.attempts > 1 ? `attempt ${child.attempts}` : '');
      // What it has written is captured right after its end.
      else if (child.status !== 'done' || child.snapshot !== null)
        parts.push(plainLine(nowText(child, view.gates)));
      if (child.status === 'paused' && child.resetAt !== null)
        parts.push(`until ${clock(child.resetAt, now)}`);
      // What never began has no log of its own to look into.
      const isUnexplained = child.status === 'paused' && child.attempts === 0;
      if ((child.status === 'failed' || isUnexplained) && child.reason)
        parts.push(plainLine(child.reason.message, 2000));
      return [parts.filter(Boolean).join('  ').trimEnd(), ...left].join('; ');
    }
    default:
      change satisfies never;
      return null;
  }
}
