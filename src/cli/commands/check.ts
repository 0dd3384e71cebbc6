import { relative } from 'node:path';
import { createGit } from '../../supervisor/node/git/index.js';
import { defaultCheck } from '../../supervisor/node/git/check.js';
import { CommandEnd, readUserSettings } from '../environment.js';
import { exitCodes } from '../exitCodes.js';

/** The check itself could not run; as in `env` and `nice`. */
const couldNotRun = 125;

/**
 * `swarm check [-- command]`: runs the check on the user's tree and passes its output and exit code through.
 * Says on stderr what was held back, and 125 if the check could not run.
 */
export async function check(folder: string, command: readonly string[]): Promise<number> {
  const git = createGit();
  const repository = await git.inspect(folder);
  if (!repository.ok) return refuse(repository.message, repository.fix);
  const given = command.length > 0 ? command : (await readUserSettings()).check;
  const wanted = given
    ? { command: given, folder: relative(repository.topLevel, folder) }
    : await defaultCheck(repository.topLevel);
  if (!wanted)
    return refuse(
      'No check is known for this repository.',
      'Name one: swarm check -- npm test, or set swarm.check.command.',
    );
  let told = false;
  try {
    const outcome = await git.check(repository, {
      check: wanted,
      on: { kind: 'tree' },
      onOutput: (stream, chunk) => {
        told = true;
        (stream === 'stdout' ? process.stdout : process.stderr).write(chunk);
      },
    });
    // Without a word of the command itself it was not run; what is known stands in the outcome.
    if (outcome.exitCode === couldNotRun && !told) return refuse(outcome.output.trim(), '');
    return outcome.exitCode;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error), '');
  }
}

function refuse(message: string, fix: string): number {
  const end = new CommandEnd(exitCodes.environment, message, fix);
  process.stderr.write(`swarm: the check could not run: ${end.message}${end.fix ? `\n  ${end.fix}` : ''}\n`);
  return couldNotRun;
}
