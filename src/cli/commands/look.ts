import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { childPlace } from '../../protocol/places.js';
import { plainLine } from '../../protocol/plainText.js';
import type { ChildView, View } from '../../protocol/view.js';
import { strayWords } from '../../supervisor/core/strayWords.js';
import { createGit } from '../../supervisor/node/git/index.js';
import { parseCheckpoint } from '../../supervisor/research/checkpoint.js';
import { CommandEnd } from '../environment.js';
import { exitCodes } from '../exitCodes.js';
import { complain } from '../output/clean.js';
import type { Screen } from '../output/reporter.js';
import { say } from '../output/say.js';
import { findTargets, noChildren } from '../targets.js';
import { readView } from './status.js';

/** `swarm checkpoint <child>`: its checkpoint.md; with `json` its checkpoint.json as one line. */
export async function checkpoint(
  folder: string,
  name: string,
  options: { readonly json: boolean },
  screen: Screen,
): Promise<number> {
  const { topLevel, view } = await readView(folder);
  const { batch, child } = oneChild(view, name);
  const file = join(topLevel, '.swarm', childPlace(batch, child.id), 'checkpoint');
  const text = await readFile(`${file}.${options.json ? 'json' : 'md'}`, 'utf8').catch(() => null);
  if (text === null)
    throw new CommandEnd(
      exitCodes.failed,
      `${child.id} has no checkpoint yet: it has not read or written anything.`,
    );
  if (!options.json) screen.write(text);
  else {
    const known = parseCheckpoint(text);
    if (known === null)
      throw new CommandEnd(
        exitCodes.environment,
        `${file}.json is damaged.`,
        '"swarm checkpoint" without --json prints what is noted for people.',
      );
    say(screen, true, '', { type: 'child', batch, id: child.id, checkpoint: known });
  }
  return exitCodes.done;
}

/** `swarm diff <child|--all>`: what its newest snapshot changes against its base. */
export async function diff(
  folder: string,
  name: string | undefined,
  options: { readonly all: boolean; readonly json: boolean },
  screen: Screen,
): Promise<number> {
  const { view } = await readView(folder);
  const found = findTargets(view, name, options.all);
  if (!found.ok) throw new CommandEnd(exitCodes.input, found.message);
  if (found.targets.length === 0) {
    if (options.json) say(screen, true, noChildren);
    else complain(noChildren);
    return exitCodes.done;
  }
  const git = createGit();
  const repository = await git.inspect(folder);
  if (!repository.ok) throw new CommandEnd(exitCodes.environment, repository.message, repository.fix);
  for (const target of found.targets) {
    const child = view.batches
      .find((batch) => batch.id === target.batch)
      ?.children.find((other) => other.id === target.child);
    if (!child) continue;
    const { snapshot, uncaptured = [], strays = [] } = child;
    const text = snapshot === null ? null : await git.diff(repository, `${snapshot}^`, snapshot);
    if (options.json) {
      say(screen, true, '', {
        type: 'child',
        batch: target.batch,
        id: child.id,
        snapshot,
        diff: text,
        uncaptured,
        strays,
      });
      continue;
    }
    if (text === null) complain(`${child.id} has no snapshot yet`);
    // A file or a pipe gets the patch as it is; what an agent wrote must not steer a terminal.
    else if (screen.isTTY) screen.write(text);
    else screen.raw(text);
    for (const line of notInDiff(child)) complain(line);
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
      `"${plainLine(name, 100)}" is a batch of ${found.targets.length} children; name one of them.`,
    );
  return { batch: target.batch, child };
}
