import { constants } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Processes } from '../../ports.js';

type Resolved = Awaited<ReturnType<Processes['resolve']>>;

/** Absolute path of a program, as the system would find it; or why it cannot be run. */
export async function resolveProgram(
  program: string,
  pathVariable: string | undefined,
  cwd: string,
): Promise<Resolved> {
  if (program === '' || program.includes('\0'))
    return { ok: false, message: 'The program has no name.', fix: 'Name a program in "command".' };
  if (/[\\/]/.test(program)) {
    const file = path.resolve(cwd, program);
    const fault = await examine(file);
    return fault === null ? { ok: true, file } : explain(file, fault);
  }
  let near: { readonly file: string; readonly fault: Fault } | null = null;
  for (const folder of (pathVariable ?? '').split(path.delimiter)) {
    // An empty or relative part would run whatever lies in the repository.
    if (!path.isAbsolute(folder)) continue;
    for (const name of candidates(program)) {
      const file = path.join(folder, name);
      const fault = await examine(file);
      if (fault === null) return { ok: true, file };
      if (fault !== 'missing') near ??= { file, fault };
    }
  }
  if (near !== null) return explain(near.file, near.fault);
  return {
    ok: false,
    message: `${program} was not found on PATH.`,
    fix: `Install ${program}, or name its full path in the executor's "command".`,
  };
}

type Fault = 'missing' | 'folder' | 'notExecutable';

async function examine(file: string): Promise<Fault | null> {
  try {
    const stats = await fs.stat(file);
    if (stats.isDirectory()) return 'folder';
    if (!stats.isFile()) return 'notExecutable';
    await fs.access(file, constants.X_OK);
    return null;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === 'EACCES' || code === 'EPERM' ? 'notExecutable' : 'missing';
  }
}

function explain(file: string, fault: Fault): Resolved {
  switch (fault) {
    case 'missing':
      return { ok: false, message: `${file} does not exist.`, fix: 'Correct the path in "command".' };
    case 'folder':
      return { ok: false, message: `${file} is a folder.`, fix: 'Name the program inside it.' };
    case 'notExecutable':
      return { ok: false, message: `${file} cannot be executed.`, fix: `chmod +x ${file}` };
    default:
      return fault satisfies never;
  }
}

function candidates(program: string): readonly string[] {
  if (process.platform !== 'win32') return [program];
  const extensions = (process.env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';');
  return path.extname(program) === '' ? extensions.map((extension) => program + extension) : [program];
}
