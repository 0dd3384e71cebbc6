import { LineCounter, isMap, isPair, isScalar, isSeq, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import type { InputError } from '../../protocol/request.js';

export type ManifestKind = 'yaml' | 'json' | 'markdown' | 'tasks';

/** The input as a plain value that remembers where each part was written. */
export interface Source {
  readonly value: unknown;
  readonly errors: readonly InputError[];
  /** 1-based line of the value at a path, or of the nearest part around it. `key`: of the key itself. */
  lineOf(path: readonly (string | number)[], key?: string): number | null;
}

/** Reads any kind of input; what is not readable at all is an error with its line. */
export function readSource(kind: ManifestKind, given: string): Source {
  const text = given.replace(/^\uFEFF/, '');
  // No text has such a character; of another kind of file, and of UTF-16, all the rest would be told as mistakes.
  if (text.includes('\0'))
    return unreadable({
      line: null,
      message: 'This is no text in UTF-8: there are zero bytes in it',
      fix: 'Name a YAML, JSON or Markdown file; if it is one, save it as UTF-8.',
    });
  if (kind !== 'tasks' && text.trim() === '')
    return unreadable({ line: 1, message: 'The file is empty', fix: beginnings[kind] });
  switch (kind) {
    case 'yaml':
    case 'json':
      return readYaml(text, kind, 0);
    case 'markdown':
      return readMarkdown(text);
    case 'tasks':
      return readTasks(text);
    default:
      return kind satisfies never;
  }
}

const beginnings: Readonly<Record<Exclude<ManifestKind, 'tasks'>, string>> = {
  yaml: 'Begin with "version: 1" and a list "tasks:" with "- prompt: …".',
  json: 'Write { "version": 1, "tasks": [{ "prompt": "…" }] }.',
  markdown: 'Write an open checkbox for each task: "- [ ] …".',
};

function unreadable(error: InputError): Source {
  return { value: null, errors: [error], lineOf: () => null };
}

function readYaml(text: string, kind: 'yaml' | 'json', lineOffset: number): Source {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const lineAt = (offset: number) => lines.linePos(offset).line + lineOffset;
  const errors: InputError[] = document.errors.map((error) => ({
    line: lineAt(error.pos[0]),
    message: firstLine(error.message),
    fix:
      error.code === 'DUPLICATE_KEY'
        ? 'Keep one of the two keys.'
        : `Correct the ${kind === 'json' ? 'JSON' : 'YAML'} here.`,
  }));
  if (errors.length === 0 && kind === 'json') errors.push(...strictJson(text, lineAt));
  return {
    value: document.errors.length > 0 ? null : toValue(document, errors),
    errors,
    lineOf: (path, key) => {
      const offset = offsetOf(document, path, key);
      return offset === null ? null : lineAt(offset);
    },
  };
}

/** YAML reads more than JSON allows, such as a comment or a comma at the end. */
function strictJson(text: string, lineAt: (offset: number) => number): readonly InputError[] {
  try {
    JSON.parse(text);
    return [];
  } catch (error) {
    const message = error instanceof Error ? error.message : 'not JSON';
    const offset = offsetInJson(text, message);
    return [
      {
        line: offset === null ? null : lineAt(offset),
        message: `Not JSON: ${message.replace(/, (\.\.\.)?".*$/s, '')}`,
        fix: 'Correct the JSON here, or name the file .yaml.',
      },
    ];
  }
}

/** Where the JSON breaks off, as far as the message tells: a position, or the text around it. */
function offsetInJson(text: string, message: string): number | null {
  const position = /position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return Number(position);
  if (message.includes('end of JSON')) return Math.max(0, text.trimEnd().length - 1);
  const around = /, (\.\.\.)?"(.*)"(?:\.\.\.)? is not valid JSON$/s.exec(message);
  const found = around?.[2] === undefined ? -1 : text.indexOf(around[2]);
  // Ten characters before the place are shown, where there are ten.
  return found < 0 ? null : found + (around?.[1] === undefined ? 0 : 10);
}

function toValue(document: Document, errors: InputError[]): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  } catch (error) {
    errors.push({
      line: 1,
      message: error instanceof Error ? firstLine(error.message) : 'Unreadable aliases',
      fix: 'Write the repeated parts out.',
    });
    return null;
  }
}

