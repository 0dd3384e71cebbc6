import { join } from 'node:path';
import { attemptPlace } from '../../protocol/places.js';
import type { ChildView, View } from '../../protocol/view.js';
import { readText } from '../../supervisor/effects/files.js';
import { isStale } from '../../supervisor/node/git/locks.js';
import { createProcesses } from '../../supervisor/node/processes/index.js';
import type { Git, Repository } from '../../supervisor/ports.js';
import { megabytes } from '../output/size.js';
import type { Finding } from './finding.js';

/** Worktrees and locks that a killed process has left in the repository. */
export async function examineWorktrees(
  git: Git,
  repository: Repository,
  view: View,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const owned = view.owner !== null;
  const known = childrenOf(view).flatMap(({ child }) => (child.worktree === null ? [] : [child.worktree]));
  for (const left of await git.leftovers(repository, known)) {
    const text = `${left.path} belongs to no batch (${megabytes(left.bytes)}${left.unsaved ? ', with edits that are saved nowhere' : ''}).`;
    findings.push(
      left.unsaved
        ? {
            topic: 'worktree',
            level: 'note',
            text,
            fix: 'Look at it, then remove it by "git worktree remove --force --force".',
          }
        : {
            topic: 'worktree',
            level: 'note',
            text,
            fix: owned ? '"swarm clean" removes it.' : '--fix removes it: all it holds is saved.',
            ...(owned ? {} : { mend: () => removeLeftover(git, repository, left.path) }),
          },
    );
  }
  const stale = await git.staleLocks(repository);
  if (stale.length > 0)
    findings.push({
      topic: 'git',
      level: 'note',
      text: `${stale.join(', ')}: left by a git that was killed; while it stays nothing can be saved there, or git keeps for ever what nobody needs.`,
      fix: 'The next owner removes it; --fix does it now.',
      mend: async () => (await git.clearStaleLocks(repository)).map((file) => `${file}: removed.`),
    });
  for (const name of ['index.lock', 'packed-refs.lock'])
    if (await isStale(join(name === 'index.lock' ? repository.gitDir : repository.commonDir, name)))
      findings.push({
        topic: 'git',
        level: 'note',
        text: `${name} in ${repository.commonDir} was left by a git that ended early.`,
        fix: 'If no git runs in this repository, remove it. It is yours, so it is not removed for you.',
      });
  return findings;
}

/** Agents that live on although nobody expects anything of them any more. */
export async function examineProcesses(topLevel: string, view: View): Promise<readonly Finding[]> {
  const processes = createProcesses();
  const nonces = new Map<string, { readonly key: string; readonly folder: string; readonly live: boolean }>();
  for (const { batch, child } of childrenOf(view))
    for (let attempt = 1; attempt <= child.attempts; attempt++) {
      const folder = join(topLevel, '.swarm', attemptPlace(batch, child.id, attempt));
      const text = await readText(join(folder, 'command.json'), 64 * 1024);
      const nonce = text === null ? undefined : /"nonce": "([0-9a-f]+)"/.exec(text)?.[1];
      const live = attempt === child.attempts && busy.includes(child.phase);
      if (nonce !== undefined) nonces.set(nonce, { key: `${batch}/${child.id}`, folder, live });
    }
  const alive = await processes.survivors([...nonces.keys()]);
  const findings: Finding[] = [];
  for (const [nonce, { key, folder, live }] of nonces) {
    const pids = alive.filter((one) => one.nonce === nonce).map(({ pid }) => pid);
    if (pids.length === 0) continue;
    if (live) {
      if (view.owner === null)
        findings.push({
          topic: 'process',
          level: 'note',
          text: `The agent of ${key} works on by itself (process ${pids.join(', ')}).`,
          fix: '"swarm supervise" takes it up.',
        });
      continue;
    }
    findings.push({
      topic: 'process',
      level: 'note',
      text: `Processes of an attempt of ${key} that is over still run: ${pids.join(', ')}.`,
      fix: '--fix stops them.',
      mend: async () => {
        const found = await processes.find(folder);
        const process = found.kind === 'alive' ? found.process : { pid: pids[0] ?? 0, startTime: '', nonce };
        return [`${await processes.kill(process)} left-over processes of ${key} were stopped.`];
      },
    });
  }
  return findings;
}

const busy: readonly string[] = ['preparing', 'running', 'parking', 'stopping'];

function childrenOf(view: View): readonly { readonly batch: string; readonly child: ChildView }[] {
  return view.batches.flatMap((batch) => batch.children.map((child) => ({ batch: batch.id, child })));
}

async function removeLeftover(git: Git, repository: Repository, path: string): Promise<readonly string[]> {
  const result = await git.removeLeftover(repository, path);
  return [result.ok ? `${path}: removed.` : `${path}: kept. ${result.message}`];
}
