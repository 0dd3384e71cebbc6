import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { adapters } from '../../supervisor/agents/index.js';
import { createProcesses } from '../../supervisor/node/processes/index.js';
import type { Finding } from './finding.js';

/** Which agents are installed, and whether a sign-in of theirs is there. */
export async function examineAgents(folder: string): Promise<readonly Finding[]> {
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
