import { createInterface } from 'node:readline/promises';

/** Whether a person at the terminal says yes; anything else, also the end of the input, is no. */
export async function agreed(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  const answer = await Promise.race([lines.question(question), ended]);
  lines.close();
  return /^y(es)?$/i.test(answer.trim());
}
