import { join } from 'node:path';
import { createGit } from '../../supervisor/node/git/index.js';
import { lookAtFolder } from '../../supervisor/node/look.js';
import { examineAgents } from '../doctor/agents.js';
import type { Finding } from '../doctor/finding.js';
import { examineProcesses, examineWorktrees } from '../doctor/leftovers.js';
import { examineState } from '../doctor/state.js';
import { packageVersion } from '../environment.js';
import { exitCodes } from '../exitCodes.js';
import { cleanJson } from '../output/clean.js';
import type { Screen } from '../output/reporter.js';

export interface DoctorOptions {
  readonly json: boolean;
  /** Mend what can be mended with nothing lost. */
  readonly fix: boolean;
}

/** `swarm doctor`: what is here, what is missing, what to do. 3 where something must be mended first. */
export async function doctor(folder: string, options: DoctorOptions, screen: Screen): Promise<number> {
  let findings = await examine(folder);
  const mended = options.fix ? await mendAll(findings) : [];
  if (mended.length > 0) findings = await examine(folder);
  if (options.json) {
    const shown = findings.map(({ topic, level, text, fix, mend }) => ({
      topic,
      level,
      text,
      fix,
      mendable: mend !== undefined,
    }));
    screen.write(cleanJson({ findings: shown, ...(options.fix ? { mended } : {}) }, 2) + '\n');
  } else {
    for (const text of mended) screen.write(`fixed ${text}\n`);
    for (const { level, topic, text, fix } of findings)
      screen.write(
        `${{ good: 'ok  ', note: 'note', bad: 'BAD ' }[level]}  ${topic.padEnd(8)}  ${text}${fix ? `\n${' '.repeat(16)}${fix}` : ''}\n`,
      );
  }
  return findings.some((finding) => finding.level === 'bad') ? exitCodes.environment : exitCodes.done;
}

async function examine(folder: string): Promise<readonly Finding[]> {
  return [...(await examineRepository(folder)), ...(await examineAgents(folder))];
}

async function examineRepository(folder: string): Promise<readonly Finding[]> {
  const git = createGit();
  const repository = await git.inspect(folder);
  if (!repository.ok) return [{ topic: 'git', level: 'bad', text: repository.message, fix: repository.fix }];
  const { topLevel, gitVersion, midOperation } = repository;
  const view = await lookAtFolder(join(topLevel, '.swarm'), Date.now());
  return [
    { topic: 'git', level: 'good', text: `git ${gitVersion}, repository ${topLevel}`, fix: '' },
    ...(midOperation
      ? [
          {
            topic: 'git',
            level: 'note',
            text: `A ${midOperation} is under way in your tree.`,
            fix: 'Finish it before you apply work.',
          } as const,
        ]
      : []),
    ...(await examineState(topLevel, view, await packageVersion())),
    ...(await examineProcesses(topLevel, view)),
    ...(await examineWorktrees(git, repository, view)),
  ];
}

/** One after the other; several findings may have the same cure. */
async function mendAll(findings: readonly Finding[]): Promise<readonly string[]> {
  const done: string[] = [];
  const cures = new Set(findings.flatMap(({ mend }) => (mend === undefined ? [] : [mend])));
  for (const cure of cures) done.push(...(await cure()));
  return done;
}
