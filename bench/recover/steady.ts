import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Supervisor } from '../../src/supervisor/api.js';
import type { Processes } from '../../src/supervisor/ports.js';
import { createProcesses } from '../../src/supervisor/node/processes/index.js';
import { startTimeOf } from '../../src/supervisor/node/processes/identity.js';
import { openSupervisor } from '../../src/supervisor/supervisor.js';
import { optionsFor } from './options.js';
import { rate } from './talkers.js';

const talkers = 100;

/** 100 children that talk without a pause, for so many seconds: what the supervisor costs, and how late it is. */
export async function steady(repository: string, root: string, seconds: number): Promise<void> {
  const generator = spawn(process.execPath, [process.argv[1] ?? '', 'talk'], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const opened = await openSupervisor({
    ...optionsFor(repository, root),
    processes: await talking(generator),
  });
  if (!opened.ok) throw new Error(opened.message);
  const { supervisor } = opened;
  const answer = await supervisor.request({ type: 'launch', manifest: manifest(), consent: true });
  if (!answer.ok) throw new Error(JSON.stringify(answer.errors));
  await running(supervisor);

  const delays: number[] = [];
  const seen = new Map<string, string>();
  const listening = supervisor.onView((view) => {
    const now = Date.now();
    for (const child of view.batches[0]?.children ?? []) {
      if (seen.get(child.id) === child.lastLine) continue;
      seen.set(child.id, child.lastLine);
      const at = /^at (\d+)/.exec(child.lastLine)?.[1];
      if (at !== undefined) delays.push(now - Number(at));
    }
  });
  // What starting cost is not what it goes on costing.
  await sleep(3000);
  delays.length = 0;
  const cpu = process.cpuUsage();
  const from = performance.now();
  let most = 0;
  const firstHalf: number[] = [];
  const memory: number[] = [];
  for (let second = 0; second < seconds; second++) {
    await sleep(1000);
    const { rss } = process.memoryUsage();
    most = Math.max(most, rss);
    (second < seconds / 2 ? firstHalf : memory).push(rss);
    if (second % 60 === 59) process.stderr.write(`${(second + 1) / 60} min: ${Math.round(rss / 1e6)} MB\n`);
  }
  const { user, system } = process.cpuUsage(cpu);
  const spent = (user + system) / 1000 / (performance.now() - from);
  listening.dispose();
  delays.sort((a, b) => a - b);
  console.log(
    JSON.stringify({
      bench: 'steady',
      ...{ children: talkers, linesPerSecond: rate, seconds },
      cpuPercent: Math.round(spent * 1000) / 10,
      p95Ms: delays[Math.floor(delays.length * 0.95)] ?? null,
      medianMs: delays[delays.length >> 1] ?? null,
      seen: delays.length,
      mostMemoryMb: Math.round(most / 1e6),
      growthMb: Math.round((Math.max(...memory) - Math.max(...firstHalf)) / 1e6),
    }),
  );
  generator.stdin.end();
  process.exit(0);
}

/** Reads each log anew each tenth of a second and writes the whole state as JSON for every child that has said something. */
export async function naiveSteady(root: string, seconds: number): Promise<void> {
  const generator = spawn(process.execPath, [process.argv[1] ?? '', 'talk'], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const folders = Array.from({ length: talkers }, (_, n) => path.join(root, 'naive', String(n)));
  for (const folder of folders) {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'stdout.log'), '');
    generator.stdin.write(`${folder}\n`);
  }
  const state: Record<string, { lines: number; last: string; recent: string[] }> = {};
  const delays: number[] = [];
  const cpu = process.cpuUsage();
  const from = performance.now();
  while (performance.now() - from < seconds * 1000) {
    for (const folder of folders) {
      const lines = fs.readFileSync(path.join(folder, 'stdout.log'), 'utf8').trim().split('\n');
      const last = lines.at(-1) ?? '';
      if (state[folder]?.lines === lines.length) continue;
      state[folder] = { lines: lines.length, last, recent: lines.slice(-50).map((line) => line) };
      for (const line of lines) if (line !== '') JSON.parse(line);
      fs.writeFileSync(path.join(root, 'naive', 'state.json'), JSON.stringify(state));
      const at = /at (\d+)/.exec(last)?.[1];
      if (at !== undefined) delays.push(Date.now() - Number(at));
    }
    await sleep(100);
  }
  const { user, system } = process.cpuUsage(cpu);
  delays.sort((a, b) => a - b);
  console.log(
    JSON.stringify({
      bench: 'steady, naive',
      seconds,
      cpuPercent: Math.round(((user + system) / 10 / (performance.now() - from)) * 10) / 10,
      p95Ms: delays[Math.floor(delays.length * 0.95)] ?? null,
      mostMemoryMb: Math.round(process.memoryUsage().rss / 1e6),
    }),
  );
  generator.stdin.end();
  process.exit(0);
}

/** Starts nothing: the generator writes the log, and stands for the process. */
async function talking(generator: ReturnType<typeof spawn>): Promise<Processes> {
  const real = createProcesses();
  const pid = generator.pid ?? 0;
  const startTime = (await startTimeOf(pid)) ?? '';
  return {
    ...real,
    start: (request) => {
      for (const name of ['stdout.log', 'stderr.log']) fs.writeFileSync(path.join(request.folder, name), '');
      generator.stdin?.write(`${request.folder}\n`);
      return Promise.resolve({ kind: 'started', process: { pid, startTime, nonce: request.nonce } });
    },
    find: () => Promise.resolve({ kind: 'alive', process: { pid, startTime, nonce: '' } }),
    ask: () => Promise.resolve(true),
    kill: () => Promise.resolve(0),
    survivors: () => Promise.resolve([]),
  };
}

function manifest() {
  const text = JSON.stringify({
    version: 1,
    name: 'talk',
    executors: { mine: { adapter: 'command', command: [process.execPath] } },
    executor: 'mine',
    maxConcurrent: talkers,
    check: null,
    tasks: Array.from({ length: talkers }, (_, n) => ({ id: `t${n}`, prompt: 'talk', files: ['README.md'] })),
  });
  return { kind: 'json', text, name: 'talk.json' } as const;
}

async function running(supervisor: Supervisor): Promise<void> {
  await new Promise<void>((resolve) => {
    supervisor.onView((view) => {
      const all = view.batches[0]?.children ?? [];
      if (all.length === talkers && all.every((child) => child.lastLine !== '')) resolve();
    });
  });
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
