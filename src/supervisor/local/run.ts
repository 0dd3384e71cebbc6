import { spawn } from 'node:child_process';
import { jsonLine } from '../agents/jsonLine.js';

/** Kinds of lines that a program may say for itself; it has no session and no account. */
const ownWords = new Set(['read', 'writing', 'write', 'shell', 'decision', 'next', 'text']);
const lastWords = new Set(['done', 'error']);

export interface RunEnd {
  /** Null: it could not be started, or a signal ended it. */
  readonly code: number | null;
  /** Its own last word, where it may have one. */
  readonly lastWord: string | null;
  readonly problem: string | null;
}

/** Runs a program in the child's folder and passes on what it prints; no shell. */
export function runProgram(
  words: readonly string[],
  options: { readonly print: (line: string) => void; readonly mayEnd: boolean },
): Promise<RunEnd> {
  const [program = '', ...args] = words;
  const { ELECTRON_RUN_AS_NODE: _ours, ...env } = process.env;
  return new Promise((resolve) => {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let rest = '';
    let lastWord: string | null = null;
    const pass = (line: string): void => {
      const type = jsonLine(line)?.['type'];
      if (typeof type === 'string' && lastWords.has(type)) {
        if (!options.mayEnd) return;
        lastWord = type;
      } else if (typeof type === 'string' && !ownWords.has(type)) return;
      options.print(line);
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      lines.forEach(pass);
    });
    child.on('error', (error) => resolve({ code: null, lastWord, problem: error.message }));
    child.on('close', (code, signal) => {
      if (rest !== '') pass(rest);
      resolve({ code, lastWord, problem: signal === null ? null : `ended by ${signal}` });
    });
  });
}
