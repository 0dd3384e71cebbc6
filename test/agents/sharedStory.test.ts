import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { agentPrograms } from '../../scripts/agents.mjs';
import type { ChildView } from '../../src/protocol/view.js';
import type { Run } from './batchStage.js';
import type { RealAgent } from './profiles.js';
import { sharedStage, type Editing, type SharedStage } from './sharedStage.js';

let stage: SharedStage | null = null;

beforeAll(agentPrograms);

afterEach(async (context) => {
  if (stage !== null && context.task.result?.state === 'fail') keep(stage, context.task.name);
  await stage?.close();
  stage = null;
});

/** Kimi goes on fresh: it refuses its session in another folder. */
const agents: readonly RealAgent[] = ['claude', 'codex', 'kimi'];
const ways: readonly Editing[] = ['tool', 'sed'];

describe.each(agents)('six children of %s in one tree', (agent) => {
  it.each(ways)(
    'four stopped in the middle of an edit (%s) leave a green tree, go on in their worktrees, and all six are applied',
    async (editing) => {
      stage = await sharedStage(agent, editing);
      const { provider, repository, stopped, finishing } = stage;
      const head = git('rev-parse', 'HEAD');
      provider.hold();
      const run = stage.swarm('run', '<manifest>', '--json');
      // Nobody goes on before the four have made their first call: then all of them meet the limit with the second.
      const firstCalls = () =>
        new Set(provider.log.filter(({ main, refused }) => main && !refused).map(({ task }) => task)).size;
      await until(run, () => firstCalls() === 6);
      provider.release();

      await until(run, () => stopped.every((name) => pausedAt(run, name) !== null));
      const last = Math.max(...stopped.map((name) => pausedAt(run, name) ?? 0));
      await wait(Math.max(0, last + 1000 - Date.now()));
      const [startedAt, check] = [Date.now(), userCheck(repository)];
      expect([startedAt - last < 3000, check]).toEqual([true, { code: 0, output: '' }]);
      expect(readFileSync(path.join(repository, 'src/alpha.ts'), 'utf8')).toBe(
        "export const alpha: string = 'old';\n",
      );
      expect(existsSync(path.join(repository, 'src/alphaNew.ts'))).toBe(false);
      const shown = new Map(childrenOf(stage).map((child) => [child.id, child]));
      for (const name of stopped)
        expect([name, shown.get(name)?.quarantine]).toMatchObject([name, { moved: 1, left: 0 }]);

      expect([await run.ended, run.output.stderr]).toEqual([0, '']);
      expect(userCheck(repository)).toEqual({ code: 0, output: '' });
      for (const child of childrenOf(stage)) {
        const moved = stopped.includes(child.id);
        expect([child.id, child.status, child.attempts]).toEqual([child.id, 'done', moved ? 2 : 1]);
        if (moved) expect(child.worktree).not.toBe(repository);
      }

      const apply = stage.swarm('apply', '--all');
      expect([await apply.ended, apply.output]).toMatchObject([0, { stderr: '' }]);
      expect(childrenOf(stage).map((child) => [child.id, child.apply?.state])).toEqual(
        [...stopped, ...finishing].map((name) => [name, 'applied']),
      );
      for (const name of stopped) {
        const [file, text] =
          editing === 'sed'
            ? [`src/${name}.ts`, `export const ${name}New: string = 'old';\n`]
            : [`src/${name}New.ts`, `export const ${name}New: string = 'new';\n`];
        expect(readFileSync(path.join(repository, file), 'utf8')).toBe(text);
      }
      for (const name of finishing)
        expect(readFileSync(path.join(repository, 'src', `${name}.ts`), 'utf8')).toContain("'made'");
      expect(userCheck(repository)).toEqual({ code: 0, output: '' });
      expect([git('rev-parse', 'HEAD'), git('stash', 'list'), git('diff', '--cached', '--stat')]).toEqual([
        head,
        '',
        '',
      ]);
    },
  );
});

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: stage?.repository, encoding: 'utf8' });
}

/** What the user types in a terminal of theirs. */
function userCheck(repository: string): { readonly code: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync('npx', ['tsc', '--noEmit'], {
    cwd: repository,
    encoding: 'utf8',
  });
  return { code: status, output: stdout + stderr };
}

/** When the run said that the child is paused; null while it has not. */
function pausedAt(run: Run, id: string): number | null {
  for (const line of run.output.stdout.split('\n')) {
    if (!line.includes(`"${id}"`) || !line.includes('"status":"paused"')) continue;
    const said = JSON.parse(line) as { readonly t: string; readonly id?: string };
    if (said.id === id) return Date.parse(said.t);
  }
  return null;
}

function childrenOf(of: SharedStage): readonly ChildView[] {
  return of.status().batches.flatMap((batch) => batch.children);
}

async function until(run: Run, condition: () => boolean): Promise<void> {
  let over = false;
  void run.ended.then(() => (over = true));
  while (!condition()) {
    if (over) throw new Error(`it has ended before\n${run.output.stdout}\n${run.output.stderr}`);
    await wait(20);
  }
}

function keep(of: SharedStage, name: string): void {
  const folder = path.resolve('artifacts', 'stories', name.replace(/\W+/g, '-'));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  if (existsSync(path.join(of.repository, '.swarm')))
    cpSync(path.join(of.repository, '.swarm'), path.join(folder, 'swarm'), { recursive: true });
  writeFileSync(path.join(folder, 'provider.json'), JSON.stringify(of.provider.log, null, 1));
}
