import type { FailureClass } from '../../../protocol/verdict.js';

/** What an exit code alone means, where nothing else was said. */
export interface ExitMeaning {
  readonly class: FailureClass;
  readonly rule: string;
  /** It is stronger than words that only may be about the end. */
  readonly certain: boolean;
}

const CODES: Readonly<Record<number, ExitMeaning>> = {
  75: { class: 'overloaded', rule: 'exit-temporary', certain: false },
  124: { class: 'timeout', rule: 'exit-timeout', certain: true },
  126: { class: 'invalid_request', rule: 'exit-not-executable', certain: false },
  127: { class: 'invalid_request', rule: 'exit-not-found', certain: false },
  129: { class: 'cancelled', rule: 'exit-hangup', certain: true },
  130: { class: 'cancelled', rule: 'exit-interrupt', certain: true },
  143: { class: 'cancelled', rule: 'exit-terminated', certain: true },
  3221225786: { class: 'cancelled', rule: 'exit-ctrl-c', certain: true },
};
const CRASHES = new Set([
  131,
  132,
  133,
  134,
  135,
  136,
  137,
  138,
  139,
  140,
  152,
  153,
  159,
  255 + 1,
  3221225477,
  3221225725,
  3221226505,
  3221225501,
  2147483651,
]);

/** Gemini leaves with the HTTP status cut to a byte, and with codes of its own. */
const GEMINI: Readonly<Record<number, number>> = {
  144: 400,
  145: 401,
  147: 403,
  148: 404,
  173: 429,
  244: 500,
  246: 502,
  247: 503,
  248: 504,
};
const GEMINI_OWN: Readonly<Record<number, ExitMeaning>> = {
  41: { class: 'auth_expired', rule: 'exit-gemini-auth', certain: false },
  42: { class: 'invalid_request', rule: 'exit-gemini-input', certain: false },
  44: { class: 'invalid_request', rule: 'exit-gemini-sandbox', certain: false },
  52: { class: 'invalid_request', rule: 'exit-gemini-config', certain: false },
  53: { class: 'unknown', rule: 'exit-gemini-turns', certain: false },
};

/** The meaning of an exit code; null for 0 and for codes that say no more than "failed". */
export function exitMeaning(code: number, agent: string): ExitMeaning | null {
  if (code === 0) return null;
  if (/gemini/.test(agent) && GEMINI_OWN[code]) return GEMINI_OWN[code];
  // Node and Python report death by a signal as a negative number.
  const real = code < 0 && code > -65 ? 128 - code : code;
  const known = CODES[real];
  if (known) return known;
  return CRASHES.has(real) ? { class: 'process_crash', rule: 'exit-signal', certain: true } : null;
}

/** The HTTP status that an agent puts into its exit code; null if it does not. */
export function exitStatus(code: number, agent: string): number | null {
  return /gemini|qwen/.test(agent) ? (GEMINI[code] ?? null) : null;
}
