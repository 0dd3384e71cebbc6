import type { AgentEvent } from './agent.js';

/** A parsed JSON object of an agent's stream; nothing is known about its fields. */
export type JsonObject = Readonly<Record<string, unknown>>;

const ansi = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/** The text without terminal control sequences, byte order mark and surrounding white space. */
export function plainText(text: string): string {
  const bare = text.includes('\u001b') ? text.replace(ansi, '') : text;
  // A byte order mark is white space, too.
  return bare.trim();
}

/** The JSON object that a line is, or null for anything else: prose, a number, a line that was cut. */
export function jsonLine(text: string): JsonObject | null {
  const plain = plainText(text);
  if (!plain.startsWith('{')) return null;
  try {
    return objectOf(JSON.parse(plain));
  } catch {
    return null;
  }
}

/** The value as an object, or null. */
export function objectOf(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** The objects of a list; everything else in it is left out. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  if (!Array.isArray(value)) return [];
  return value.map(objectOf).filter((item) => item !== null);
}

/** The value as a text, or the empty text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value as a finite number, or 0. */
export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** Far above what any run spends: a larger number is a slip of the program that printed it. */
const mostTokens = 1e12;

/** The value as a count of tokens: whole, never negative; 0 where it can be none. */
export function tokensOf(value: unknown): number {
  const number = Math.floor(numberOf(value));
  return number > 0 && number <= mostTokens ? number : 0;
}

/** The value as an exit code or an HTTP status, or null where it is none. */
export function exitCodeOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}

/** A text field near the start of a JSON line that was cut, or null. */
export function headField(text: string, name: string): string | null {
  if (!text.startsWith('{')) return null;
  return new RegExp(`"${name}":"([^"\\\\]+)"`).exec(text.slice(0, 2_000))?.[1] ?? null;
}

/** A line that an adapter does not know; a long one is shortened. */
export function unrecognized(text: string): AgentEvent {
  return { type: 'unrecognized', text: text.slice(0, 4_000) };
}
