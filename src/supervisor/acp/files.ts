import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isWithin } from '../effects/within.js';
import { Refusal, invalidParams } from './connection.js';

/** A text file larger than this is no source that an agent reads whole. */
const largest = 16 * 1024 * 1024;

/**
 * Whether a path lies in the child's folder, links followed as far as it exists. Reading may follow the links by
 * which the packages of the repository were brought in.
 */
export async function isInside(folder: string, name: string, use: 'read' | 'write'): Promise<boolean> {
  const file = path.resolve(folder, name);
  const within = path.relative(folder, file);
  if (!isWithin(folder, file)) return false;
  const parts = within.split(path.sep);
  // Its `.git` says whose worktree it is.
  if (use === 'write' && (within === '' || parts[0] === '.git')) return false;
  if (use === 'read' && parts.includes('node_modules')) return true;
  return isWithin(await realpath(folder), await realFile(file));
}

/** The text of a file of the child's folder; `line` counts from 1. */
export async function readText(
  folder: string,
  name: string,
  part: { readonly line: number | null; readonly limit: number | null },
): Promise<string> {
  if (!path.isAbsolute(name)) throw new Refusal(invalidParams, `${name} is not an absolute path`);
  if (!(await isInside(folder, name, 'read')))
    throw new Refusal(invalidParams, `${name} is outside of ${folder}`);
  const bytes = await readFile(name).catch((error: unknown) => {
    throw new Refusal(-32002, error instanceof Error ? error.message : String(error));
  });
  if (bytes.length > largest) throw new Refusal(invalidParams, `${name} is too large to be read as text`);
  const text = bytes.toString('utf8');
  if (part.line === null && part.limit === null) return text;
  const from = Math.max(0, (part.line ?? 1) - 1);
  return text
    .split(/(?<=\n)/)
    .slice(from, part.limit === null ? undefined : from + part.limit)
    .join('');
}

/** Writes a file of the child's folder; throws a Refusal for any other. */
export async function writeText(folder: string, name: string, text: string): Promise<void> {
  if (!path.isAbsolute(name)) throw new Refusal(invalidParams, `${name} is not an absolute path`);
  if (!(await isInside(folder, name, 'write')))
    throw new Refusal(invalidParams, `${name} is outside of ${folder}: only files in it may be written`);
  await mkdir(path.dirname(name), { recursive: true });
  await writeFile(name, text);
}

/** The file as it really lies, by the deepest folder above it that exists. */
async function realFile(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch {
    const above = path.dirname(file);
    return above === file ? file : path.join(await realFile(above), path.basename(file));
  }
}
