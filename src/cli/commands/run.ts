import { readFile } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import type { InputError, Request } from '../../protocol/request.js';
import type { Supervisor } from '../../supervisor/api.js';
import { CommandEnd, open } from '../environment.js';
import { follow } from '../follow.js';
import { exitCodes } from '../exitCodes.js';
import type { Screen } from '../output/reporter.js';

export interface RunOptions {
  readonly folder: string;
  readonly verbose: boolean;
  readonly json: boolean;
  readonly wait: boolean;
  readonly executor?: string;
  readonly maxConcurrent?: number;
  readonly isolation?: 'worktree' | 'shared';
}

type Launch = Extract<Request, { type: 'launch' }>;

/** `swarm run`: launches a manifest as a new batch and follows it to its end. */
export async function run(manifest: string, options: RunOptions, screen: Screen): Promise<number> {
  const file = resolve(options.folder, manifest);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandEnd(
      exitCodes.input,
      error.code === 'ENOENT' ? `There is no file ${file}.` : `${file} cannot be read: ${error.message}`,
      'Name a YAML, JSON or Markdown file.',
    );
  });
  const kind = kindOf(file);
  if (kind === null)
    throw new CommandEnd(
      exitCodes.input,
      `${basename(file)} is no kind of manifest that is known.`,
      'Use .yaml, .yml, .json or .md.',
    );
  return launchAndFollow(
    await open(options),
    { kind, text, name: basename(file), path: file },
    options,
    screen,
  );
}

export async function launchAndFollow(
  supervisor: Supervisor,
  manifest: Launch['manifest'],
  options: RunOptions,
  screen: Screen,
): Promise<number> {
  const answer = await supervisor.request({
    type: 'launch',
    manifest,
    consent: true,
    ...(options.executor === undefined ? {} : { executor: options.executor }),
    ...(options.maxConcurrent === undefined ? {} : { maxConcurrent: options.maxConcurrent }),
    ...(options.isolation === undefined ? {} : { isolation: options.isolation }),
  });
  if (!answer.ok) {
    await supervisor.close({ stopAgents: false });
    tellErrors(answer.errors, manifest.name, options.json, screen);
    return answer.code;
  }
  const ids = new Set(answer.batch === undefined ? [] : [answer.batch]);
  return follow({ supervisor, ids, json: options.json, wait: options.wait, screen });
}

/** Every mistake with its line and what to write instead, on stderr; with `json` also as one object on stdout. */
export function tellErrors(errors: readonly InputError[], name: string, json: boolean, screen: Screen): void {
  if (json) screen.write(JSON.stringify({ type: 'error', errors }) + '\n');
  const many = errors.length === 1 ? '' : ` ${errors.length} things to correct:`;
  process.stderr.write(`swarm: Nothing was started.${many}\n`);
  for (const error of errors) {
    process.stderr.write(
      `  ${name}${error.line === null ? '' : `:${error.line}`}: ${error.message}\n${error.fix ? `      ${error.fix}\n` : ''}`,
    );
  }
}

function kindOf(file: string): 'yaml' | 'json' | 'markdown' | null {
  switch (extname(file).toLowerCase()) {
    case '.yaml':
    case '.yml':
      return 'yaml';
    case '.json':
      return 'json';
    case '.md':
    case '.markdown':
      return 'markdown';
    default:
      return null;
  }
}
