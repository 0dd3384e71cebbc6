import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plainLine, plainText } from '../../protocol/plainText.js';
import type { ChildView, View } from '../../protocol/view.js';
import { strayWords } from '../../supervisor/core/strayWords.js';
import { createGit } from '../../supervisor/node/git/index.js';
import { CommandEnd } from '../environment.js';
import { exitCodes } from '../exitCodes.js';
import type { Screen } from '../output/reporter.js';
import { findTargets, noChildren } from '../targets.js';
import { readView } from './status.js';

/** `swarm checkpoint <child>`: its checkpoint.md. */
export async function checkpoint(folder: string, name: string, screen: Screen): Promise<number> {
  const { topLevel, view } = await readView(folder);
  const { batch, child } = oneChild(view, name);
  const file = join(topLevel, '.swarm', 'batches', batch, 'children', child.id, 'checkpoint.md');
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null)
    throw new CommandEnd(
      exitCodes.failed,
      `${name} has no checkpoint yet: it has not read or written anything.`,
    );
  screen.write(plainText(text));
  return exitCodes.done;
}

/** `swarm diff <child|--all>`: what its newest snapshot changes against its base. */
export async function diff(
  folder: string,
  name: string | undefined,
  all: boolean,
  screen: Screen,
): Promise<number> {
  const { view } = await readView(folder);
  const found = findTargets(view, name, all);
  if (!found.ok) throw new CommandEnd(exitCodes.input, found.message);
  if (found.targets.length === 0) process.stderr.write(`swarm: ${noChildren}\n`);
  const git = createGit();
  const repository = await git.inspect(folder);
  if (!repository.ok) throw new CommandEnd(exitCodes.environment, repository.message, repository.fix);
  for (const target of found.targets) {
    const child = view.batches
      .find((batch) => batch.id === target.batch)
      ?.children.find((other) => other.id === target.child);
    if (!child) continue;
    if (child.snapshot === null) process.stderr.write(`swarm: ${target.child} has no snapshot yet\n`);
    else {
      const text = await git.diff(repository, `${child.snapshot}^`, child.snapshot);
      // A file or a pipe gets the patch as it is; what an agent wrote must not steer a terminal.
      screen.write(screen.isTTY ? plainText(text) : text);
    }
    for (const line of notInDiff(child)) process.stderr.write(`swarm: ${plainText(line)}\n`);
  }
  return exitCodes.done;
}

/** What a child has done that its snapshot cannot show. */
function notInDiff(child: ChildView): readonly string[] {
  return [
    ...(child.uncaptured ?? []).map(
      ({ path, reason }) => `${child.id}: ${plainLine(path)} is only in its worktree: ${plainLine(reason)}`,
    ),
    ...(child.strays ?? []).map((stray) => `${child.id}: ${strayWords(stray)}`),
  ];
}

function oneChild(view: View, name: string): { readonly batch: string; readonly child: ChildView } {
  const found = findTargets(view, name, false);
  if (!found.ok) throw new CommandEnd(exitCodes.input, found.message);
  const [target, second] = found.targets;
  const child = view.batches
    .find((batch) => batch.id === target?.batch)
    ?.children.find((other) => other.id === target?.child);
  if (!target || !child || second)
    throw new CommandEnd(
      exitCodes.input,
      `"${name}" is a batch of ${found.targets.length} children; name one of them.`,
    );
  return { batch: target.batch, child };
}
