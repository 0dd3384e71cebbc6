/** One named value of a structured text, wherever it stood. */
export interface Field {
  readonly key: string;
  readonly value: string | number | boolean | null;
  /** The object it stands in says that its limit is not used up (`allowed`, 40 % used). */
  readonly open: boolean;
  /** It stands below `headers`. */
  readonly header: boolean;
}

/** A structured part of a text. */
export interface Document {
  readonly value: unknown;
  readonly fields: readonly Field[];
  /** A line of its own: an event. Otherwise it stands inside a message. */
  readonly alone: boolean;
}

/** A text taken apart: its documents, and the words around them. */
export interface Parts {
  readonly documents: readonly Document[];
  readonly rest: string;
}

const MAX_FIELDS = 1500;
const MAX_DEPTH = 14;
const MAX_LINES = 400;

/** Takes a text apart. Tolerates cut, wrapped and Python-like objects. Never throws. */
export function partsOf(text: string): Parts {
  const trimmed = text.trim();
  if (!trimmed.includes('{') && !trimmed.startsWith('[') && !trimmed.startsWith('"'))
    return { documents: [], rest: text };
  const whole = parse(trimmed);
  if (whole !== undefined && typeof whole === 'object' && whole !== null) {
    return { documents: [{ value: whole, fields: fieldsOf(whole), alone: true }], rest: '' };
  }
  if (typeof whole === 'string') return { documents: [], rest: whole };
  const documents: Document[] = [];
  const rest: string[] = [];
  let lines = 0;
  for (const line of trimmed.split('\n')) {
    const body = line.trim().replace(/^(?:data|event data):\s*/, '');
    const value = body.startsWith('{') && body.endsWith('}') && lines++ < MAX_LINES ? parse(body) : undefined;
    if (typeof value === 'object' && value !== null)
      documents.push({ value, fields: fieldsOf(value), alone: true });
    else rest.push(line);
  }
  if (documents.length > 0) return { documents, rest: rest.join('\n') };
  return embedded(trimmed);
}

/** The named values of a parsed text, also of JSON inside of its strings. */
export function fieldsOf(value: unknown): readonly Field[] {
  const fields: Field[] = [];
  const stack: { value: unknown; key: string; depth: number; open: boolean; header: boolean }[] = [
    { value, key: '', depth: 0, open: false, header: false },
  ];
  for (let item = stack.pop(); item && fields.length < MAX_FIELDS; item = stack.pop()) {
    const { key, depth, header } = item;
    if (item.value === null || typeof item.value === 'number' || typeof item.value === 'boolean') {
      fields.push({ key, value: item.value, open: item.open, header });
    } else if (typeof item.value === 'string') {
      fields.push({ key, value: item.value, open: item.open, header });
      const inner = /^\s*[[{]/.test(item.value) && depth < MAX_DEPTH ? parse(item.value.trim()) : undefined;
      if (inner !== undefined) stack.push({ value: inner, key, depth: depth + 1, open: item.open, header });
    } else if (typeof item.value === 'object' && depth < MAX_DEPTH) {
      const open = item.open || isOpen(item.value);
      const below = header || /^(?:response)?_?-?headers$/i.test(key);
      const entries = Array.isArray(item.value)
        ? item.value.slice(0, 200).map((entry: unknown): [string, unknown] => [key, entry])
        : Object.entries(item.value).slice(0, 400);
      for (const [name, entry] of entries.reverse()) {
        stack.push({ value: entry, key: name, depth: depth + 1, open, header: below });
      }
    }
  }
  return fields;
}

/** JSON, or undefined. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isOpen(value: object): boolean {
  const row = value as Readonly<Record<string, unknown>>;
  const used = row['used_percent'] ?? row['usedPercent'] ?? row['used_percentage'];
  if (typeof used === 'number') return used < 100;
  return (
    row['resetsAt'] !== undefined && typeof row['status'] === 'string' && row['status'].startsWith('allowed')
  );
}

function embedded(text: string): Parts {
  const start = text.search(/[[{]\s*(?:["']|\{)/);
  if (start < 0) return { documents: [], rest: text };
  const end = closing(text, start);
  const body = text.slice(start, end);
  const joined = body.replace(/\s*\n\s*/g, ' ');
  const value = parse(body) ?? parse(joined) ?? parse(fromPython(joined));
  const fields = typeof value === 'object' && value !== null ? fieldsOf(value) : pairsOf(joined);
  if (fields.length === 0) return { documents: [], rest: text };
  return {
    documents: [{ value: value ?? null, fields, alone: false }],
    rest: `${text.slice(0, start)} ${text.slice(end)}`,
  };
}

function closing(text: string, start: number): number {
  let depth = 0;
  let quote = '';
  for (let at = start; at < text.length; at++) {
    const character = text[at] ?? '';
    if (quote !== '') {
      if (character === '\\') at++;
      else if (character === quote) quote = '';
    } else if (character === '"') quote = character;
    else if (character === '{' || character === '[') depth++;
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1;
  }
  return text.length;
}

function fromPython(text: string): string {
  return text
    .replace(/\bNone\b/g, 'null')
    .replace(/\bTrue\b/g, 'true')
    .replace(/\bFalse\b/g, 'false')
    .replace(/'((?:[^'\\]|\\.){0,4000}?)'(?=\s*[:,}\]])/g, (_all, inner: string) => JSON.stringify(inner));
}

const PAIR =
  /["']?([A-Za-z_@][\w.@-]{0,60})["']\s{0,4}:\s{0,4}(?:"((?:[^"\\]|\\.){0,3000})"|'((?:[^'\\]|\\.){0,3000})'|(-?\d{1,16}(?:\.\d{1,9})?)|(true|false|null))/g;

/** Key and value pairs of an object that no parser takes: cut in the middle, or quoted in another language's way. */
function pairsOf(text: string): readonly Field[] {
  const fields: Field[] = [];
  for (const match of text.matchAll(PAIR)) {
    const [, key = '', double, single, number, word] = match;
    const value =
      double ?? single ?? (number !== undefined ? Number(number) : word === 'null' ? null : word === 'true');
    fields.push({
      key,
      value: typeof value === 'string' ? value.replace(/\\n/g, '\n').replace(/\\"/g, '"') : value,
      open: false,
      header: false,
    });
    if (fields.length >= MAX_FIELDS) break;
  }
  return fields;
}
