import path from 'node:path';

/** So many bytes a path may have for the calls of the system, with the zero at its end. */
const longest = process.platform === 'win32' ? 32_767 : process.platform === 'darwin' ? 1024 : 4096;

/** Whether we can look at a file of this path. git goes there folder by folder, and comes further down than we do. */
export function isReachable(top: string, file: string): boolean {
  return Buffer.byteLength(path.join(top, file)) < longest;
}

/** A path that only git can have. Its code is that of the system. */
export class PathTooLong extends Error {
  override readonly name = 'PathTooLong';
  readonly code = 'ENAMETOOLONG';

  constructor(readonly path: string) {
    super(`the path ${path} is too long`);
  }
}
