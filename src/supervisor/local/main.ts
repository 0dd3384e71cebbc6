import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { carryOut } from './carryOut.js';
import { programsIn, readPlan } from '../manifest/localPlan.js';
import { runProgram } from './run.js';

/**
 * `local [--permissions edit|full] [--check JSON] [-- PROGRAM ARGUMENT...]`: an attempt without a model. Runs the program, or else carries out
 * a plan: the one that a child has left in its folder, or the one that the prompt is. Speaks the line protocol.
 */
const handedOver = '.swarm-plan.yaml';
/** The program asks to be started again. */
const temporary = 75;

const { values, positionals } = parseArgs({
  options: { check: { type: 'string' }, permissions: { type: 'string', default: 'edit' } },
  allowPositionals: true,
});
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const say = (line: object): void => print(JSON.stringify(line));
process.exitCode = positionals.length > 0 ? await program(positionals) : await plan();

async function program(words: readonly string[]): Promise<number> {
  const end = await runProgram(words, { print, mayEnd: true });
  say({ type: 'shell', command: words.join(' '), exitCode: end.code });
  if (end.code === temporary) return temporary;
  if (end.code === 0) {
    if (end.lastWord === null) say({ type: 'done', result: '' });
    return end.lastWord === 'error' ? 1 : 0;
  }
  if (end.lastWord === 'error') return end.code ?? 1;
  return failed(
    `the program ended with ${end.code === null ? 'a failure' : `exit ${end.code}`}`,
    end.problem,
  );
}

async function plan(): Promise<number> {
  const promptFile = process.env['SWARM_PROMPT_FILE'];
  const checkpoint = process.env['SWARM_CHECKPOINT'];
  if (promptFile === undefined || checkpoint === undefined) {
    process.stderr.write('usage: SWARM_PROMPT_FILE=FILE SWARM_CHECKPOINT=FILE local [-- PROGRAM...]\n');
    return 2;
  }
  const left = await readFile(handedOver, 'utf8').catch(() => null);
  const read = readPlan(left ?? (await readFile(promptFile, 'utf8')));
  if (!read.ok) return failed(`${left === null ? 'the task' : handedOver} is no plan`, read.problem);
  // What a model has written runs no programs that nobody has agreed to.
  if (left !== null && values.permissions !== 'full' && programsIn(read.steps).length > 0)
    return failed(
      `${handedOver} may not run programs`,
      'It may write, replace, and run the check of the batch',
    );
  const wrong = await carryOut(read.steps, {
    folder: process.cwd(),
    progressFile: path.join(path.dirname(checkpoint), 'local.json'),
    check: values.check === undefined ? null : z.array(z.string()).parse(JSON.parse(values.check)),
    say,
    print,
  });
  if (wrong !== null) return failed(`step ${wrong.step} of ${read.steps.length} failed`, wrong.problem);
  await rm(handedOver, { force: true });
  say({ type: 'done', result: `${read.steps.length} of ${read.steps.length} steps done` });
  return 0;
}

/**
 * A failure that no second try mends. What is wrong is told as words: paths and commands in an error could be read as
 * the failure of an account.
 */
function failed(what: string, problem: string | null): number {
  if (problem !== null) say({ type: 'text', text: problem });
  say({ type: 'error', status: 400, message: `Invalid request: ${what}` });
  return 1;
}
