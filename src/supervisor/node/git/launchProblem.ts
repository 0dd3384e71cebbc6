import type { Refusal, Repository } from '../../ports/git.js';
import { resolveProgram } from '../processes/resolve.js';
import { refuse } from './inspect.js';
import type { GitRunner } from './runner.js';

/**
 * Why worktrees of this repository would not hold its files: a filter that its attributes name and that git does not
 * know, or whose program is missing. Told before a launch, so that no child begins with pointers in place of files.
 */
export async function launchProblem(runner: GitRunner, repository: Repository): Promise<Refusal | null> {
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

async function setting(runner: GitRunner, repository: Repository, name: string): Promise<string> {
  const found = await runner.run(repository.topLevel, ['config', '--get', name], { expect: [0, 1] });
  return found.stdout.toString().trim();
}
