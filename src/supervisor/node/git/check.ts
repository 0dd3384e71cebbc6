import { access } from 'node:fs/promises';
import path from 'node:path';
import type { CheckCommand, CheckOutcome, CheckRequest, Repository } from '../../ports/git.js';
import { captureUserTree } from './capture.js';
import { runCommand } from './command.js';
import { mergeTrees } from './merge.js';
import type { GitRunner } from './runner.js';
import { withScratch } from './scratch.js';
import { treeOf } from './snapshot.js';
import { withTools } from './tools.js';

type OnOutput = CheckRequest['onOutput'];
type CheckError = CheckOutcome['errors'][number];

/** More errors than this help nobody. */
const mostErrors = 1000;

/** Runs the check on the user's tree as it is, or on a scratch tree of base + children. */
export async function runCheck(
  runner: GitRunner,
  repository: Repository,
  request: CheckRequest,
): Promise<CheckOutcome> {
  const { on, check, onOutput } = request;
  switch (on.kind) {
    case 'tree': {
      const [outcome, { tree }] = await Promise.all([
        checkIn(runner, repository.topLevel, check, '', onOutput),
        captureUserTree(runner, repository),
      ]);
      return { ...outcome, tree };
    }
    case 'scratch': {
      const folder = repository.topLevel;
      let tree = await treeOf(runner, folder, on.children[0]?.base ?? 'HEAD');
      for (const child of on.children) {
        const merge = await mergeTrees(
          runner,
          folder,
          child.base,
          tree,
          await treeOf(runner, folder, child.commit),
        );
        if (merge.conflicts.length > 0)
          return notRun(`${child.id} conflicts with the others in ${merge.conflicts.join(', ')}`, tree);
        tree = merge.tree;
      }
      return checkTree(runner, repository, on.folder, tree, check, onOutput);
    }
    default:
      return on satisfies never;
  }
}

/** Runs the check on `tree` in the scratch folder. */
export async function checkTree(
  runner: GitRunner,
  repository: Repository,
  scratch: string,
  tree: string,
  check: CheckCommand,
  onOutput: OnOutput,
): Promise<CheckOutcome> {
  const outcome = await withScratch(runner, repository, scratch, async (moveTo) => {
    await moveTo(tree);
    return checkIn(runner, scratch, check, tree, onOutput);
  });
  return 'ok' in outcome ? notRun(`${outcome.message} ${outcome.fix}`, tree) : outcome;
}

/** The check that a repository has without being told: the type check of a TypeScript project; null for none. */
export async function defaultCheck(topLevel: string): Promise<CheckCommand | null> {
  const there = (file: string): Promise<boolean> =>
    access(path.join(topLevel, file)).then(
      () => true,
      () => false,
    );
  if (!(await there('tsconfig.json'))) return null;
  const command = (await there('node_modules/.bin/tsc'))
    ? ['tsc', '--noEmit', '--pretty', 'false']
    : ['npx', '--no-install', 'tsc', '--noEmit', '--pretty', 'false'];
  return { command, folder: '.' };
}

/** Errors in a check's output, as tsc and most compilers and linters write them; paths relative to the top. */
export function parseErrors(output: string, top: string, folder: string): readonly CheckError[] {
  const errors: CheckError[] = [];
  for (const line of output.replace(/\u001b\[[0-9;]*m/g, '').split(/\r?\n/)) {
    const match =
      /^(?<path>[^\s(].*?)\((?<line>\d+),(?<column>\d+)\): error (?<message>.+)$/.exec(line) ??
      /^(?<path>[^\s:][^:]*):(?<line>\d+):(?<column>\d+) - error (?<message>.+)$/.exec(line) ??
      /^(?<path>[^\s:][^:]*):(?<line>\d+):(?<column>\d+): (?<message>.+)$/.exec(line);
    const groups = match?.groups;
    if (groups === undefined) continue;
    errors.push({
      path: relativePath(groups['path'] ?? '', top, folder),
      line: Number(groups['line']),
      column: Number(groups['column']),
      message: groups['message'] ?? '',
    });
    if (errors.length === mostErrors) break;
  }
  return errors;
}

async function checkIn(
  runner: GitRunner,
  top: string,
  check: CheckCommand,
  tree: string,
  onOutput: OnOutput,
): Promise<CheckOutcome> {
  const folder = path.join(top, check.folder);
  const environment = withTools(runner.environment, top, folder);
  const result = await runCommand(check.command, folder, environment, onOutput);
  return {
    exitCode: result.exitCode,
    output: result.output,
    tree,
    errors: parseErrors(result.output, top, check.folder),
    milliseconds: result.milliseconds,
    ...(result.notRun === null ? {} : { notRun: result.notRun }),
  };
}

function notRun(reason: string, tree: string): CheckOutcome {
  return { exitCode: 125, output: reason, tree, errors: [], milliseconds: 0, notRun: reason };
}

function relativePath(file: string, top: string, folder: string): string {
  const absolute = path.resolve(top, folder, file);
  const inside = path.relative(top, absolute);
  return (inside.startsWith('..') ? file : inside).split(path.sep).join('/');
}
