import type { CommandLine, Executor, LaunchRequest } from './agent.js';

/**
 * A command line from the executor's program and the given arguments.
 * Environment that the executor sets itself is left out, so that its own value wins however the two are merged.
 */
export function commandOf(
  request: LaunchRequest,
  programs: readonly string[],
  line: {
    readonly args: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    readonly stdin?: CommandLine['stdin'];
  },
): CommandLine {
  const [file = programs[0] ?? '', ...leading] = request.executor.command;
  const own = request.executor.env;
  return {
    file,
    args: [...leading, ...line.args],
    env: Object.fromEntries(Object.entries(line.env ?? {}).filter(([name]) => own[name] === undefined)),
    stdin: line.stdin ?? 'none',
  };
}

/** `flag value` where the executor names a model, else nothing. */
export function modelArgs(executor: Executor, flag: string): readonly string[] {
  return executor.model === null ? [] : [flag, executor.model];
}

/** One argument of a program may hold 128 KiB on Linux; a longer prompt goes another way. */
const longestArgument = 96 * 1024;

/** The prompt where it fits into one argument, else a short one that names the file that holds it. */
export function promptArgument(request: LaunchRequest): string {
  if (utf8Length(request.prompt) <= longestArgument && !request.prompt.startsWith('-')) return request.prompt;
  return `Your task is written in the file ${request.promptFile}. Read all of it first, then do what it says.`;
}

/** The batch's check command as one line, or null where it needs quoting and so cannot be named in a rule. */
export function checkLine(check: readonly string[] | null): string | null {
  if (check === null || check.length === 0) return null;
  return check.every((word) => /^[A-Za-z0-9_@%+=:./-]+$/.test(word)) ? check.join(' ') : null;
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
