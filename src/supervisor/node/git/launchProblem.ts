import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Refusal, Repository } from '../../ports/git.js';
import { resolveProgram } from '../processes/resolve.js';
import { refuse } from './inspect.js';
import type { GitRunner } from './runner.js';

/**
 * Why worktrees of this repository would not hold its files: a filter that its attributes name and that git does not
 * know, or whose program is missing; submodules that nothing fills. Told before a launch, so that no child begins with
 * pointers or empty folders in place of files.
 */
export async function launchProblem(
  runner: GitRunner,
  repository: Repository,
  options: { readonly setup: boolean },
): Promise<Refusal | null> {
  const filled = options.setup ? [] : repository.submodules.filter((folder) => isFilled(repository, folder));
  if (filled.length > 0)
    return refuse(
      'submodules',
      `This repository has submodules (${filled.slice(0, 3).join(', ')}${filled.length > 3 ? ', …' : ''}), and git leaves their folders empty in worktrees.`,
      'Set swarm.worktrees.setup to what fills them, such as ["git", "submodule", "update", "--init"], or launch with isolation: shared.',
    );
  for (const name of repository.filters) {
    const [process, smudge, required] = await Promise.all(
      ['process', 'smudge', 'required'].map((key) => setting(runner, repository, `filter.${name}.${key}`)),
    );
    const command = process || smudge;
    if (command === undefined || command === '') {
      // A filter that is not set up does nothing, in the user's tree as in any other; with LFS that means pointers.
      if (name === 'lfs')
        return refuse(
          'filterMissing',
          'This repository keeps files with Git LFS, and git has no filter for it: worktrees would hold pointers instead of the files.',
          'Run: git lfs install && git lfs pull',
        );
      continue;
    }
    const program = /^\S+/.exec(command)?.[0] ?? command;
    const found = await resolveProgram(program, runner.environment['PATH'], repository.topLevel);
    if (!found.ok && required === 'true')
      return refuse(
        'filterMissing',
        `The filter "${name}" of this repository needs ${program}, which was not found: worktrees could not be checked out.`,
        `Install ${program}, then launch again.`,
      );
  }
  return null;
}

/** One that is empty in the user's tree too is missed by nobody. */
function isFilled(repository: Repository, folder: string): boolean {
  return existsSync(path.join(repository.topLevel, folder, '.git'));
}

async function setting(runner: GitRunner, repository: Repository, name: string): Promise<string> {
  const found = await runner.run(repository.topLevel, ['config', '--get', name], { expect: [0, 1] });
  return found.stdout.toString().trim();
}
