import { createHash } from 'node:crypto';
import type { DetailsView } from '../../protocol/view.js';
import type { AgentEvent } from '../agents/agent.js';
import type { Checkpoint } from './checkpoint.js';
import { bounded, firstWords, isInside, relativePath } from './text.js';

/** A file's state when it was looked at; null where it is not there or cannot be read. */
export interface FileState {
  readonly sha256: string;
  /** Git's id of the content. */
  readonly blob: string;
  readonly modifiedAt: number;
}

/** One line of edits.jsonl. */
export interface EditLine {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly tool: string;
  readonly attempt: number;
  readonly at: number;
  readonly confidence: 'exact' | 'ambiguous';
}

export interface NoteContext {
  readonly at: number;
  /** The child's folder. */
  readonly folder: string;
  /** The state of the file that the event names; null where it names none or there is none. */
  readonly file: FileState | null;
}

const mostFiles = 2000;
const mostCommands = 200;
const mostDecisions = 30;

/**
 * What is known after an event; the same object where the event says nothing of it.
 * Written files are noted when the tool has ended, `edit` is then the line for the ledger.
 */
export function noteEvent(
  known: Checkpoint,
  event: AgentEvent,
  context: NoteContext,
): { readonly checkpoint: Checkpoint; readonly edit: EditLine | null } {
  const { at, file } = context;
  const keep = (change: Partial<Checkpoint>) => ({
    checkpoint: { ...known, ...change, updatedAt: at },
    edit: null,
  });
  switch (event.type) {
    case 'session':
      return event.id === known.session
        ? { checkpoint: known, edit: null }
        : keep({ session: event.id, spent: known.tokens });
    case 'read': {
      const path = relativePath(event.path, context.folder);
      const entry = { path, sha256: file?.sha256 ?? null, modifiedAt: file?.modifiedAt ?? null, at };
      return keep({
        read: [...known.read.filter((other) => other.path !== path), entry].slice(-mostFiles),
        ...line(known, `read ${path}`, at),
      });
    }
    case 'writing':
      return keep(line(known, `writes ${relativePath(event.path, context.folder)}`, at));
    case 'write':
      return noteWrite(known, event, context);
    case 'shellStarted':
      return keep(line(known, `$ ${event.command}`, at));
    case 'shell': {
      const entry = {
        command: bounded(event.command, 500),
        exitCode: event.exitCode,
        tree: treeId(known),
        at,
        attempt: known.attempt,
      };
      return keep({
        commands: [...known.commands, entry].slice(-mostCommands),
        ...line(known, `$ ${event.command}`, at),
      });
    }
    case 'decision':
      return keep({
        decisions: [...known.decisions, { text: bounded(event.text, 1000), at }].slice(-mostDecisions),
        ...line(known, event.text, at),
      });
    case 'next':
      return keep({
        next: event.items.slice(0, 100).map((item) => ({ text: bounded(item.text, 300), done: item.done })),
      });
    case 'text':
      return { checkpoint: withSayings(known, [{ text: event.text, at, isStatement: true }]), edit: null };
    case 'usage':
      return keep({ tokens: counted(known, event) });
    case 'denied':
      return keep({
        denied: [...known.denied.filter((what) => what !== event.what), bounded(event.what, 300)].slice(-50),
        ...line(known, `was refused: ${event.what}`, at),
      });
    case 'done':
      return event.result === '' ? { checkpoint: known, edit: null } : keep(line(known, event.result, at));
    case 'unrecognized':
      return event.text.trim() === ''
        ? { checkpoint: known, edit: null }
        : { checkpoint: withSayings(known, [{ text: event.text, at, isStatement: false }]), edit: null };
    case 'signal':
    case 'ignored':
      return { checkpoint: known, edit: null };
    default:
      return event satisfies never;
  }
}

/** What a child has said in words. */
interface Saying {
  readonly text: string;
  readonly at: number;
  /** The agent's own words, not log text. */
  readonly isStatement: boolean;
}

const mostSayings = 50;

/**
 * Notes events one after the other: what `noteEvent` says of each, at less cost. Most of what an agent prints are
 * words of which only the last are kept, so these are noted when it is asked what is known.
 */
export class Notes {
  private sayings: Saying[] = [];

  constructor(private known: Checkpoint) {}

  note(event: AgentEvent, context: NoteContext): EditLine | null {
    if (event.type === 'ignored' || event.type === 'signal') return null;
    if (event.type === 'text' || (event.type === 'unrecognized' && event.text.trim() !== '')) {
      this.sayings.push({ text: event.text, at: context.at, isStatement: event.type === 'text' });
      if (this.sayings.length >= mostSayings) this.checkpoint();
      return null;
    }
    const { checkpoint, edit } = noteEvent(this.checkpoint(), event, context);
    this.known = checkpoint;
    return edit;
  }

  checkpoint(): Checkpoint {
    if (this.sayings.length > 0) this.known = withSayings(this.known, this.sayings);
    this.sayings = [];
    return this.known;
  }
}

/** The last that says something is the last line; the agent's own words are kept among the decisions. */
function withSayings(known: Checkpoint, sayings: readonly Saying[]): Checkpoint {
  const last = sayings.findLast(({ text }) => firstWords(text, 1) !== '');
  const { lastLine, lastLineAt } = last === undefined ? known : line(known, last.text, last.at);
  return {
    ...known,
    decisions: withStatements(known.decisions, sayings),
    lastLine,
    lastLineAt,
    updatedAt: sayings.at(-1)?.at ?? known.updatedAt,
  };
}

