import path from 'node:path';

/** What a command names, as far as its words tell: every path, seen from where the command has gone by then. */
export interface Named {
  readonly paths: readonly string[];
  /** Where its shell stands at the end. */
  readonly folder: string;
}

/** The absolute paths that a command's words may be, if it is run in `folder`. */
export function pathsNamed(command: string, folder: string): Named {
  const paths = new Set<string>();
  let at = folder;
  for (const simple of command.split(/&&|\|\||[;|&\n()]/)) {
    const words = simple.split(/[\s'"`<>=]+/).filter((word) => word !== '');
    const [program, target] = words;
    if (program === 'cd' || program === 'pushd') {
      at = path.resolve(at, homeless(target ?? ''));
      paths.add(at);
      continue;
    }
    for (const word of words)
      // In its own folder a plain word says nothing of other places.
      if (at !== folder || word.includes('/')) paths.add(path.resolve(at, homeless(word)));
    // What names nothing may still write where it stands.
    if (at !== folder) paths.add(at);
  }
  return { paths: [...paths], folder: at };
}

/** Where a variable or a home folder leads is not known. */
function homeless(word: string): string {
  return /^[~$-]/.test(word) ? '' : word;
}
