import { resolve } from 'node:path';

/**
 * Where `swarm` begins. A check runs often, for people and for agents, and needs little of what the other commands do:
 * it is started without them. Everything else, and every mistake in a command line, is main's.
 */
const checked = plainCheck(process.argv.slice(2));
if (checked === null) await import('./main.js');
else {
  const { check } = await import('./commands/check.js');
  process.exitCode = await check(resolve(checked.folder), checked.command);
}

/** `[-C folder] check [--] [command...]`, and nothing else. */
function plainCheck(
  words: readonly string[],
): { readonly folder: string; readonly command: readonly string[] } | null {
  const [first, second] = words;
  const hasFolder = first === '-C' && second !== undefined;
  const [name, ...rest] = hasFolder ? words.slice(2) : words;
  if (name !== 'check') return null;
  const folder = hasFolder ? second : '.';
  if (rest[0] === '--') return { folder, command: rest.slice(1) };
  return rest[0]?.startsWith('-') === true ? null : { folder, command: rest };
}