/** The agent's last words stand in for decisions, so that a brief can say where it was; its newest replaces it. */
function withStatements(known: Checkpoint['decisions'], sayings: readonly Saying[]): Checkpoint['decisions'] {
  const decisions = [...known];
  const texts = new Set(decisions.map((decision) => decision.text));
  /** What is before does not count any more. */
  let from = 0;
  for (const { text, at, isStatement } of sayings) {
    const statement = isStatement ? bounded(text.trim(), 600) : '';
    if (statement.length < 20) continue;
    for (let i = texts.has(statement) ? decisions.length - 1 : -1; i >= from; i--)
      if (decisions[i]?.text === statement) decisions.splice(i, 1);
    decisions.push({ text: statement, at });
    texts.add(statement);
    from = Math.max(from, decisions.length - mostDecisions);
  }
  return decisions.slice(from);
}

/** Rule 10: what counts as getting on with the work. */
export function isProgress(event: AgentEvent): boolean {
  switch (event.type) {
    case 'read':
    case 'write':
    case 'shell':
    case 'decision':
    case 'next':
    case 'text':
      return true;
    case 'usage':
      return event.output > 0;
    case 'done':
      return event.ok;
    case 'session':
    case 'writing':
    case 'shellStarted':
    case 'signal':
    case 'denied':
    case 'ignored':
    case 'unrecognized':
      return false;
    default:
      return event satisfies never;
  }
}

/** A name for the tree as far as it is known: the base with the contents of all written files. */
export function treeId(known: Checkpoint): string {
  if (known.written.length === 0) return (known.base ?? '').slice(0, 7);
  const hash = createHash('sha256').update(known.base ?? '');
  for (const entry of [...known.written].sort((a, b) => (a.path < b.path ? -1 : 1)))
    hash.update(`\0${entry.path}\0${entry.sha256 ?? ''}`);
  return hash.digest('hex').slice(0, 7);
}

/** What the panel shows of it; bounded. */
export function detailsOf(known: Checkpoint): DetailsView {
  const tree = treeId(known);
  return {
    plan: known.next,
    decisions: known.decisions.slice(-5).map((decision) => firstWords(decision.text, 200)),
    written: known.written
      .slice(-100)
      .map((entry) => ({ path: entry.path, kind: entry.sha256 === null ? 'D' : entry.added ? 'A' : 'M' })),
    read: known.read.slice(-50).map((entry) => entry.path),
    verification: known.commands
      .filter((entry) => isVerification(entry.command))
      .slice(-5)
      .map((entry) => ({
        command: entry.command,
        exitCode: entry.exitCode,
        tree: entry.tree,
        at: new Date(entry.at).toISOString(),
        stale: entry.tree !== tree,
      })),
    lastLineAt: known.lastLineAt === null ? null : new Date(known.lastLineAt).toISOString(),
  };
}

/** Commands that say whether the work is sound, as far as their words tell. */
export function isVerification(command: string): boolean {
  return /\b(tsc|test|tests|lint|eslint|check|build|vitest|jest|pytest|mocha|cargo|mypy|ruff|make|swarm)\b/.test(
    command,
  );
}

function noteWrite(
  known: Checkpoint,
  event: AgentEvent & { readonly type: 'write' },
  { at, folder, file }: NoteContext,
): { readonly checkpoint: Checkpoint; readonly edit: EditLine | null } {
  const path = relativePath(event.path, folder);
  // No snapshot will hold it, and no apply bring it: it is no work of this child's folder.
  if (!isInside(path))
    return {
      checkpoint: { ...known, ...line(known, `wrote ${path}, outside of its folder`, at), updatedAt: at },
      edit: null,
    };
  const before = known.written.find((entry) => entry.path === path);
  const readBefore = known.read.some((entry) => entry.path === path && entry.sha256 !== null);
  const entry = {
    path,
    sha256: file?.sha256 ?? null,
    blob: file?.blob ?? null,
    added: before?.added ?? !readBefore,
    at,
    attempt: known.attempt,
    tool: event.tool,
  };
  return {
    checkpoint: {
      ...known,
      written: [...known.written.filter((other) => other.path !== path), entry].slice(-mostFiles),
      // What it wrote it also knows.
      read: known.read.map((other) =>
        other.path === path
          ? { ...other, sha256: entry.sha256, modifiedAt: file?.modifiedAt ?? null }
          : other,
      ),
      ...line(known, `wrote ${path}`, at),
      updatedAt: at,
    },
    edit: {
      path,
      before: before?.blob ?? null,
      after: entry.blob,
      tool: event.tool,
      attempt: known.attempt,
      at,
      confidence: 'exact',
    },
  };
}

function counted(known: Checkpoint, event: AgentEvent & { readonly type: 'usage' }): Checkpoint['tokens'] {
  const from = event.mode === 'add' ? known.tokens : known.spent;
  // However often a program repeats itself, the sum stays a number that can be written down.
  const sum = (before: number, more: number) => Math.min(Number.MAX_SAFE_INTEGER, before + more);
  return {
    input: sum(from.input, event.input),
    cachedInput: sum(from.cachedInput, event.cachedInput),
    output: sum(from.output, event.output),
  };
}

function line(known: Checkpoint, text: string, at: number): Pick<Checkpoint, 'lastLine' | 'lastLineAt'> {
  const shown = firstWords(text, 200);
  return shown === ''
    ? { lastLine: known.lastLine, lastLineAt: known.lastLineAt }
    : { lastLine: shown, lastLineAt: at };
}
