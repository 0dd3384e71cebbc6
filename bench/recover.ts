import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fillFolder, naiveRestart, restart } from './recover/restart.js';
import { naiveSteady, steady } from './recover/steady.js';
import { talk } from './recover/talkers.js';

/**
 * Restart of a folder with 1,000 children and 100,000 events, and 100 children that talk without a pause, each beside
 * the naive way. `npm run bench:recover -- --seconds 20`; ten minutes without it, for the memory. Ends with 1 where a
 * goal is missed.
 */
/** The naive way reads its logs anew each time, which grow: longer it would only be slower. */
const naiveFor = 20;
const goals = { firstViewMs: 1000, cpuPercent: 15, p95Ms: 250, growthMb: 60 };

const [role = '', ...args] = process.argv.slice(2);
const [repository = '', root = '', seconds = '600'] = args;
switch (role) {
  case 'talk':
    talk();
    break;
  case 'fill':
    await fillFolder(repository);
    break;
  case 'restart':
    await restart(repository, root, 'none');
    break;
  case 'older':
    await restart(repository, root, 'newest');
    break;
  case 'replay':
    await restart(repository, root, 'all');
    break;
  case 'naiveRestart':
    naiveRestart(root);
    break;
  case 'steady':
    await steady(repository, root, Number(seconds));
    break;
  case 'naiveSteady':
    await naiveSteady(root, Math.min(Number(seconds), naiveFor));
    break;
  default:
    process.exitCode = runAll();
}

function runAll(): number {
  const at = process.argv.indexOf('--seconds');
  const span = Number(at < 0 ? 600 : process.argv[at + 1]);
  const results: Record<string, Record<string, number>> = {};
  const part = (name: string, folder: string, parent: string): void => {
    const ended = spawnSync(process.execPath, [process.argv[1] ?? '', name, folder, parent, String(span)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const line = ended.stdout.trim().split('\n').at(-1) ?? '';
    if (line === '') return;
    process.stdout.write(`${line}\n`);
    results[name] = JSON.parse(line) as Record<string, number>;
  };
  for (const names of [
    ['fill', 'restart'],
    ['fill', 'older'],
    ['fill', 'replay', 'naiveRestart'],
    ['steady', 'naiveSteady'],
  ]) {
    const parent = fs.mkdtempSync(path.join(os.tmpdir(), 'swarm-bench-recover-'));
    const folder = path.join(parent, 'repository');
    fs.mkdirSync(folder);
    const git = (...words: string[]): void =>
      void execFileSync('git', ['-c', 'user.name=B', '-c', 'user.email=b@example.invalid', ...words], {
        cwd: folder,
      });
    git('init', '-q');
    fs.writeFileSync(path.join(folder, 'README.md'), 'hello\n');
    git('add', '-A');
    git('commit', '-q', '-m', 'start');
    try {
      for (const name of names) part(name, folder, parent);
    } finally {
      fs.rmSync(parent, { recursive: true, force: true, maxRetries: 3 });
    }
  }
  const missed: string[] = [];
  const within = (name: string, value: number | undefined, goal: number): void => {
    if (value === undefined || value > goal) missed.push(`${name} ${value ?? 'was not measured'} > ${goal}`);
  };
  within('restart: first view, ms', results['restart']?.['firstViewMs'], goals.firstViewMs);
  within(
    'restart, newest snapshot lost: first view, ms',
    results['older']?.['firstViewMs'],
    goals.firstViewMs,
  );
  within('steady: CPU, %', results['steady']?.['cpuPercent'], goals.cpuPercent);
  within('steady: line to view p95, ms', results['steady']?.['p95Ms'], goals.p95Ms);
  within('steady: growth of memory, MB', results['steady']?.['growthMb'], goals.growthMb);
  process.stdout.write(`${missed.length === 0 ? 'all goals met' : `missed: ${missed.join('; ')}`}\n`);
  return missed.length === 0 ? 0 : 1;
}
