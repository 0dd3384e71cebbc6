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
const MAX_LINES = 240;

/** Takes a text apart. Tolerates cut, wrapped and Python-like objects. Never throws. */
export function partsOf(text: string): Parts {
  const trimmed = text.trim();
  if (!trimmed.includes('{') && !trimmed.startsWith('[') && !trimmed.startsWith('"'))
    return { documents: [], rest: text };
  const whole = /^[[{"]/.test(trimmed) ? parse(trimmed) : undefined;
  if (whole !== undefined && typeof whole === 'object' && whole !== null) {
    return { documents: [document(whole, true)], rest: '' };
  }
  if (typeof whole === 'string') return { documents: [], rest: whole };
  const documents: Document[] = [];
  const rest: string[] = [];
  const lines = trimmed.split('\n');
  lines.forEach((line, number) => {
    const body = line.includes('{') ? line.trim().replace(/^(?:data|event data):\s{0,8}/, '') : '';
    // Of a long stream the beginning and the end are read.
    const near = number < MAX_LINES / 4 || lines.length - number < MAX_LINES;
    const value = near && body.startsWith('{') && body.endsWith('}') ? parse(body) : undefined;
    if (typeof value === 'object' && value !== null) documents.push(document(value, true));
    else if (near || !body.startsWith('{')) rest.push(line);
  });
  if (documents.length > 0) return { documents, rest: rest.join('\n') };
  return embedded(trimmed);
}

/** A document whose fields are gathered when somebody asks for them. */
export function document(value: unknown, alone: boolean): Document {
  let fields: readonly Field[] | null = null;
  return {
    value,
    alone,
    get fields() {
      fields ??= fieldsOf(value);
      return fields;
    },
  };
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
      const seconds = (item.value as Readonly<Record<string, unknown>>)['seconds'];
      // A protobuf length: `"retryDelay": { "seconds": 30 }`
      if (/delay|after|wait/i.test(key) && (typeof seconds === 'number' || typeof seconds === 'string')) {
        fields.push({ key, value: seconds, open, header });
        continue;
      }
      const below = header || /^(?:response)?_?-?headers$/i.test(key);
      const entries = Array.isArray(item.value)
        ? item.value.slice(0, 200).map((entry: unknown): [string, unknown] => [key, entry])
        : Object.entries(item.value).slice(0, 400);
      for (const [name, entry] of entries.reverse()) {
        // `"reset": { "at": … }`
        const whole = PARTIAL.test(name) && WHEN.test(key) ? `${key}_${name}` : name;
        stack.push({ value: entry, key: whole, depth: depth + 1, open, header: below });
      }
    }
  }
  return fields;
}

const PARTIAL = /^(?:at|in|on|time|timestamp|date|epoch|seconds|ms|utc|iso|after)$/i;
const WHEN = /^(?:next_?)?(?:resets?|retry|renews?|wait|cool_?down|available)$/i;

/** JSON, or undefined. */
export function parse(text: string): unknown {
  // What was cut off is not worth the attempt.
  if (/[[{]/.test(text[0] ?? '') && !/[\]}]/.test(text[text.length - 1] ?? '')) return undefined;
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
  const start = text.search(/[[{]\s{0,40}(?:["']|\{)/);
  if (start < 0) return { documents: [], rest: text };
  const end = closing(text, start);
  const body = text.slice(start, end);
  const rest = `${text.slice(0, start)} ${text.slice(end)}`;
  const value = parse(body) ?? (body.length <= MOST_BROKEN ? parse(oneLine(body)) : undefined);
  if (typeof value === 'object' && value !== null) return { documents: [document(value, false)], rest };
  const broken =
    body.length <= MOST_BROKEN ? body : body.slice(0, MOST_BROKEN / 2) + body.slice(-MOST_BROKEN / 2);
  const fields = pairsOf(oneLine(broken));
  return fields.length === 0
    ? { documents: [], rest: text }
    : { documents: [{ value: null, fields, alone: false }], rest };
}

const MOST_BROKEN = 8192;

function oneLine(text: string): string {
  return text.includes('\n')
    ? text
        .split('\n')
        .map((line) => line.trim())
        .join(' ')
    : text;
}

function closing(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (quoted) {
      if (code === 92) at++;
      else if (code === 34) quoted = false;
    } else if (code === 34) quoted = true;
    else if (code === 123 || code === 91) depth++;
    else if ((code === 125 || code === 93) && --depth === 0) return at + 1;
  }
  return text.length;
}

const PAIR =
  /["']([A-Za-z_@][\w.@-]{0,60})["']\s{0,4}:\s{0,4}(?:"((?:[^"\\]|\\.){0,3000})"|'((?:[^'\\]|\\.){0,3000})'|(-?\d{1,16}(?:\.\d{1,9})?)|(true|false|null))/g;

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
