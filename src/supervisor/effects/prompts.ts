import type { Pause } from '../core/state.js';
import type { Plan, PlannedTask } from '../manifest/plan.js';
import type { Checkpoint } from '../research/checkpoint.js';
import { exitText } from '../research/report.js';
import { isVerification, treeId } from '../research/research.js';

/** What has happened around a child since its last attempt ended. */
export interface ChangedSince {
  /** Files it had read or written whose content is another now, and not by it. */
  readonly changed: readonly string[];
  readonly gone: readonly string[];
  /** The commit it works from, and the one the user's tree is at; the same where nothing moved. */
  readonly base: string;
  readonly head: string;
  /** Its work was moved from the shared tree into a worktree of its own. */
  readonly movedTo: string | null;
  /** Who else has written into the shared tree, by path; empty where each child has a worktree of its own. */
  readonly writers: ReadonlyMap<string, readonly string[]>;
}

/** The prompt of a first attempt: the batch's context, then the task, and nothing of ours. */
export function firstPrompt(plan: Plan, task: PlannedTask): string {
  return plan.context.trim() === '' ? task.prompt : `${plan.context.trimEnd()}\n\n${task.prompt}`;
}

/** The prompt that goes on in the same session: what stopped it, what changed since, what is next. */
export function resumePrompt(
  known: Checkpoint,
  why: Pick<Pause, 'reason'> | null,
  since: ChangedSince,
): string {
  return [
    `You were interrupted${whyText(why)} and can go on now. Your earlier work in this folder is kept.`,
    ...state(known, since),
    'Go on where you stopped. A command that ran when you were interrupted may be half done: look before you repeat it.',
    'Do not read files again that have not changed, and do not redo what is finished.',
  ].join('\n');
}

/** The prompt of a fresh session: the task once, then what an earlier session found out and did. */
export function briefPrompt(
  plan: Plan,
  task: PlannedTask,
  known: Checkpoint,
  why: Pick<Pause, 'reason'> | null,
  since: ChangedSince,
): string {
  return [
    firstPrompt(plan, task),
    '',
    '---',
    '',
    `An earlier session worked on this task in this folder and was interrupted${whyText(why)}. Its work is kept; this is what it left:`,
    ...state(known, since),
    ...list(
      'Files it has read',
      known.read.slice(-60).map((entry) => entry.path),
    ),
    'Go on from there. Read a file again only where you need its content; do not redo what is finished.',
  ].join('\n');
}

/** A task given to a child after its end, in its session or with what it knows. */
export function nextPrompt(text: string, known: Checkpoint, fresh: boolean, since: ChangedSince): string {
  return fresh
    ? [text, '', 'Earlier work in this folder is kept. What is known of it:', ...state(known, since)].join(
        '\n',
      )
    : text;
}

function state(known: Checkpoint, since: ChangedSince): readonly string[] {
  const tree = treeId(known);
  const open = known.next.filter((item) => !item.done).map((item) => item.text);
  const done = known.next.filter((item) => item.done).map((item) => item.text);
  const verified = known.commands
    .filter((entry) => isVerification(entry.command))
    .slice(-5)
    .map(
      (entry) =>
        `${oneLine(entry.command)}: ${exitText(entry.exitCode)}, on ${entry.tree === tree ? 'the files as they are' : 'older files, so run it again'}`,
    );
  const written = known.written.map((entry) => entry.path);
  return [
    '',
    ...(since.movedTo === null
      ? []
      : [`Your work was moved into a folder of its own, ${since.movedTo}. Work there and nowhere else.`]),
    ...list('Changed by others since (read these again)', since.changed.map(byName(since.writers))),
    ...list('Removed by others since', since.gone.map(byName(since.writers))),
    ...(since.movedTo === null ? [] : theirFiles(since)),
    since.changed.length + since.gone.length === 0
      ? 'None of the files you know has been changed by others since.'
      : '',
    since.base === since.head
      ? 'The main tree has not moved.'
      : `The main tree has moved on from ${since.base.slice(0, 7)} to ${since.head.slice(0, 7)}; this folder still starts from ${since.base.slice(0, 7)}.`,
    ...list('Files written so far', written.slice(-60)),
    ...list('Verified', verified),
    ...list(
      'Decisions',
      known.decisions.slice(-5).map((decision) => oneLine(decision.text).slice(0, 400)),
    ),
    ...list('Steps done', done),
    ...list('Next steps', open),
    '',
  ].filter((text, i, all) => text !== '' || all[i - 1] !== '');
}

/** The path, and whose it is where the ledger knows. */
function byName(writers: ChangedSince['writers']): (path: string) => string {
  return (path) => {
    const names = writers.get(path) ?? [];
    return names.length === 0 ? path : `${path} (${names.map(oneLine).join(', ')})`;
  };
}

/** So many files of others are named at most. */
const mostNamed = 40;

/** What others have in the tree that it has left: they are not in its new folder, or not as they are there. */
function theirFiles(since: ChangedSince): readonly string[] {
  const named = new Set([...since.changed, ...since.gone]);
  const paths = [...since.writers.keys()].filter((path) => !named.has(path)).sort();
  const rest = paths.length - mostNamed;
  return list('Work of others in the main tree, which this folder does not have; leave it to them', [
    ...paths.slice(0, mostNamed).map(byName(since.writers)),
    ...(rest > 0 ? [`and ${rest} more`] : []),
  ]);
}

function list(title: string, items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [`${title}:`, ...items.map((item) => `- ${item}`)];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function whyText(why: Pick<Pause, 'reason'> | null): string {
  switch (why?.reason) {
    case 'usage_limit':
    case 'rate_limit':
    case 'credits_exhausted':
      return ' by a limit of the account';
    case 'overloaded':
    case 'network':
    case 'stream_interrupted':
      return ' by a failing connection to the model';
    case 'user':
      return ' by a person';
    case 'disk':
      return ' because the disk was full';
    case 'timeout':
      return ' because nothing had happened for long';
    case 'process_crash':
    case 'interrupted':
      return ' because the process ended unexpectedly';
    default:
      return '';
  }
}
