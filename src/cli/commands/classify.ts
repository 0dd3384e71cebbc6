import { createInterface } from 'node:readline';
import { classifyLine } from '../../supervisor/verdict/classify.js';
import { parseRules } from '../../supervisor/verdict/rules.js';
import { readUserSettings } from '../environment.js';
import { exitCodes } from '../exitCodes.js';
import { cleanJson, complain } from '../output/clean.js';
import type { Screen } from '../output/reporter.js';

/** `swarm classify`: one case a line on stdin, one answer a line on stdout, in the same order. */
export async function classify(
  options: { readonly json: boolean; readonly explain: boolean },
  screen: Screen,
): Promise<number> {
  const { rules, problems } = parseRules((await readUserSettings()).verdictRules ?? []);
  for (const problem of problems) complain(`swarm.verdict.rules: ${problem}`);
  const { gone } = screen.reader;
  let bad = false;
  for await (const line of createInterface({
    input: process.stdin,
    crlfDelay: Infinity,
    signal: gone,
  })) {
    if (gone.aborted) break;
    if (line.trim() === '') continue;
    const answer = classifyLine(line, { explain: options.explain, rules });
    bad ||= answer.bad;
    screen.write(cleanJson(answer.json) + '\n');
  }
  return bad ? exitCodes.input : exitCodes.done;
}
