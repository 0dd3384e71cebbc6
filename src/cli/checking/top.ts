import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';

/** The top of the user's tree with one call of git; why there is none is found out only then. */
export async function findTop(
  folder: string,
): Promise<
  | { readonly ok: true; readonly topLevel: string }
  | { readonly ok: false; readonly message: string; readonly fix: string }
> {
  const told = await new Promise<string | null>((resolve) => {
    execFile(
      'git',
      ['rev-parse', '--path-format=absolute', '--show-toplevel'],
      { cwd: folder, env: withoutGit(process.env) },
      (error, stdout) => resolve(error === null ? stdout.replace(/\r?\n$/, '') : null),
    );
  });
  if (told !== null && told !== '') return { ok: true, topLevel: await realpath(told) };
  const { createGit } = await import('../../supervisor/node/git/index.js');
  const repository = await createGit().inspect(folder);
  return repository.ok ? { ok: true, topLevel: repository.topLevel } : repository;
}

function withoutGit(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith('GIT_')));
}
