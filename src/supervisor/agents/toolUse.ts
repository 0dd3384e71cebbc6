import type { AgentEvent } from './agent.js';
import { type JsonObject, objectsOf, textOf } from './jsonLine.js';

/** What a tool call does to the child's research state. */
export type ToolUse =
  | { readonly kind: 'read'; readonly paths: readonly string[] }
  | { readonly kind: 'write'; readonly paths: readonly string[]; readonly tool: string }
  | { readonly kind: 'shell'; readonly command: string }
  | { readonly kind: 'next'; readonly items: readonly NextItem[] }
  | { readonly kind: 'other' };

export type NextItem = { readonly text: string; readonly done: boolean };

/**
 * How a tool call ended. `ran: false`: it was refused or broken off before it did anything.
 * `exitCode` is of importance for shell commands only; null where the agent does not say.
 */
export interface ToolOutcome {
  readonly ok: boolean;
  readonly ran: boolean;
  readonly exitCode: number | null;
}

/** The tool calls that one attempt has open, by the agent's own call id. */
export interface OpenToolUses {
  started(id: string, use: ToolUse): readonly AgentEvent[];
  finished(id: string, outcome: ToolOutcome): readonly AgentEvent[];
  /** The call was refused: its result, which still comes, says nothing. */
  dropped(id: string): void;
}

export const finishedWell: ToolOutcome = { ok: true, ran: true, exitCode: 0 };
export const neverRan: ToolOutcome = { ok: false, ran: false, exitCode: null };

export function openToolUses(): OpenToolUses {
  const open = new Map<string, ToolUse>();
  return {
    started(id, use) {
      if (open.has(id)) return [];
      open.set(id, use);
      return startEvents(use);
    },
    finished(id, outcome) {
      const use = open.get(id);
      open.delete(id);
      return use === undefined ? [] : finishEvents(use, outcome);
    },
    dropped(id) {
      open.delete(id);
    },
  };
}

function startEvents(use: ToolUse): readonly AgentEvent[] {
  switch (use.kind) {
    case 'write':
      return use.paths.map((path) => ({ type: 'writing', path, tool: use.tool }));
    case 'shell':
      return [{ type: 'shellStarted', command: use.command }];
    case 'read':
    case 'next':
    case 'other':
      return [];
    default:
      return use satisfies never;
  }
}

function finishEvents(use: ToolUse, outcome: ToolOutcome): readonly AgentEvent[] {
  if (!outcome.ran) return [];
  switch (use.kind) {
    case 'read':
      return outcome.ok ? use.paths.map((path) => ({ type: 'read', path })) : [];
    case 'write':
      return outcome.ok ? use.paths.map((path) => ({ type: 'write', path, tool: use.tool })) : [];
    case 'shell':
      return [{ type: 'shell', command: use.command, exitCode: outcome.exitCode }];
    case 'next':
      return outcome.ok ? [{ type: 'next', items: use.items }] : [];
    case 'other':
      return [];
    default:
      return use satisfies never;
  }
}

/**
 * A plan as the agents keep it: a list of strings, or of objects that name their text `content`, `text`, `title`,
 * `step`, `subject` or `description` and their state `status`, `completed` or `done`.
 */
export function nextItems(value: unknown): readonly NextItem[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => {
    if (typeof item === 'string') return item === '' ? [] : [{ text: item, done: false }];
    const [entry] = objectsOf([item]);
    const text =
      entry === undefined
        ? ''
        : firstText(entry, ['content', 'text', 'title', 'step', 'subject', 'description']);
    return entry === undefined || text === '' ? [] : [{ text, done: isDone(entry) }];
  });
}

/** The first of the named fields that is a text with something in it, or the empty text. */
export function firstText(source: JsonObject, names: readonly string[]): string {
  for (const name of names) {
    const text = textOf(source[name]);
    if (text !== '') return text;
  }
  return '';
}

function isDone(entry: JsonObject): boolean {
  return (
    entry['done'] === true ||
    entry['completed'] === true ||
    entry['status'] === 'completed' ||
    entry['status'] === 'done'
  );
}
