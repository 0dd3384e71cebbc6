import { escapeControls, plainText } from '../../protocol/plainText.js';

/** A table of ours: only the colours that it is drawn with pass. */
export function cleanText(text: string): string {
  const parts = text.split(/(\u001b\[\d{1,2}m)/);
  return parts.map((part, i) => (i % 2 === 0 ? plainText(part) : part)).join('');
}

/** One value as JSON: the same codes are written as escapes, so that nothing is lost and nothing steers. */
export function cleanJson(value: unknown, indent?: number): string {
  return escapeControls(JSON.stringify(value, null, indent));
}

/** What goes wrong, or is worth a word beside what is printed; for people, on stderr. */
export function complain(text: string): void {
  tellAside(`swarm: ${text}\n`);
}

export function tellAside(text: string): void {
  process.stderr.write(plainText(text));
}
