/** A title that is a path is cut in the middle instead of at the end. */
export function isPath(text: string): boolean {
  return /^[\w.@[\]()-]+(\/[\w.@[\]()-]+)+$/.test(text);
}

/**
 * A path that fits: whole folders go first, from the middle; then letters from the middle of the file name.
 * Both ends stay, since they say most.
 */
export function shortenPath(path: string, fits: (text: string) => boolean): string {
  if (fits(path)) return path;
  const folders = path.split('/');
  const file = folders.pop() ?? path;
  for (let keep = folders.length - 1; keep >= 0; keep--) {
    const front = Math.ceil(keep / 2);
    const text = [
      ...folders.slice(0, front),
      '…',
      ...folders.slice(folders.length - (keep - front)),
      file,
    ].join('/');
    if (fits(text)) return text;
  }
  if (fits(file)) return file;
  for (let keep = file.length - 2; keep > 3; keep--) {
    const text = file.slice(0, Math.ceil(keep / 2)) + '…' + file.slice(file.length - Math.floor(keep / 2));
    if (fits(text)) return text;
  }
  return file;
}