/** Offset of the node at `path`; where the path leads nowhere, of the last part that is there. */
function offsetOf(document: Document, path: readonly (string | number)[], key?: string): number | null {
  let node: unknown = document.contents;
  let offset = startOf(node);
  for (const step of path) {
    const next: { value: unknown; offset: number | null } | null = childAt(node, step);
    if (next === null) return offset;
    offset = next.offset ?? offset;
    node = next.value;
  }
  if (key === undefined) return offset;
  return childAt(node, key)?.offset ?? offset;
}

function childAt(node: unknown, step: string | number): { value: unknown; offset: number | null } | null {
  if (isSeq(node) && typeof step === 'number') {
    const item: unknown = node.items[step];
    return item === undefined ? null : { value: item, offset: startOf(item) };
  }
  if (!isMap(node)) return null;
  const pair = node.items.find(
    (item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(step),
  );
  return pair === undefined ? null : { value: pair.value, offset: startOf(pair.key) };
}

function startOf(node: unknown): number | null {
  if (typeof node !== 'object' || node === null || !('range' in node)) return null;
  const range: unknown = node.range;
  return Array.isArray(range) && typeof range[0] === 'number' ? range[0] : null;
}

/**
 * A Markdown list: each open checkbox is a task, with the indented lines below it. The first heading is the
 * name; a front matter may hold the other keys of a manifest.
 */
function readMarkdown(text: string): Source {
  const rows = text.split(/\r?\n/);
  const close = rows[0]?.trim() === '---' ? rows.findIndex((row, i) => i > 0 && row.trim() === '---') : -1;
  const front = close > 0 ? readYaml(rows.slice(1, close).join('\n'), 'yaml', 1) : null;
  const tasks: { prompt: string; line: number }[] = [];
  let heading: string | null = null;
  let open: { lines: string[]; line: number; indent: number } | null = null;
  const finish = () => {
    if (open !== null) tasks.push({ prompt: open.lines.join('\n').trim(), line: open.line });
    open = null;
  };
  for (let i = close > 0 ? close + 1 : 0; i < rows.length; i++) {
    const row = rows[i] ?? '';
    const box = /^(\s*)[-*+] \[( |x|X)\]\s+(.*)$/.exec(row);
    if (box !== null) {
      finish();
      if (box[2] === ' ') open = { lines: [box[3] ?? ''], line: i + 1, indent: (box[1] ?? '').length + 2 };
      continue;
    }
    const found: { lines: string[]; indent: number } | null = open;
    if (found !== null && (row.trim() === '' || /^\s/.test(row))) {
      found.lines.push(row.slice(Math.min(found.indent, row.length - row.trimStart().length)));
      continue;
    }
    finish();
    heading ??= /^#\s+(.+?)\s*#*$/.exec(row)?.[1] ?? null;
  }
  finish();
  const frontValue =
    typeof front?.value === 'object' && front.value !== null && !Array.isArray(front.value)
      ? (front.value as Record<string, unknown>)
      : {};
  return {
    value: {
      version: 1,
      ...(heading === null ? {} : { name: heading }),
      ...frontValue,
      tasks: tasks.map((task) => ({ prompt: task.prompt })),
    },
    errors: front?.errors ?? [],
    lineOf: (path, key) =>
      path[0] === 'tasks' && typeof path[1] === 'number'
        ? (tasks[path[1]]?.line ?? 1)
        : (front?.lineOf(path, key) ?? 1),
  };
}

/** Typed tasks, one a line. */
function readTasks(text: string): Source {
  const tasks = text
    .split(/\r?\n/)
    .map((row, i) => ({ prompt: row.trim(), line: i + 1 }))
    .filter((task) => task.prompt !== '');
  return {
    value: { version: 1, tasks: tasks.map((task) => ({ prompt: task.prompt })) },
    errors: [],
    lineOf: (path) =>
      path[0] === 'tasks' && typeof path[1] === 'number' ? (tasks[path[1]]?.line ?? null) : 1,
  };
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? text;
}
