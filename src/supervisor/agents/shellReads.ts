/**
 * The files that a shell command only reads and shows, for agents that read by shell.
 * Knows plain `cat`, `head`, `tail`, `nl`, `less` and `sed -n`, joined by `&&`, `;` or a pipe; says nothing where
 * a word needs the shell to be understood.
 */
export function filesReadBy(command: string): readonly string[] {
  const inner = withoutShell(command);
  const parts = inner.split(/&&|\|\||[;|\n]/);
  return parts.flatMap((part) => {
    const words = wordsOf(part.trim());
    return words === null ? [] : fileArguments(words);
  });
}

/** The command that `bash -lc '...'` runs, or the command itself. */
export function withoutShell(command: string): string {
  const match = /^(?:\/(?:usr\/)?bin\/)?(?:ba|z|da)?sh -l?c ([\s\S]+)$/.exec(command.trim());
  if (match?.[1] === undefined) return command;
  const quoted = match[1];
  const single = /^'([\s\S]*)'$/.exec(quoted)?.[1];
  if (single !== undefined) return single.replaceAll(`'"'"'`, "'").replaceAll(`'\\''`, "'");
  const double = /^"([\s\S]*)"$/.exec(quoted)?.[1];
  return double === undefined ? quoted : double.replace(/\\(["\\$`])/g, '$1');
}

function fileArguments(words: readonly string[]): readonly string[] {
  const [program, ...args] = words;
  switch (program) {
    case 'cat':
    case 'nl':
    case 'less':
      return args.filter((word) => !word.startsWith('-'));
    case 'head':
    case 'tail':
      return args.filter((word, at) => !word.startsWith('-') && !/^-[nc]$/.test(args[at - 1] ?? ''));
    case 'sed': {
      const plain = args.filter((word) => !word.startsWith('-'));
      return args[0] === '-n' ? plain.slice(1) : [];
    }
    default:
      return [];
  }
}

/** The words of a simple command, or null where expansion or redirection is at work. */
function wordsOf(part: string): readonly string[] | null {
  const words: string[] = [];
  const word = /\s*(?:'([^']*)'|"([^"$`\\]*)"|([^\s'"$`\\<>*?[\]{}()&#!~]+))/y;
  while (word.lastIndex < part.length) {
    const match = word.exec(part);
    if (match === null) return null;
    words.push(match[1] ?? match[2] ?? match[3] ?? '');
  }
  return words;
}
