import cliTruncate from 'cli-truncate';
import { createLogUpdate } from 'log-update';
import stringWidth from 'string-width';
import { plainLine } from '../../protocol/plainText.js';
import type { ChildView, View } from '../../protocol/view.js';
import { cleanText } from './clean.js';
import { underLines } from './overlap.js';
import type { Reporter, Screen } from './reporter.js';
import { countdown, gateText, nowText, statusWords, thousands } from './words.js';

/** A live table that is redrawn once a second and on each change, and stays on the screen at the end. */
export function tableReporter(screen: Screen, ids: ReadonlySet<string> | null): Reporter {
  const update = createLogUpdate(process.stdout);
  let last: View | null = null;
  const draw = (): void => {
    if (last) update(cleanText(drawTable(last, ids, Math.max(40, screen.columns), Date.now())));
  };
  const tick = setInterval(draw, 1000);
  return {
    view(view) {
      last = view;
      draw();
    },
    message(text) {
      update.clear();
      screen.write(plainLine(text, 1000) + '\n');
      draw();
    },
    end() {
      clearInterval(tick);
      draw();
      update.done();
    },
  };
}

/** The table as text, `width` columns wide. */
export function drawTable(view: View, ids: ReadonlySet<string> | null, width: number, now: number): string {
  const lines: string[] = [];
  for (const gate of view.gates) {
    const text = gateText(gate, now);
    if (text !== null)
      lines.push(
        paint(
          gate.needsUser ? 'need' : 'wait',
          gate.until && gate.state === 'closed' ? `${text} · in ${countdown(gate.until, now)}` : text,
        ),
      );
  }
  for (const batch of view.batches.filter((b) => ids === null || ids.has(b.id))) {
    if (lines.length > 0) lines.push('');
    const done = batch.children.filter((child) => child.status === 'done').length;
    lines.push(`${bold(plainLine(batch.name))}  ${batch.id}  ${done} of ${batch.children.length} done`);
    for (const child of batch.children)
      lines.push(row(child, view, width, now), ...underLines(child).map((line) => `    ${line}`));
  }
  return lines.map((line) => cliTruncate(line, width - 1)).join('\n');
}

/** The table for a pipe or a file: nothing is cut, no colours. */
export function plainTable(view: View, now: number): string {
  const lines = view.gates.flatMap((gate) => gateText(gate, now) ?? []);
  for (const batch of view.batches) {
    const done = batch.children.filter((child) => child.status === 'done').length;
    lines.push(`${plainLine(batch.name)}  ${batch.id}  ${done} of ${batch.children.length} done`);
    const widest = Math.max(...batch.children.map((child) => stringWidth(label(child))));
    for (const child of batch.children) {
      const parts = [
        fit(label(child), widest),
        fit(statusWords[child.display], 10),
        fit(timeText(child, now), 9),
        child.executor,
        plainLine(nowText(child, view.gates)),
      ];
      lines.push(`  ${parts.join('  ').trimEnd()}`, ...underLines(child).map((line) => `    ${line}`));
    }
  }
  return lines.join('\n');
}

function row(child: ChildView, view: View, width: number, now: number): string {
  const wide = Math.max(14, Math.floor(width * 0.25));
  const title = fit(label(child), wide);
  const word = fit(statusWords[child.display], 10);
  const time = fit(timeText(child, now), 9);
  const tokens = child.tokens.input + child.tokens.output;
  const counts =
    `${child.files.written > 0 ? `${child.files.written} files` : ''}`.padStart(9) +
    (tokens > 0 ? thousands(tokens) : '').padStart(7);
  const rest = fit(plainLine(nowText(child, view.gates)), Math.max(10, width - wide - 52));
  return `  ${paint(role(child), `${title}  ${word}`)} ${time} ${rest} ${fit(child.executor, 8)}${counts}`;
}

/** The id comes first: it is what the other commands are given. */
function label(child: ChildView): string {
  const title = plainLine(child.title);
  return title === child.id ? title : `${child.id}  ${title}`;
}

/** When it goes on, or its place in the line after a reset. */
function timeText(child: ChildView, now: number): string {
  if (child.status !== 'paused') return '';
  if (child.resetAt !== null) return countdown(child.resetAt, now);
  return child.order === null ? '' : child.order === 1 ? 'first' : 'next';
}

function fit(text: string, width: number): string {
  const cut = cliTruncate(text, width);
  return cut + ' '.repeat(Math.max(0, width - stringWidth(cut)));
}

type Role = 'run' | 'wait' | 'need' | 'bad' | 'ok' | 'idle';

function role(child: ChildView): Role {
  switch (child.display) {
    case 'starting':
    case 'running':
      return 'run';
    case 'pausing':
    case 'paused':
      return 'wait';
    case 'pausedForYou':
    case 'needsYou':
    case 'conflict':
      return 'need';
    case 'checkRed':
    case 'failed':
      return 'bad';
    case 'done':
    case 'applied':
      return 'ok';
    case 'queued':
    case 'held':
    case 'stopping':
    case 'canceled':
      return 'idle';
    default:
      child.display satisfies never;
      return 'idle';
  }
}

const colours: Readonly<Record<Role, number>> = { run: 34, wait: 35, need: 33, bad: 31, ok: 32, idle: 90 };

function paint(who: Role, text: string): string {
  return process.env['NO_COLOR'] ? text : `\u001b[${colours[who]}m${text}\u001b[0m`;
}

function bold(text: string): string {
  return process.env['NO_COLOR'] ? text : `\u001b[1m${text}\u001b[0m`;
}
