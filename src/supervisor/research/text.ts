/** At most `most` characters, with a mark where something was cut. */
export function bounded(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** The first line that says something, in one line without control characters. */
export function firstWords(text: string, most: number): string {
  const line = firstLine(text);
  // What an agent prints must not steer a terminal.
  const plain = control.test(line) ? line.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ') : line;
  return bounded(plain.trim(), most);
}

const control = /[\u0000-\u001f\u007f-\u009f]/;

function firstLine(text: string): string {
  for (let start = 0; start <= text.length;) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(start, end);
    if (line.trim() !== '') return line;
    start = end + 1;
  }
  return '';
}

/** A path as seen from the child's folder, with `/`; one outside is absolute. */
export function relativePath(path: string, folder: string): string {
  const root = plainPath(folder, '/');
  const whole = plainPath(path, root);
  const inside = root === '/' ? root : `${root}/`;
  return whole.length > inside.length && whole.startsWith(inside) ? whole.slice(inside.length) : whole;
}

/** Whether a path, as `relativePath` gives it, is of a file in the folder. */
export function isInside(path: string): boolean {
  return !isAbsolute(path);
}

function isAbsolute(path: string): boolean {
  return /^(?:\/|[A-Za-z]:\/)/.test(path);
}

/** The absolute path without `.`, `..` and doubled slashes. */
function plainPath(path: string, from: string): string {
  const clean = path.replaceAll('\\', '/');
  const absolute = isAbsolute(clean) ? clean : `${from}/${clean}`;
  const drive = /^[A-Za-z]:/.exec(absolute)?.[0] ?? '';
  const steps: string[] = [];
  for (const step of absolute.slice(drive.length).split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return `${drive}/${steps.join('/')}`;
}
