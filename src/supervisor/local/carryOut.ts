import { mkdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { isInside } from '../acp/files.js';
import { type PlanStep, stepText } from '../manifest/localPlan.js';
import { type Progress, hashOf, loadProgress, saveProgress, writeWhole } from './progress.js';
import { runProgram } from './run.js';

export interface PlanRun {
  readonly folder: string;
  /** Where it is written down how far the plan has come. */
  readonly progressFile: string;
  /** The batch's check; null if there is none. */
  readonly check: readonly string[] | null;
  readonly say: (line: object) => void;
  readonly print: (line: string) => void;
}

/** Does the steps that are not done yet, one after the other. Null: all are done; else what went wrong, and where. */
export async function carryOut(
  steps: readonly PlanStep[],
  run: PlanRun,
): Promise<{ readonly step: number; readonly problem: string } | null> {
  let known = await loadProgress(run.progressFile, steps);
  const told = (): void =>
    run.say({ type: 'next', items: steps.map((one, i) => ({ text: stepText(one), done: i < known.done })) });
  const save = async (next: Progress): Promise<void> => {
    await saveProgress(run.progressFile, next);
    known = next;
  };
  told();
  for (const [i, one] of steps.entries()) {
    if (i < known.done) continue;
    const problem = await doStep(one, run, known, save);
    if (problem !== null) return { step: i + 1, problem };
    await save({ ...known, done: i + 1, open: null });
    told();
  }
  return null;
}

async function doStep(
  one: PlanStep,
  run: PlanRun,
  known: Progress,
  save: (next: Progress) => Promise<void>,
): Promise<string | null> {
  if ('write' in one) return writeStep(run, one.write, one.text);
  if ('replace' in one) return replaceStep(one, run, known, save);
  if ('run' in one) return commandStep(one.run, run);
  const command = one.check === true ? run.check : one.check;
  return command === null ? 'the batch names no check' : commandStep(command, run);
}

async function writeStep(run: PlanRun, name: string, text: string): Promise<string | null> {
  if (!(await isInside(run.folder, name, 'write'))) return `${name} is outside of its folder`;
  const file = path.resolve(run.folder, name);
  run.say({ type: 'writing', path: name });
  await mkdir(path.dirname(file), { recursive: true });
  const before = await stat(file).catch(() => null);
  await writeWhole(file, text, before === null ? undefined : before.mode & 0o777);
  run.say({ type: 'write', path: name });
  return null;
}

/** Exact: the text must be there, and only once unless all are meant. Done at most once, even if it is cut off. */
async function replaceStep(
  one: Extract<PlanStep, { replace: string }>,
  run: PlanRun,
  known: Progress,
  save: (next: Progress) => Promise<void>,
): Promise<string | null> {
  const name = one.replace;
  if (!(await isInside(run.folder, name, 'write'))) return `${name} is outside of its folder`;
  const text = await readFile(path.resolve(run.folder, name), 'utf8').catch(() => null);
  if (text === null) return `${name} cannot be read`;
  run.say({ type: 'read', path: name });
  if (known.open !== null && known.open.path === name) {
    if (hashOf(text) === known.open.after) return null;
    if (hashOf(text) !== known.open.before) return `${name} was changed while this plan was interrupted`;
  }
  const parts = text.split(one.from);
  if (parts.length === 1) return `${name} does not hold the text that is to be replaced`;
  if (parts.length > 2 && one.all !== true)
    return `${name} holds the text that is to be replaced ${parts.length - 1} times; write "all: true" if each is meant`;
  const next = parts.join(one.to);
  await save({ ...known, open: { path: name, before: hashOf(text), after: hashOf(next) } });
  return writeStep(run, name, next);
}

async function commandStep(words: readonly string[], run: PlanRun): Promise<string | null> {
  const end = await runProgram(words, { print: run.print, mayEnd: false });
  run.say({ type: 'shell', command: words.join(' '), exitCode: end.code });
  if (end.code === 0) return null;
  return `${words.join(' ')}: ${end.problem ?? `exit ${end.code}`}`;
}
