/**
 * Text of an agent as it may be shown: without terminal codes, control characters and marks that turn the
 * reading direction. Line ends and tabs become spaces, so that a line stays a line. Bounded to `limit` characters.
 */
export function plainLine(text: string, limit = 300): string {
  const clean = plainText(text.slice(0, limit * 8))
    .replace(/\s+/g, ' ')
    .trim();
  const letters = Array.from(clean);
  return letters.length > limit ? letters.slice(0, limit - 1).join('') + '…' : clean;
}

/** The same for texts of many lines: line ends and tabs stay. */
export function plainText(text: string): string {
  return text.replace(terminalCodes, '').replace(controls, '');
}

/** The same characters as escapes of a JSON text, so that none is lost. */
export function escapeControls(json: string): string {
  return json.replace(controls, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// Escape sequences: CSI, OSC up to its end, and two-character ones.
const terminalCodes =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[@-Z\\-_a-z]|\u009b[0-?]*[ -/]*[@-~]/g;

// Control characters but tab and line feed; bidirectional marks, embeddings, overrides and isolates; zero-width ones.
const controls =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
