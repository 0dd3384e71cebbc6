/** The folders that globs can match in: what stands before the first wildcard. Null where that is the whole tree. */
export function coneDirectories(globs: readonly string[]): readonly string[] | null {
  const folders = new Set<string>();
  for (const glob of globs) {
    const parts = glob.replace(/^\.?\//, '').split('/');
    const wild = parts.findIndex((part) => /[*?[\]{}!]/.test(part));
    if (wild < 0) folders.add(parts.slice(0, -1).join('/'));
    else if (wild === 0 && (parts.length > 1 || parts[0] === '**')) return null;
    else folders.add(parts.slice(0, wild).join('/'));
  }
  // Files at the top are always there.
  folders.delete('');
  const all = [...folders].sort();
  return all.filter((folder) => !all.some((other) => other !== folder && folder.startsWith(`${other}/`)));
}

/** A sparse-checkout file in cone form: files at the top and beside each parent, and all below each folder. */
export function conePatterns(folders: readonly string[]): string {
  const parents = new Set<string>();
  for (const folder of folders)
    for (let end = folder.indexOf('/'); end > 0; end = folder.indexOf('/', end + 1))
      parents.add(folder.slice(0, end));
  const lines = ['/*', '!/*/'];
  for (const parent of [...parents].sort()) lines.push(`/${escaped(parent)}/`, `!/${escaped(parent)}/*/`);
  for (const folder of folders) lines.push(`/${escaped(folder)}/`);
  return `${lines.join('\n')}\n`;
}

function escaped(folder: string): string {
  return folder.replace(/[\\*?[]/g, '\\$&');
}
