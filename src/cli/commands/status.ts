import { setTimeout as later } from 'node:timers/promises';
import { join } from 'node:path';
import { plainText } from '../../protocol/plainText.js';
import type { View } from '../../protocol/view.js';
import { lookAtFolder } from '../../supervisor/node/look.js';
import { findTop } from '../checking/top.js';
import { CommandEnd } from '../environment.js';
import { exitCodes } from '../exitCodes.js';
import { cleanJson } from '../output/clean.js';
import type { Screen } from '../output/reporter.js';
import { drawTable, plainTable } from '../output/table.js';

export interface StatusOptions {
  readonly json: boolean;
  readonly watch: boolean;
}

/** `swarm status`: the view as it is on the disk. Writes and repairs nothing. */
export async function status(folder: string, options: StatusOptions, screen: Screen): Promise<number> {
  const { gone } = screen.reader;
  if (options.watch) screen.reader.watch();
  let last = '';
  for (;;) {
    const { view } = await readView(folder);
    const text = options.json ? cleanJson(view, options.watch ? undefined : 2) : describe(view, screen);
    if (text !== last) screen.draw(text + '\n');
    last = text;
    if (!options.watch) return exitCodes.done;
    await later(500, undefined, { signal: gone }).catch(() => undefined);
    if (gone.aborted) return exitCodes.done;
  }
}

/** The view of the repository around a folder, read without a write. */
export async function readView(folder: string): Promise<{ readonly topLevel: string; readonly view: View }> {
  const top = await findTop(folder);
  if (!top.ok) throw new CommandEnd(exitCodes.environment, top.message, top.fix);
  return { topLevel: top.topLevel, view: await lookAtFolder(join(top.topLevel, '.swarm'), Date.now()) };
}

function describe(view: View, screen: Screen): string {
  const now = Date.now();
  const lines = view.problems.map(({ path, message }) => plainText(`! ${path}: ${message}`));
  if (view.batches.length === 0) lines.push('No batch here yet. "swarm run" starts one.');
  else
    lines.push(
      screen.isTTY ? drawTable(view, null, Math.max(80, screen.columns), now) : plainTable(view, now),
    );
  if (view.owner) lines.push(plainText(`Supervised by process ${view.owner.pid} on ${view.owner.host}.`));
  else if (view.batches.some((batch) => batch.endedAt === null))
    lines.push('Nobody supervises it now; "swarm supervise" does.');
  return lines.join('\n');
}
