import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { View } from '../../protocol/view.js';
import { diskUse } from '../../supervisor/node/diskUse.js';
import { examineStore, mendStore, openStore, type StoreFinding } from '../../supervisor/node/store/index.js';
import { megabytes } from '../output/size.js';
import type { Finding } from './finding.js';

/** The folder `.swarm`: who has it, what is damaged or left over in it, what it takes. */
export async function examineState(
  topLevel: string,
  view: View,
  version: string,
): Promise<readonly Finding[]> {
  const swarm = join(topLevel, '.swarm');
  const findings: Finding[] = [];
  const mend =
    view.owner === null
      ? () => mendStore(swarm, (folder) => openStore(folder, { create: false, version }))
      : undefined;
  const mending = mend === undefined ? {} : { mend };
  for (const { path, message } of view.problems)
    findings.push({
      topic: 'state',
      level: 'note',
      text: `${path}: ${message}`,
      fix: 'What is sound is used; --fix sets the rest aside in .swarm/corrupt.',
      ...mending,
    });
  if (view.owner !== null)
    findings.push({
      topic: 'state',
      level: 'good',
      text: `Supervised by process ${view.owner.pid} on ${view.owner.host}.`,
      fix: '',
    });
  const told = new Set(view.problems.map(({ path }) => path));
  const found = (await examineStore(swarm)).filter(({ path }) => !told.has(path));
  for (const one of merged(found))
    findings.push({
      topic: 'state',
      level: one.kind === 'link' ? 'bad' : 'note',
      text: one.text,
      fix: fixOf(one.kind),
      ...(isMendable(one.kind) ? mending : {}),
    });
  findings.push(...(await diskFindings(topLevel, swarm)));
  return findings;
}

interface Merged {
  readonly kind: StoreFinding['kind'];
  readonly text: string;
}

/** Many of one kind are one finding. */
function merged(found: readonly StoreFinding[]): readonly Merged[] {
  return [...new Set(found.map(({ kind }) => kind))].map((kind) => {
    const same = found.filter((one) => one.kind === kind);
    const [first] = same;
    if (first === undefined) return { kind, text: '' };
    const bytes = same.reduce((sum, one) => sum + one.bytes, 0);
    const more =
      same.length === 1
        ? ''
        : ` So are ${same.length - 1} more${bytes > 0 ? ` (${megabytes(bytes)} in all)` : ''}.`;
    return { kind, text: `${first.path} ${first.message}${more}` };
  });
}

function isMendable(kind: StoreFinding['kind']): boolean {
  return kind === 'staleLock' || kind === 'temporary' || kind === 'damaged' || kind === 'open';
}

function fixOf(kind: StoreFinding['kind']): string {
  switch (kind) {
    case 'staleLock':
      return 'The next window or "swarm supervise" replaces it by itself; --fix does it now.';
    case 'temporary':
      return '--fix removes it.';
    case 'damaged':
      return 'It can be rebuilt from the journal; --fix sets it aside in .swarm/corrupt.';
    case 'open':
      return '--fix makes it yours alone.';
    case 'setAside':
      return 'Remove it when you do not need it any more.';
    case 'foreign':
      return 'Move it elsewhere.';
    case 'link':
      return 'Remove the link: nothing is written through one.';
    default:
      return kind satisfies never;
  }
}

/** Less than this is soon too little for a batch. */
const little = 1_000_000_000;

async function diskFindings(topLevel: string, swarm: string): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const [own, worktrees] = await Promise.all([diskUse(swarm), diskUse(`${topLevel}.worktrees`)]);
  if (own + worktrees > 0)
    findings.push({
      topic: 'disk',
      level: 'good',
      text: `.swarm takes ${megabytes(own)}, the worktrees ${megabytes(worktrees)}.`,
      fix: worktrees > little ? '"swarm clean" removes worktrees whose work is applied or saved.' : '',
    });
  const space = await statfs(topLevel).catch(() => null);
  const free = space === null ? Infinity : space.bavail * space.bsize;
  if (free < little)
    findings.push({
      topic: 'disk',
      level: 'note',
      text: `Only ${megabytes(free)} are free on this disk.`,
      fix: 'Free some space: when it is full, all children pause until there is some.',
    });
  return findings;
}
