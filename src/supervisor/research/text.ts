/** At most `most` characters, with a mark where something was cut. */
export function bounded(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** The first line that says something, in one line without control characters. */
export function firstWords(text: string, most: number): string {
  const line = text.split('\n').find((candidate) => candidate.trim() !== '') ?? '';
  // What an agent prints must not steer a terminal.
  return bounded(line.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim(), most);
}

/** A path as seen from the child's folder, with `/`; one outside stays absolute. */
export function relativePath(path: string, folder: string): string {
  const clean = path.replaceAll('\\', '/');
  const root = folder.replaceAll('\\', '/').replace(/\/+$/, '');
  if (clean.startsWith(`${root}/`)) return clean.slice(root.length + 1);
  return clean.replace(/^\.\//, '');
}
