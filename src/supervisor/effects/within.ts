import path from 'node:path';

/** Whether a path is the folder itself or lies below it, by its words alone: no link is followed. */
export function isWithin(folder: string, file: string): boolean {
  const way = path.relative(folder, file);
  return way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}
