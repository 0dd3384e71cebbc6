import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createDemoWorkspace } from '../../supervisor/demo/workspace.js';
import { CommandEnd, dist, open } from '../environment.js';
import { superviseWithChaos } from '../demo/chaos.js';
import { follow } from '../follow.js';
import { exitCodes } from '../exitCodes.js';
import type { Screen } from '../output/reporter.js';
import { say } from '../output/say.js';
import { whatBecame } from './apply.js';
import { tellErrors } from './run.js';

export interface DemoOptions {
  readonly verbose: boolean;
  readonly json: boolean;
  readonly apply: boolean;
  /** Kills the supervisor and agents, and refuses answers, at random by this number; null: does not. */
  readonly chaos: number | null;
}

/**
 * `swarm demo`: a small repository in a temporary folder, four pretend agents, a limit, its reset, and the work
 * applied in the end with the type check green.
 */
export async function demo(options: DemoOptions, screen: Screen): Promise<number> {
  const workspace = await createDemoWorkspace(typescriptFolders());
  const tell = (text: string): void => say(screen, options.json, text);
  if (options.chaos !== null) {
    const code = await superviseWithChaos({
      workspace,
      seed: options.chaos,
      say: tell,
      reader: screen.reader,
    });
    return code !== 0 || !options.apply ? code : applyAll(workspace.folder, options, tell);
  }
  tell(
    `A small shop in ${workspace.folder}. Four pretend agents work on it; their account meets a limit and resets after 20 s.`,
  );
  const supervisor = await open({ folder: workspace.folder, verbose: options.verbose, json: options.json });
  const answer = await supervisor.request({
    type: 'launch',
    manifest: {
      kind: 'yaml',
      text: await readFile(workspace.manifest, 'utf8'),
      name: 'demo.swarm.yaml',
      path: workspace.manifest,
    },
    consent: true,
  });
  if (!answer.ok) {
    tellErrors(answer.errors, 'demo.swarm.yaml', options.json, screen);
    return answer.code;
  }
  const ids = new Set(answer.batch === undefined ? [] : [answer.batch]);
  const code = await follow({ supervisor, ids, json: options.json, wait: true, screen });
  if (code !== 0 || !options.apply) return code;
  return applyAll(workspace.folder, options, tell);
}

async function applyAll(folder: string, options: DemoOptions, tell: (text: string) => void): Promise<number> {
  const supervisor = await open({ folder, verbose: options.verbose, json: options.json, passive: true });
  const targets = supervisor
    .view()
    .batches.flatMap((batch) => batch.children.map((child) => ({ batch: batch.id, child: child.id })));
  const answer = await supervisor.request({ type: 'apply', targets });
  await supervisor.settled();
  const children = supervisor
    .view()
    .batches.flatMap((batch) => batch.children.map((child) => ({ batch: batch.id, child })));
  await supervisor.close({ stopAgents: false });
  if (!answer.ok) throw new CommandEnd(answer.code, answer.errors.map((error) => error.message).join('\n'));
  const left = children.filter(({ child }) => child.apply?.state !== 'applied');
  for (const { batch, child } of left) tell(whatBecame(batch, child));
  const applied = children.length - left.length;
  tell(`${applied} of ${children.length} applied to ${folder}; the check was run on the merged tree first.`);
  return left.length === 0 ? exitCodes.done : exitCodes.failed;
}

/** Where a TypeScript package may lie: beside us, as in a checkout, or where the variable says. */
function typescriptFolders(): readonly string[] {
  const folders = process.env['SWARM_DEMO_TYPESCRIPT'] ? [process.env['SWARM_DEMO_TYPESCRIPT']] : [];
  try {
    folders.push(dirname(dirname(createRequire(join(dist, 'cli.js')).resolve('typescript'))));
  } catch {
    // Not installed here: the demo runs without a type check.
  }
  return folders;
}
