import fs from 'node:fs';
import path from 'node:path';
import { openStore } from '../../src/supervisor/node/store/index.js';
import { runDriver, type DriverRun } from './driverBuild.js';
import { events, temporary } from './storeFixtures.js';

const upTo = 23;

export interface Rounds {
  readonly points: number;
  readonly violations: readonly string[];
}

/** How many calls a whole run makes: so many points there are to fail at. */
export async function countPoints(driver: string): Promise<number> {
  const run = await runDriver(driver, [path.join(temporary(), '.swarm'), String(upTo)], 'count:1');
  const last = run.lines.at(-1) ?? '';
  if (!last.startsWith('closed ')) throw new Error(`the run did not end: ${last} ${run.errors}`);
  return Number(last.slice('closed '.length));
}

/** Fails a run at each of these points, opens the folder after it, and says what was lost or wrong. */
export async function failAt(
  driver: string,
  points: readonly number[],
  fault: (point: number) => string,
): Promise<Rounds> {
  const violations: string[] = [];
  for (const point of points) {
    const folder = path.join(temporary(), '.swarm');
    const run = await runDriver(driver, [folder, String(upTo)], fault(point));
    const wrong = await examine(folder, run);
    // Whatever was left, a second run must be able to finish the work.
    const second = await runDriver(driver, [folder, String(upTo)]);
    if (!(second.lines.at(-1) ?? '').startsWith('closed '))
      wrong.push(`the next run failed: ${second.errors}`);
    else wrong.push(...(await examine(folder, second)));
    violations.push(...wrong.map((text) => `${fault(point)}: ${text}`));
    fs.rmSync(folder, { recursive: true, force: true });
  }
  return { points: points.length, violations };
}

async function examine(folder: string, run: DriverRun): Promise<string[]> {
  const wrong: string[] = [];
  const acknowledged = Math.max(0, ...numbers(run, 'ack'));
  if (run.errors !== '' && run.signal === null) wrong.push(`it said: ${run.errors.slice(0, 300)}`);
  const opened = await openStore(folder, { create: true });
  if (opened.kind !== 'owner') return [...wrong, `opened as ${opened.kind}`];
  const { state, events: read, problems, lastSeq } = opened.store.loaded;
  const from = state?.seq ?? 0;
  if (problems.length > 0) wrong.push(`problems: ${JSON.stringify(problems)}`);
  if (lastSeq < acknowledged) wrong.push(`${acknowledged} was acknowledged, ${lastSeq} is there`);
  if (JSON.stringify(read) !== JSON.stringify(events(from + 1, lastSeq))) wrong.push('the events differ');
  const file = Math.max(0, ...numbers(run, 'file'));
  const whole = JSON.parse((await opened.store.read('batches/b1/batch.json')) ?? '{"seq":0}') as {
    seq: number;
  };
  if (whole.seq < file) wrong.push(`file ${file} was written, ${whole.seq} is there`);
  const lines = ((await opened.store.read('batches/b1/edits.jsonl')) ?? '').split('\n');
  for (const line of numbers(run, 'line'))
    if (!lines.includes(JSON.stringify({ seq: line }))) wrong.push(`line ${line} is missing`);
  await opened.store.close();
  return wrong;
}

function numbers(run: DriverRun, word: string): readonly number[] {
  return run.lines.filter((line) => line.startsWith(`${word} `)).map((line) => Number(line.split(' ')[1]));
}
