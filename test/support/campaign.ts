import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Control, type Fault } from './shim/control.js';
import { createStage, examineStage, type Stage } from './campaignStage.js';

/** Calls of one kind: which, and how many of them a run without a fault makes. */
export interface CallClass {
  readonly key: string;
  readonly count: number;
}

export interface StoryRun {
  /** The fault was met. */
  readonly hit: boolean;
  /** A full or failing disk was told: children paused with `disk`, or a wish refused for it. */
  readonly told: boolean;
  readonly violations: readonly string[];
  readonly lines: readonly string[];
}

export interface Programs {
  readonly driver: string;
  readonly shim: string;
}

/** A run without a fault, and every call that it makes. */
export async function countCalls(programs: Programs): Promise<{ calls: CallClass[]; run: StoryRun }> {
  const stage = createStage();
  try {
    const log = path.join(stage.root, 'calls.log');
    const control = new Control(path.join(stage.root, 'control'), stage.below);
    control.count(log);
    const lines = await owner(programs, stage, control, () => undefined);
    control.off();
    if (!fs.existsSync(log)) throw new Error(`nothing was counted: ${lines.join(' // ')}`);
    const counts = new Map<string, number>();
    for (const key of fs.readFileSync(log, 'utf8').trim().split('\n'))
      counts.set(key, (counts.get(key) ?? 0) + 1);
    const violations = [...stuckOf(lines), ...(await examineStage(stage))];
    return {
      calls: [...counts].map(([key, count]) => ({ key, count })),
      run: { hit: false, told: false, violations, lines },
    };
  } finally {
    stage.remove();
  }
}

/** One fault in one run of the story; a killed owner is followed by another one without a fault. */
export async function runWithFault(programs: Programs, fault: Fault): Promise<StoryRun> {
  const stage = createStage();
  const control = new Control(path.join(stage.root, 'control'), stage.below);
  control.inject(fault);
  let freeing: NodeJS.Timeout | null = null;
  let lastView = '';
  let atHit: string | null = null;
  const onLine = (line: string): void => {
    if (line.startsWith('view ')) lastView = line;
    if (fault.stays !== true || control.hits === 0) return;
    atHit ??= lastView;
    freeing ??= setTimeout(() => control.free(), toldOf([line]) ? 300 : 4000);
  };
  // A disk that fails while nothing is said must be freed too, else the story would never end.
  const late = setInterval(() => {
    if (fault.stays === true && control.hits > 0) freeing ??= setTimeout(() => control.free(), 4000);
  }, 100);
  try {
    const lines = await owner(programs, stage, control, onLine);
    const first = lines.at(-1) ?? '';
    if (first.startsWith('died SIGKILL')) {
      control.off();
      lines.push(...(await owner(programs, stage, control, () => undefined)));
    }
    control.free();
    const hit = control.hits > 0;
    control.off();
    const violations = [...stuckOf(lines), ...(await examineStage(stage))];
    return { hit, told: toldOf(lines), violations, lines };
  } finally {
    clearInterval(late);
    if (freeing !== null) clearTimeout(freeing);
    stage.remove();
  }
}

const patience = 120_000;

/** Runs an owner until it ends or dies; its lines, the last one how it ended. */
function owner(
  { driver, shim }: Programs,
  stage: Stage,
  control: Control,
  onLine: (line: string) => void,
): Promise<string[]> {
  return new Promise((resolve) => {
    const lines: string[] = [];
    let inARow = 0;
    const child = spawn(process.execPath, [driver, stage.repository, stage.below, stage.memory], {
      env: {
        PATH: process.env['PATH'],
        HOME: stage.root,
        GIT_CONFIG_GLOBAL: '/dev/null',
        LD_PRELOAD: shim,
        TEST_SHIM: control.file,
        TEST_SHIM_OWNER: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      inARow = line === lines.at(-1) ? inARow + 1 : 0;
      lines.push(line);
      // The same answer for ten seconds, with a disk that was freed long ago, is the answer for ever.
      if (inARow === 40) giveUp();
      onLine(line);
      // Nobody is there to answer: whoever asks a person for what the disk did is stuck.
      if (/^view .*\(\w+\)!/.test(line)) setTimeout(() => child.kill('SIGTERM'), 500);
    });
    createInterface({ input: child.stderr }).on('line', (line) => lines.push(`stderr ${line}`));
    const giveUp = (): void => {
      lines.push('stuck');
      child.kill('SIGTERM');
    };
    const timer = setTimeout(giveUp, patience);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      lines.push(signal === null ? `ended ${code ?? ''}` : `died ${signal}`);
      resolve(lines);
    });
  });
}

function stuckOf(lines: readonly string[]): string[] {
  const last = lines.filter((line) => line.startsWith('view ')).at(-1) ?? '';
  if (lines.at(-1) === 'ended 0' && lines.at(-2) === 'end') return [];
  const tail = lines.slice(-6).join(' // ').slice(0, 1500);
  return [
    `the story did not end (${lines.includes('stuck') ? 'stuck' : (lines.at(-1) ?? '')}): ${last} ... ${tail}`,
  ];
}

function toldOf(lines: readonly string[]): boolean {
  return lines.some(
    (line) => /^view .*\(disk\)/.test(line) || /^(refused|closed) .*(space|written|cannot)/i.test(line),
  );
}
