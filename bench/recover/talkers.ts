import fs from 'node:fs';
import path from 'node:path';

/** Lines a second of each child. */
export const rate = 50;
const every = 100;

/**
 * Plays the output of many agents: appends to the log of each attempt that is named on stdin, `rate` lines a second,
 * each with the instant it was written at. So the cost of a hundred processes is not counted, only that of listening.
 */
export function talk(): void {
  const logs: number[] = [];
  let turn = 0;
  process.stdin.on('data', (chunk: Buffer) => {
    for (const folder of chunk.toString().split('\n'))
      if (folder !== '') logs.push(fs.openSync(path.join(folder, 'stdout.log'), 'a'));
  });
  process.stdin.on('end', () => process.exit(0));
  setInterval(() => {
    turn += 1;
    for (const [child, log] of logs.entries()) {
      let text = '';
      for (let n = 0; n < (rate * every) / 1000; n++) text += `${JSON.stringify(lineOf(turn, n, child))}\n`;
      fs.writeSync(log, text);
    }
  }, every);
}

/** Mostly prose, sometimes a file that was read, a decision, what it has cost. */
function lineOf(turn: number, n: number, child: number): object {
  if (n > 0)
    return {
      type: 'text',
      text: `at ${Date.now()} child ${child} thinks aloud about step ${turn}.${n} of its task`,
    };
  if (turn % 20 === 0) return { type: 'usage', input: turn, cachedInput: turn, output: turn };
  if (turn % 20 === 10) return { type: 'read', path: `src/file${(turn / 10) % 50}.ts` };
  return { type: 'text', text: `at ${Date.now()} child ${child} begins step ${turn}` };
}
