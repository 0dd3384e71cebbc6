import { readFile, stat } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import type { InputError, Request } from '../../protocol/request.js';
import type { Supervisor } from '../../supervisor/api.js';
import { plainLine } from '../../protocol/plainText.js';
import { boldOf, isOfRepository } from '../../supervisor/launch.js';
import { programsNamedBy } from '../../supervisor/manifest/manifest.js';
import { createGit } from '../../supervisor/node/git/index.js';
import { agreed } from '../agreed.js';
import { CommandEnd, open, readUserSettings } from '../environment.js';
import { follow } from '../follow.js';
import { exitCodes } from '../exitCodes.js';
import { cleanJson, complain, tellAside } from '../output/clean.js';
import type { Screen } from '../output/reporter.js';
import { megabytes } from '../output/size.js';

export interface RunOptions {
  readonly folder: string;
  readonly verbose: boolean;
  readonly json: boolean;
  readonly wait: boolean;
  readonly executor?: string;
  readonly maxConcurrent?: number;
  readonly isolation?: 'worktree' | 'shared';
}

/** As much as the owner of a folder takes. */
const largestManifest = 64_000_000;

type Launch = Extract<Request, { type: 'launch' }>;

/** `swarm run`: launches a manifest as a new batch and follows it to its end. */
export async function run(manifest: string, options: RunOptions, screen: Screen): Promise<number> {
  const file = resolve(options.folder, manifest);
  const text = await readManifest(file);
  const kind = kindOf(file);
  if (kind === null)
    throw new CommandEnd(
      exitCodes.input,
      `${basename(file)} is no kind of manifest that is known.`,
      'Use .yaml, .yml, .json or .md.',
    );
  const launch = { kind, text, name: basename(file), path: file };
  await tellBoldness(launch, options, screen);
  return launchAndFollow(await open(options), launch, options, screen);
}

/**
 * All permissions are a choice that a person makes knowing the risk: where a manifest of their own gives them, the
 * risk is said before anything starts, and on a terminal asked about. One of the repository may not give them at all.
 */
async function tellBoldness(
  manifest: Launch['manifest'] & { readonly path: string },
  options: RunOptions,
  screen: Screen,
): Promise<void> {
  // Only to save a long manifest a second reading; whatever may spell the word is read.
  if (!/full|\\/.test(manifest.text)) return;
  const { executor, maxConcurrent, isolation } = options;
  const settings = await readUserSettings();
  const programs = programsNamedBy({ ...manifest, executor, maxConcurrent, isolation }, settings);
  const bold = boldOf(programs, settings.executors);
  if (bold.length === 0) return;
  const git = createGit();
  const repository = await git.inspect(options.folder);
  if (!repository.ok || (await isOfRepository(git, repository, manifest.path))) return;
  for (const { name, command } of bold)
    complain(
      `${manifest.name} gives executor "${name}" all permissions: ${plainLine(command.join(' '), 500)} may read, change and send whatever you may, and is not asked.`,
    );
  if (!screen.isTTY || options.json) return;
  if (!(await agreed('Start it? [y/N] '))) throw new CommandEnd(exitCodes.input, 'Nothing was started.');
}

/** The text of the file, or what it is in place of one. */
async function readManifest(file: string): Promise<string> {
  const refuse = (message: string, fix: string): never => {
    throw new CommandEnd(exitCodes.input, message, fix);
  };
  try {
    const what = await stat(file);
    if (what.isDirectory())
      refuse(`${file} is a folder, not a manifest.`, 'Name the YAML, JSON or Markdown file in it.');
    if (!what.isFile()) refuse(`${file} is no plain file.`, 'Name a YAML, JSON or Markdown file.');
    if (what.size > largestManifest)
      refuse(
        `${file} has ${megabytes(what.size)}, and a manifest at most ${megabytes(largestManifest)}.`,
        'Put the long parts into files of the repository and name them in the prompts.',
      );
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof CommandEnd) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      return refuse(`There is no file ${file}.`, 'Name a YAML, JSON or Markdown file.');
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      return refuse(
        `${file} is no text in UTF-8.`,
        'Name a YAML, JSON or Markdown file; if it is one, save it as UTF-8.',
      );
    if (code === 'EACCES' || code === 'EPERM')
      return refuse(
        `${file} may not be read by you.`,
        `Allow it, such as with chmod u+r, then run it again.`,
      );
    return refuse(`${file} cannot be read: ${message}`, 'Name a YAML, JSON or Markdown file.');
  }
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
  for (const note of answer.notes ?? []) complain(plainLine(note, 1000));
  const ids = new Set(answer.batch === undefined ? [] : [answer.batch]);
  return follow({ supervisor, ids, json: options.json, wait: options.wait, screen });
}

/** A generated manifest can have one mistake ten thousand times; nobody reads more than these at a time. */
const mostTold = 200;

/** Every mistake with its line and what to write instead, on stderr; with `json` also as one object on stdout. */
export function tellErrors(errors: readonly InputError[], name: string, json: boolean, screen: Screen): void {
  if (json) screen.write(cleanJson({ type: 'error', errors }) + '\n');
  const many = errors.length === 1 ? '' : ` ${errors.length} things to correct:`;
  complain(`Nothing was started.${many}`);
  for (const error of errors.slice(0, mostTold)) {
    tellAside(
      `  ${name}${error.line === null ? '' : `:${error.line}`}: ${error.message}\n${error.fix ? `      ${error.fix}\n` : ''}`,
    );
  }
  if (errors.length > mostTold)
    tellAside(`  … and ${errors.length - mostTold} more; --json tells all of them\n`);
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
