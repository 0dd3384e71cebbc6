import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { adapters } from '../../supervisor/agents/index.js';
import { createGit } from '../../supervisor/node/git/index.js';
import { lookAtFolder } from '../../supervisor/node/look.js';
import { createProcesses } from '../../supervisor/node/processes/index.js';
import { exitCodes } from '../exitCodes.js';
import type { Screen } from '../output/reporter.js';

export interface Finding {
  readonly topic: 'git' | 'agent' | 'state' | 'worktree' | 'node';
  readonly level: 'good' | 'note' | 'bad';
  readonly text: string;
  /** What to do; empty where nothing is. */
  readonly fix: string;
}

/** `swarm doctor`: what is here, what is missing, what to do. 3 where something must be mended first. */
export async function doctor(
  folder: string,
  options: { readonly json: boolean },
  screen: Screen,
): Promise<number> {
  const findings = [...(await examineRepository(folder)), ...(await examineAgents(folder))];
  if (options.json) screen.write(JSON.stringify({ findings }, null, 2) + '\n');
  else
    for (const { level, topic, text, fix } of findings)
      screen.write(
        `${{ good: 'ok  ', note: 'note', bad: 'BAD ' }[level]}  ${topic.padEnd(8)}  ${text}${fix ? `\n${' '.repeat(16)}${fix}` : ''}\n`,
      );
  return findings.some((finding) => finding.level === 'bad') ? exitCodes.environment : exitCodes.done;
}

async function examineRepository(folder: string): Promise<readonly Finding[]> {
  const git = createGit();
  const repository = await git.inspect(folder);
  if (!repository.ok) return [{ topic: 'git', level: 'bad', text: repository.message, fix: repository.fix }];
  const findings: Finding[] = [
    {
      topic: 'git',
      level: 'good',
      text: `git ${repository.gitVersion}, repository ${repository.topLevel}`,
      fix: '',
    },
  ];
  if (repository.midOperation)
    findings.push({
      topic: 'git',
      level: 'note',
      text: `A ${repository.midOperation} is under way in your tree.`,
      fix: 'Finish it before you apply work.',
    });
  const view = await lookAtFolder(join(repository.topLevel, '.swarm'), Date.now());
  for (const problem of view.problems)
    findings.push({ topic: 'state', level: 'note', text: `${problem.path}: ${problem.message}`, fix: '' });
  if (view.owner)
    findings.push({
      topic: 'state',
      level: 'good',
      text: `Supervised by process ${view.owner.pid} on ${view.owner.host}.`,
      fix: '',
    });
  const known = view.batches.flatMap((batch) =>
    batch.children.flatMap((child) => (child.worktree === null ? [] : [child.worktree])),
  );
  for (const left of await git.leftovers(repository, known)) {
    findings.push({
      topic: 'worktree',
      level: 'note',
      text: `${left.path} belongs to no batch (${(left.bytes / 1_000_000).toFixed(1)} MB${left.unsaved ? ', with unsaved changes' : ''}).`,
      fix: left.unsaved
        ? 'Look at it, then remove it by "git worktree remove".'
        : '"git worktree remove" removes it.',
    });
  }
  return findings;
}

async function examineAgents(folder: string): Promise<readonly Finding[]> {
  const processes = createProcesses();
  const findings: Finding[] = [];
  for (const adapter of Object.values(adapters)) {
    if (adapter.programs.length === 0) continue;
    const found = (
      await Promise.all(
        adapter.programs.map((program) => processes.resolve(program, process.env['PATH'], folder)),
      )
    ).find((one) => one.ok);
    if (!found?.ok) {
      findings.push({
        topic: 'agent',
        level: 'note',
        text: `${adapter.name}: not found (looked on PATH for ${adapter.programs.join(', ')})`,
        fix: '',
      });
      continue;
    }
    const signedIn = await someExists(adapter.credentialFiles);
    findings.push({
      topic: 'agent',
      level: 'good',
      text: `${adapter.name}: ${found.file}${adapter.credentialFiles.length === 0 ? '' : signedIn ? ', a sign-in is there' : ', no sign-in found'}`,
      fix: signedIn || adapter.signIn === null ? '' : `Sign in: ${adapter.signIn.join(' ')}`,
    });
  }
  if (!findings.some((finding) => finding.level === 'good'))
    findings.push({
      topic: 'agent',
      level: 'note',
      text: 'No agent was found; the demo works without one.',
      fix: 'swarm demo',
    });
  return findings;
}

async function someExists(files: readonly string[]): Promise<boolean> {
  for (const file of files) {
    const there = await access(file.replace(/^~(?=\/)/, homedir())).then(
      () => true,
      () => false,
    );
    if (there) return true;
  }
  return false;
}
