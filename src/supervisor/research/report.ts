import { plainText } from '../../protocol/plainText.js';
import { redact } from '../verdict/redact.js';
import type { Checkpoint } from './checkpoint.js';
import { isVerification, treeId } from './research.js';

/** checkpoint.json: what was learned, without anything that looks like a secret. */
export function checkpointJson(known: Checkpoint): string {
  return `${JSON.stringify(withoutSecrets(known), null, 2)}\n`;
}

/** checkpoint.md: the same for people, and for an agent that goes on in a fresh session. */
export function checkpointText(known: Checkpoint): string {
  const tree = treeId(known);
  const open = known.next.filter((item) => !item.done);
  const sections = [
    section('Next steps', open.length > 0 ? open.map((item) => `- [ ] ${item.text}`) : ['- none noted']),
    section(
      'Done',
      known.next.filter((item) => item.done).map((item) => `- [x] ${item.text}`),
    ),
    section(
      'Decisions and last statements',
      known.decisions.slice(-10).map((decision) => `- ${decision.text.replaceAll('\n', '\n  ')}`),
    ),
    section(
      'Files written',
      known.written.map((entry) => `- ${entry.path}${entry.sha256 === null ? ' (deleted)' : ''}`),
    ),
    section(
      'Files read',
      known.read.map((entry) => `- ${entry.path}${hashText(entry.sha256)}`),
    ),
    section(
      'Verification',
      known.commands
        .filter((entry) => isVerification(entry.command))
        .slice(-10)
        .map(
          (entry) =>
            `- \`${oneLine(entry.command)}\`: ${exitText(entry.exitCode)}, on tree ${entry.tree}${entry.tree === tree ? '' : ' (files changed since)'}`,
        ),
    ),
    section(
      'Refused by its permissions',
      known.denied.map((what) => `- ${what}`),
    ),
    section('Tokens', [
      `- input ${known.tokens.input}, of it cached ${known.tokens.cachedInput}, output ${known.tokens.output}`,
    ]),
  ];
  const head = [
    `# ${oneLine(known.title)}`,
    '',
    `Attempt ${known.attempt}${known.session === null ? '' : `, session ${known.session}`}, tree ${tree}.`,
    ...(known.lastLine === '' ? [] : [`Last: ${known.lastLine}`]),
  ];
  // A code of the terminal in the middle of a secret would hide it.
  return redact(plainText(`${[...head, ...sections.flat()].join('\n')}\n`));
}

export function exitText(exitCode: number | null): string {
  return exitCode === null ? 'result unknown' : exitCode === 0 ? 'passed' : `exit ${exitCode}`;
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `## ${title}`, '', ...lines];
}

function hashText(sha256: string | null): string {
  return sha256 === null ? '' : ` (${sha256.slice(0, 12)})`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Whatever an agent said or named is redacted; hashes and numbers stay what they are. */
export function withoutSecrets(known: Checkpoint): Checkpoint {
  return {
    ...known,
    title: redact(known.title),
    read: known.read.map(redactedFile),
    written: known.written.map(redactedWritten),
    commands: known.commands.map(redactedCommand),
    next: known.next.map(redactedItem),
    decisions: known.decisions.map(redactedDecision),
    denied: known.denied.map((what) => redact(what)),
    lastLine: redact(known.lastLine),
  };
}

type Entry<Name extends 'read' | 'written' | 'commands' | 'next' | 'decisions'> = Checkpoint[Name][number];

const redactedFile = once((entry: Entry<'read'>) => ({ ...entry, path: redact(entry.path) }));
const redactedWritten = once((entry: Entry<'written'>) => ({ ...entry, path: redact(entry.path) }));
const redactedCommand = once((entry: Entry<'commands'>) => ({ ...entry, command: redact(entry.command) }));
const redactedItem = once((entry: Entry<'next'>) => ({ ...entry, text: redact(entry.text) }));
const redactedDecision = once((entry: Entry<'decisions'>) => ({ ...entry, text: redact(entry.text) }));

/** An entry never changes, and is asked for again and again. */
function once<T extends object>(work: (entry: T) => T): (entry: T) => T {
  const done = new WeakMap<T, T>();
  return (entry) => {
    const before = done.get(entry);
    if (before !== undefined) return before;
    const now = work(entry);
    done.set(entry, now);
    return now;
  };
}
